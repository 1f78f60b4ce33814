package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const embeddingsAPI = "openai.embeddings"

// openAIEmbeddings is the embeddings API of OpenAI and of hosts that copy it.
type openAIEmbeddings struct{}

func (openAIEmbeddings) API() string      { return embeddingsAPI }
func (openAIEmbeddings) Provider() string { return "openai" }
func (openAIEmbeddings) Seeded() bool     { return false }

func (openAIEmbeddings) Match(w *Wire) bool {
	return w.posts(func(body jsontext.Value) bool { return body.Member("input").Present() }, "/embeddings")
}

func (openAIEmbeddings) Endpoint(req *modelio.Request) string {
	return deployed(req, "/v1", "/embeddings")
}

func (openAIEmbeddings) DecodeRequest(w *Wire) (*modelio.Request, error) {
	body, err := w.body(embeddingsAPI)
	if err != nil {
		return nil, err
	}
	req := decodePrompt(embeddingsAPI, body, "input", new(parameters).decode)
	deployment(req, w)
	return req, nil
}

func (openAIEmbeddings) EncodeRequest(req *modelio.Request) ([]byte, error) {
	body, err := new(parameters).encode(req)
	if err != nil {
		return nil, err
	}
	return encodePrompt(req, "input", body)
}

func (openAIEmbeddings) DecodeResponse(a *Answer) (*modelio.Response, error) {
	return decodeAnswer(embeddingsAPI, a, func() fold { return &noFold{} }, embeddings)
}

// embeddings decodes a list of embeddings: each is a custom part, in the list's order.
func embeddings(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("data").IsArray() {
		return nil, &WireError{API: embeddingsAPI, Reason: "the answer has neither data nor an error"}
	}
	c := modelio.Candidate{Message: modelio.Message{Role: modelio.RoleModel}, FinishReason: modelio.FinishStop}
	for _, e := range body.Member("data").Elements() {
		part := modelio.Part{Custom: modelio.Object{}}
		for name, v := range e.Rest("object", "index") {
			if !saysNothing(v) {
				part.Custom[name] = v
			}
		}
		c.Message.Content = append(c.Message.Content, part)
	}
	return &modelio.Response{
		Candidates: []modelio.Candidate{c},
		Usage:      chatUsage.decode(body.Member("usage")),
		ID:         body.Member("id").Word(),
		Model:      body.Member("model").Word(),
		Metadata:   beside(body, "id", "model", "usage", "data", "object"),
	}, nil
}

// noFold is the fold of an API that does not stream. The last event is the body.
type noFold struct{ last jsontext.Value }

func (f *noFold) add(_ string, event jsontext.Value) error {
	f.last = event
	return nil
}

func (f *noFold) body() (json.RawMessage, bool) { return f.last.Raw(), f.last.Present() }
