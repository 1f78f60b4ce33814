package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const embeddingsAPI = "openai.embeddings"

// The embeddings API of OpenAI and of hosts that copy it, with Voyage's two others of the same form.
var _ = Register(&Codec{
	API:            embeddingsAPI,
	Provider:       "openai",
	Match:          matchEmbeddings,
	DecodeRequest:  requests(embeddingsAPI, requestForm{prompt: "input"}.decode, embeddingsPath),
	DecodeResponse: answers(embeddingsAPI, folding{}, embeddings),
})

func matchEmbeddings(w *Wire) bool {
	return posts(has("input"), "/embeddings")(w) ||
		posts(hasList("inputs"), "/multimodalembeddings", "/contextualizedembeddings")(w)
}

func embeddingsPath(w *Wire, req *modelio.Request) {
	deployment(w, req)
	sayOperation("embeddings")(w, req)
}

// embeddingsUsage counts what was embedded. Voyage reports the total alone, which is all input, as nothing is made.
var embeddingsUsage = usageNames{
	input:     paths{"prompt_tokens", "total_tokens"},
	output:    chatUsage.output,
	total:     chatUsage.total,
	cacheRead: chatUsage.cacheRead,
}

// embeddings decodes a list of embeddings: each is a custom part, in the list's order.
func embeddings(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("data").IsArray() {
		return nil, neither("data")
	}
	return responseOf(body, embeddingsUsage, answered(body.Member("data"), "embedding", "object", "index"), "data"), nil
}
