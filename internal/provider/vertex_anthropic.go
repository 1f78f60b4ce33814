package provider

import (
	"net/url"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const vertexAnthropicAPI = "vertex.anthropic"

// vertexAnthropic is Claude on Vertex AI: the messages API but for the model, which is in the
// URL, with whether the answer is streamed.
type vertexAnthropic struct{}

func (vertexAnthropic) API() string      { return vertexAnthropicAPI }
func (vertexAnthropic) Provider() string { return "vertex" }
func (vertexAnthropic) Seeded() bool     { return false }

func (vertexAnthropic) Match(w *Wire) bool {
	return strings.Contains(w.URL.Path, "/publishers/anthropic/models/") && !strings.Contains(w.URL.Path, "/count-tokens:") &&
		w.posts(func(body jsontext.Value) bool { return body.Member("messages").IsArray() }, ":rawPredict", ":streamRawPredict")
}

func (vertexAnthropic) Endpoint(req *modelio.Request) string {
	method := urlSegment(req, "method")
	if method == "" {
		method = "rawPredict"
	}
	return endpointOf(req, "/v1/publishers/anthropic/models/"+url.PathEscape(req.Model)+":"+method)
}

func (vertexAnthropic) DecodeRequest(w *Wire) (*modelio.Request, error) {
	body, err := w.body(vertexAnthropicAPI)
	if err != nil {
		return nil, err
	}
	req := claudeRequest(vertexAnthropicAPI, body)
	keepModel(req)
	var method string
	req.Model, method = generatePath(w.URL.Path)
	if method == "rawPredict" {
		method = ""
	}
	w.keepURL(req, map[string]string{"method": method})
	return req, nil
}

func (vertexAnthropic) EncodeRequest(req *modelio.Request) ([]byte, error) {
	body, err := claudeBody(req)
	if err != nil {
		return nil, err
	}
	overlay(body, optionsOf(req))
	return jsontext.ObjectText(body), nil
}

func (vertexAnthropic) DecodeResponse(a *Answer) (*modelio.Response, error) {
	return decodeAnswer(vertexAnthropicAPI, a, func() fold { return &claudeFold{} }, claudeAnswer(vertexAnthropicAPI))
}
