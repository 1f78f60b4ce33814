package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// The embedContent and batchEmbedContents methods of the Gemini API, and the former on Vertex AI. The content of the
// former is a message; the latter has a list of complete requests, which is kept unchanged.
var _ = Register(&Codec{
	API:     "google.embed",
	Match:   either(posts(has("content"), ":embedContent"), posts(hasList("requests"), ":batchEmbedContents")),
	body:    requestForm{members: map[string]taker{"content": takeMessage(modelio.RoleUser, embeddedContent)}}.decode,
	outside: methodOf("embedContent"),
	answer:  googleEmbeddings,
})

// embeddedContent takes one content as a message.
func embeddedContent(m *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	*m = generateMessage(v)
	return m.Content, v.IsObject()
}

var googleEmbedUsage = usageNames{input: paths{"promptTokenCount"}, total: paths{"totalTokenCount"}}

// googleEmbeddings decodes one embedding or a list of them.
func googleEmbeddings(body jsontext.Value) (*modelio.Response, error) {
	var all []modelio.Candidate
	switch one, many := body.Member("embedding"), body.Member("embeddings"); {
	case one.IsObject():
		all = candidateOf(modelio.Part{Custom: briefObject(one)})
	case many.IsArray():
		all = answered(many, "values")
	default:
		return nil, neither("an embedding")
	}
	usage := googleEmbedUsage.decode(body.Member("usageMetadata"))
	return responseOf(body, usage, all, "embedding", "embeddings", "usageMetadata"), nil
}
