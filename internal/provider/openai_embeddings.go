package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const embeddingsAPI = "openai.embeddings"

// The embeddings API of OpenAI and of hosts that copy it.
var _ = Register(&Codec{
	API:            embeddingsAPI,
	Provider:       "openai",
	Match:          posts(has("input"), "/embeddings"),
	DecodeRequest:  requests(embeddingsAPI, requestForm{prompt: "input"}.decode, deployment),
	DecodeResponse: answers(embeddingsAPI, folding{}, embeddings),
})

// embeddings decodes a list of embeddings: each is a custom part, in the list's order.
func embeddings(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("data").IsArray() {
		return nil, neither("data")
	}
	c := modelio.Candidate{Message: modelio.Message{Role: modelio.RoleModel}, FinishReason: modelio.FinishStop}
	for _, e := range body.Member("data").Elements() {
		part := modelio.Part{Custom: e.Object()}
		delete(part.Custom, "object")
		delete(part.Custom, "index")
		c.Message.Content = append(c.Message.Content, part)
	}
	tidy(&c.Message)
	return responseOf(body, chatUsage, []modelio.Candidate{c}, "data"), nil
}
