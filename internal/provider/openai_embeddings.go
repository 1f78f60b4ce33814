package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/modelio"
)

const embeddingsAPI = "openai.embeddings"

// openAIEmbeddings is the embeddings API of OpenAI and of hosts that copy it.
type openAIEmbeddings struct{}

func (openAIEmbeddings) API() string      { return embeddingsAPI }
func (openAIEmbeddings) Provider() string { return "openai" }
func (openAIEmbeddings) Seeded() bool     { return false }

func (openAIEmbeddings) Match(w *Wire) bool {
	return w.posts(func(body value) bool { return body.member("input").present() }, "/embeddings")
}

func (openAIEmbeddings) Endpoint(req *Request) string { return req.deployed("/v1", "/embeddings") }

func (openAIEmbeddings) DecodeRequest(w *Wire) (*Request, error) {
	body, err := w.body(embeddingsAPI)
	if err != nil {
		return nil, err
	}
	req := decodePrompt(embeddingsAPI, body, "input", new(parameters).decode)
	req.deployment(w)
	return req, nil
}

func (openAIEmbeddings) EncodeRequest(req *Request) ([]byte, error) {
	body, err := new(parameters).encode(req)
	if err != nil {
		return nil, err
	}
	return encodePrompt(req, "input", body)
}

func (openAIEmbeddings) DecodeResponse(a *Answer) (*Response, error) {
	return decodeAnswer(embeddingsAPI, a, func() fold { return &noFold{} }, embeddings)
}

// embeddings decodes a list of embeddings: each is a custom part, in the list's order.
func embeddings(body value) (*Response, error) {
	if !body.member("data").isArray() {
		return nil, &WireError{API: embeddingsAPI, Reason: "the answer has neither data nor an error"}
	}
	c := Candidate{Message: modelio.Message{Role: modelio.RoleModel}, FinishReason: modelio.FinishStop}
	for _, e := range body.member("data").elements() {
		part := modelio.Part{Custom: modelio.Object{}}
		for name, v := range e.rest("object", "index") {
			if !saysNothing(v) {
				part.Custom[name] = v
			}
		}
		c.Message.Content = append(c.Message.Content, part)
	}
	return &Response{
		Candidates: []Candidate{c},
		Usage:      chatUsage.decode(body.member("usage")),
		ID:         body.member("id").word(),
		Model:      body.member("model").word(),
		Metadata:   beside(body, "id", "model", "usage", "data", "object"),
	}, nil
}

// noFold is the fold of an API that does not stream. The last event is the body.
type noFold struct{ last value }

func (f *noFold) add(_ string, event value) error {
	f.last = event
	return nil
}

func (f *noFold) body() (json.RawMessage, bool) { return f.last.raw(), f.last.present() }
