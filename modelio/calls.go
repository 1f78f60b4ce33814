package modelio

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/inorder"
)

// A Call is one call of a model or of a tool: what was asked, what was answered, and by whom. Ids are numbered,
// so that a recording and its replays give equal calls.
type Call struct {
	Provider string // who was asked: "openai"
	Request  *Request
	Response *Response
	Latency  time.Duration // from sending the request to the end of the answer, when it was recorded
}

// Tool returns the name of the tool that was called, the program's own or a server's. It is "" where a model was
// called, or a server was asked something else.
func (c *Call) Tool() string { return c.Request.Tool() }

// Tool returns the name of the tool that a request calls, which is also what it has for a model; "" means none.
func (r *Request) Tool() string {
	if len(r.Messages) != 1 || len(r.Messages[0].Content) != 1 {
		return ""
	}
	if call := r.Messages[0].Content[0].ToolRequest; call != nil && call.Name == r.Model {
		return r.Model
	}
	return ""
}

// ToolRequests returns the tools that the model asks for in its first candidate, in their order, those too that its
// provider runs itself. It is nil for a call of a tool.
func (c *Call) ToolRequests() (asked []*ToolRequest) {
	for _, part := range c.answer() {
		if part.ToolRequest != nil {
			asked = append(asked, part.ToolRequest)
		}
	}
	return asked
}

// ToolNames returns the sorted names of the tools that the answer asks for, each as often as it is asked for. It is
// for assertions on a turn in which their order says nothing.
func (c *Call) ToolNames() (names []string) {
	for _, asked := range c.ToolRequests() {
		names = append(names, asked.Name)
	}
	return inorder.Strings(names)
}

// Option returns an option of the request as a plain value: a string, a bool, a json.Number, a []any or a
// map[string]any. It is nil where the request has no such option, or null.
func (r *Request) Option(name string) any {
	decoder := json.NewDecoder(bytes.NewReader(r.Options[name]))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// Text returns the texts of the first candidate as one.
func (c *Call) Text() string {
	var text strings.Builder
	for _, part := range c.answer() {
		if part.Text != nil {
			text.WriteString(*part.Text)
		}
	}
	return text.String()
}

// FinishReason returns why the first candidate ended; "" where there is none, and of a call of a tool.
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
