package traceforgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// modelAPI is the API of calls that are recorded from a [modelio.Model].
const modelAPI = "genkit.generate"

// A modelCodec translates the calls of a model, which have no wire format but GK's own JSON.
type modelCodec struct{ provider string }

func (modelCodec) API() string                          { return modelAPI }
func (c modelCodec) Provider() string                   { return c.provider }
func (modelCodec) Seeded() bool                         { return false }
func (modelCodec) Match(w *provider.Wire) bool          { return w.URL.Scheme == "model" }
func (modelCodec) Endpoint(req *modelio.Request) string { return "/" + req.Model }

// configFields are the members of a config that the snapshot format has fields for.
func configFields(req *modelio.Request) map[string]**json.Number {
	return map[string]**json.Number{
		"temperature":      &req.Temperature,
		"maxOutputTokens":  &req.MaxTokens,
		"topP":             &req.TopP,
		"frequencyPenalty": &req.FrequencyPenalty,
		"presencePenalty":  &req.PresencePenalty,
		"seed":             &req.Seed,
	}
}

// DecodeRequest keeps what has no field of its own in Options, under GK's names.
func (modelCodec) DecodeRequest(w *provider.Wire) (*modelio.Request, error) {
	var generate modelio.GenerateRequest
	if err := json.Unmarshal(w.Body, &generate); err != nil {
		return nil, err
	}
	req := &modelio.Request{
		API:      modelAPI,
		Model:    strings.TrimPrefix(w.URL.Path, "/"),
		Messages: generate.Messages,
		Tools:    generate.Tools,
		Options:  modelio.Object{},
	}
	if req.Messages == nil {
		req.Messages = []modelio.Message{}
	}
	if w.URL.RawQuery != "" {
		req.Options["stream"] = json.RawMessage("true")
	}
	if generate.ToolChoice != "" {
		req.Options["toolChoice"], _ = json.Marshal(generate.ToolChoice) // a string always marshals
	}
	if generate.Output != nil {
		output, err := json.Marshal(generate.Output)
		if err != nil {
			return nil, err
		}
		req.Options["output"] = output
	}
	for name, value := range generate.Unknown {
		req.Options[name] = value
	}
	return req, decodeConfig(req, generate.Config)
}

func decodeConfig(req *modelio.Request, config modelio.Object) error {
	if config == nil {
		return nil
	}
	rest := modelio.Object{}
	fields := configFields(req)
	for name, value := range config {
		field, ok := fields[name]
		switch {
		case ok && isNumber(value):
			number := json.Number(value)
			*field = &number
		case name == "stopSequences" && json.Unmarshal(value, &req.Stop) == nil:
		default:
			rest[name] = value
		}
	}
	text, err := json.Marshal(rest)
	req.Options["config"] = text
	return err
}

func hasParameters(req *modelio.Request) bool {
	for _, field := range configFields(req) {
		if *field != nil {
			return true
		}
	}
	return false
}

func isNumber(value json.RawMessage) bool {
	return len(value) > 0 && (value[0] == '-' || value[0] >= '0' && value[0] <= '9')
}

// EncodeRequest returns the GenerateRequest that DecodeRequest decoded.
func (modelCodec) EncodeRequest(req *modelio.Request) ([]byte, error) {
	generate := modelio.GenerateRequest{Messages: req.Messages, Tools: req.Tools, Unknown: modelio.Object{}}
	for name, value := range req.Options {
		var err error
		switch name {
		case "stream":
		case "config":
			err = json.Unmarshal(value, &generate.Config)
		case "toolChoice":
			err = json.Unmarshal(value, &generate.ToolChoice)
		case "output":
			err = json.Unmarshal(value, &generate.Output)
		default:
			generate.Unknown[name] = value
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if generate.Config == nil && (req.Stop != nil || hasParameters(req)) {
		generate.Config = modelio.Object{}
	}
	for name, field := range configFields(req) {
		if *field != nil {
			generate.Config[name] = json.RawMessage(**field)
		}
	}
	if req.Stop != nil {
		generate.Config["stopSequences"], _ = json.Marshal(req.Stop) // strings always marshal
	}
	return json.Marshal(&generate)
}

// DecodeResponse decodes the lines of an answer. That its chunks add up to its response
// (GK "Streaming") is for [TestModel] to prove: what a model did can be recorded.
func (modelCodec) DecodeResponse(a *provider.Answer) (*modelio.Response, error) {
	var chunks []*modelio.GenerateResponseChunk
	response, err := readLines(context.Background(), bytes.NewReader(a.Body), func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
		chunks = append(chunks, chunk)
		return nil
	})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return cutResponse(chunks), nil
	case err != nil:
		return nil, err
	}
	resp := &modelio.Response{Usage: response.Usage, Complete: true}
	if response.Message != nil {
		resp.Candidates = []modelio.Candidate{candidate(response.Message, response.FinishReason)}
	}
	return resp, nil
}

func candidate(message *modelio.Message, reason modelio.FinishReason) modelio.Candidate {
	c := modelio.Candidate{Message: *message, FinishReason: reason, FinishReasonRaw: string(reason)}
	switch reason {
	case modelio.FinishStop, modelio.FinishLength, modelio.FinishBlocked:
	default:
		c.FinishReason = modelio.FinishOther
	}
	return c
}

// cutResponse is what is known of an answer that broke off.
func cutResponse(chunks []*modelio.GenerateResponseChunk) *modelio.Response {
	message := &modelio.Message{Role: modelio.RoleModel}
	for _, chunk := range chunks {
		message.Content = append(message.Content, chunk.Content...)
	}
	return &modelio.Response{Candidates: []modelio.Candidate{candidate(message, "")}}
}
