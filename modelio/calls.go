package modelio

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/inorder"
)

// A Call is one call of a model or a tool: the request, the answer, and the provider. Ids are numbered, so that a
// recording and its replays give equal calls.
type Call struct {
	Provider string // the provider that was called: "openai"
	Request  *Request
	Response *Response
	Latency  time.Duration // from sending the request to the end of the answer, as recorded
}

// Tool returns the name of the called tool, which is the program's own or a server's. It is "" for calls of a model and
// for other requests to a server.
func (c *Call) Tool() string { return c.Request.Tool() }

// Tool returns the name of the tool that a request calls, which is also its Model; "" if it calls none.
func (r *Request) Tool() string {
	if len(r.Messages) != 1 || len(r.Messages[0].Content) != 1 {
		return ""
	}
	if call := r.Messages[0].Content[0].ToolRequest; call != nil && call.Name == r.Model {
		return r.Model
	}
	return ""
}

// ToolRequests returns the tool calls that the model requests in its first candidate, in order, including those that
// the provider runs itself. It is nil for a tool call.
func (c *Call) ToolRequests() (asked []*ToolRequest) {
	for _, part := range c.answer() {
		if part.ToolRequest != nil {
			asked = append(asked, part.ToolRequest)
		}
	}
	return asked
}

// ToolNames returns the sorted names of the tools that the answer requests, with repetitions. Use it for assertions on
// a turn in which the order does not matter.
func (c *Call) ToolNames() (names []string) {
	for _, asked := range c.ToolRequests() {
		names = append(names, asked.Name)
	}
	return inorder.Strings(names)
}

// Option returns an option of the request as a plain value: a string, a bool, a json.Number, a []any or a
// map[string]any. It is nil if the request has no such option, or null.
func (r *Request) Option(name string) any {
	decoder := json.NewDecoder(bytes.NewReader(r.Options[name]))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// Text returns the texts of the first candidate, joined.
func (c *Call) Text() string {
	var text strings.Builder
	for _, part := range c.answer() {
		if part.Text != nil {
			text.WriteString(*part.Text)
		}
	}
	return text.String()
}

// FinishReason returns why the first candidate ended; "" for a tool call, and if there is no candidate.
func (c *Call) FinishReason() FinishReason {
	if len(c.Response.Candidates) == 0 || c.Tool() != "" {
		return ""
	}
	return c.Response.Candidates[0].FinishReason
}

func (c *Call) answer() []Part {
	if len(c.Response.Candidates) == 0 {
		return nil
	}
	return c.Response.Candidates[0].Message.Content
}
