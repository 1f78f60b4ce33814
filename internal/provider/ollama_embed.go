package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Ollama's own API for embeddings, and the older one for a single embedding.
var _ = Register(&Codec{
	API: "ollama.embed",
	Match: either(posts(has("input"), "/api/embed"), // the older path is OpenAI's if the body has that API's member
		both(posts(has("prompt"), "/api/embeddings"), not(posts(has("input"), "/api/embeddings")))),
	body:    decodeOllamaEmbed,
	outside: sayOperation("embed"),
	answer:  ollamaEmbeddings,
})

func decodeOllamaEmbed(body jsontext.Value) *modelio.Request {
	form := requestForm{prompt: "input"}
	if !body.Member("input").Present() {
		form.prompt = "prompt"
	}
	return form.decode(body)
}

// ollamaEmbeddings decodes a list of vectors, or one.
func ollamaEmbeddings(body jsontext.Value) (*modelio.Response, error) {
	var all []modelio.Candidate
	switch one, many := body.Member("embedding"), body.Member("embeddings"); {
	case many.IsArray():
		all = answered(many, "embedding")
	case one.IsArray():
		all = candidateOf(modelio.Part{Custom: modelio.Object{"embedding": brief(one)}})
	default:
		return nil, neither("embeddings")
	}
	return responseOf(body, ollamaUsage.among(body), all, "embedding", "embeddings", "prompt_eval_count"), nil
}
