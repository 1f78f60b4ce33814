package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
)

// RequestCore returns the text whose hash is the prompt_hash of req: its canonical JSON. Refs of tool calls are
// replaced as by [modelio.NormalizeRefs], and numbers that do not fit a float64 are kept as by [canon.KeepNumbers]. An
// error names a value in req that is not JSON.
func RequestCore(req *modelio.GenerateRequest) ([]byte, error) {
	normalized := *req
	normalized.Messages, _ = modelio.NormalizeRefs(req.Messages)
	text, err := normalized.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return canon.KeepNumbers(text)
}

// responseCore is the content of a model's answer (design R3) in the form of a session's response_content. It leaves
// out usage, custom and other facts about its delivery.
type responseCore struct {
	// further answers, which a GenerateResponse has no field for
	Candidates   json.RawMessage       `json:"candidates,omitempty"`
	Content      *string               `json:"content"`
	Error        *RecordedError        `json:"error,omitempty"`
	FinishReason modelio.FinishReason  `json:"finish_reason"`
	Parts        []modelio.Part        `json:"parts,omitempty"` // if content and tool calls do not cover everything
	ToolCalls    []modelio.ToolRequest `json:"tool_calls,omitempty"`
}

// A RecordedError is an error that a provider reported in place of an answer.
type RecordedError struct {
	Status  int    `json:"status"` // HTTP status; 0 if there was none
	Type    string `json:"type"`
	Code    string `json:"code"`
	Param   string `json:"param"` // the parameter of the request that it is about
	Message string `json:"message"`
}

func (e *RecordedError) Error() string {
	return fmt.Sprintf("recorded error: status %d, type %q, code %q: %s", e.Status, e.Type, e.Code, e.Message)
}

// ResponseCore returns the canonical JSON of content, finish_reason, tool_calls and parts of resp, the answer to req
// (design R3). Refs of tool calls continue the numbers of req. A message's own metadata is left out. An error names a
// value in resp that is not JSON.
func ResponseCore(req *modelio.GenerateRequest, resp *modelio.GenerateResponse) ([]byte, error) {
	core := responseCore{Content: new(string), FinishReason: cmp.Or(resp.FinishReason, modelio.FinishOther)}
	if resp.Message != nil {
		history := req.Messages[:len(req.Messages):len(req.Messages)]
		whole, _ := modelio.NormalizeRefs(append(history, *resp.Message))
		core.say(whole[len(whole)-1].Content)
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(core); err != nil {
		return nil, fmt.Errorf("response core: %w", err)
	}
	return canon.KeepNumbers(text.Bytes())
}

// say sets the content to the texts of a message, and the tool calls to those that the caller must run. If the parts
// contain more than that, or what is not JSON, it keeps the parts too.
func (c *responseCore) say(parts []modelio.Part) {
	*c.Content, c.ToolCalls = texts.Join(parts), texts.Calls(parts)
	if _, err := json.Marshal(parts); err != nil || !texts.IsPlain(parts, len(c.ToolCalls)) {
		c.Parts = parts
	}
}

// message returns the message whose core is c.
func (c *responseCore) message() *modelio.Message {
	if c.Parts != nil {
		return &modelio.Message{Role: modelio.RoleModel, Content: c.Parts}
	}
	m := &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{}}
	if *c.Content != "" {
		m.Content = append(m.Content, modelio.TextPart(*c.Content))
	}
	for i := range c.ToolCalls {
		m.Content = append(m.Content, modelio.Part{ToolRequest: &c.ToolCalls[i]})
	}
	return m
}

// parseResponse returns the response for a response_content. Content that is not a core, as in sessions from other
// programs, becomes a response with that text.
func parseResponse(content string) (*modelio.GenerateResponse, error) {
	core, ok := parseResponseCore(content)
	if !ok {
		content = string(toUTF8(content))
		return &modelio.GenerateResponse{
			Message:      &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart(content)}},
			FinishReason: modelio.FinishOther,
		}, nil
	}
	if core.Error != nil {
		return nil, core.Error
	}
	resp := &modelio.GenerateResponse{Message: core.message(), FinishReason: core.FinishReason}
	if core.Candidates != nil {
		resp.Unknown = modelio.Object{"candidates": core.Candidates}
	}
	return resp, nil
}

func parseResponseCore(content string) (core responseCore, ok bool) {
	if !canon.Canonical([]byte(content)) {
		return core, false
	}
	text, err := canon.RestoreNumbers([]byte(content))
	others := jsontext.ValueOf(text).Rest("candidates", "content", "error", "finish_reason", "parts", "tool_calls")
	if err != nil || others != nil { // package json would take names in capitals too
		return core, false
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&core)
	hasMore := func(call modelio.ToolRequest) bool { return call.Partial || len(call.Unknown) > 0 }
	return core, err == nil && core.Content != nil && core.FinishReason != "" &&
		!slices.ContainsFunc(core.ToolCalls, hasMore)
}
