package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// cohere is Cohere's chat format, version 2.
type cohere struct{}

var _ = serve(at(cohere{}, "/v2/chat"))

func (cohere) name() string { return "cohere.chat" }

func (cohere) framing(*Call) framing { return sse() }

func (cohere) header(x *exchange) http.Header {
	return http.Header{"X-Debug-Trace-Id": {x.mint.id("", hexDigits, 32)}}
}

func (cohere) failure(x *exchange, f Failure) []byte {
	return marshal(object{{"id", x.mint.uuid()}, {"message", f.Message}})
}

// failureEvents returns a message-end, Cohere's report of an error in mid-stream.
func (cohere) failureEvents(_ *exchange, f Failure, _ int) []event {
	return []event{
		jsonEvent("message-end", object{
			{"type", "message-end"},
			{"delta", object{{"error", f.Message}, {"finish_reason", "ERROR"}}},
		}),
		{data: []byte("[DONE]")},
	}
}

func badCohere(format string, args ...any) *Failure {
	return &Failure{Status: http.StatusBadRequest, Message: "invalid request: " + fmt.Sprintf(format, args...)}
}

func (cohere) badKey(*Call) *Failure {
	return &Failure{Status: http.StatusUnauthorized, Message: "invalid api token"}
}

func (cohere) badMethod(*Call) *Failure {
	return &Failure{Status: http.StatusMethodNotAllowed, Message: "method not allowed"}
}

func (cohere) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return badCohere("%v", err)
	}
	var messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		CallID    string          `json:"tool_call_id"`
		ToolCalls functionCalls   `json:"tool_calls"`
	}
	switch {
	case body.str("model") == "":
		return badCohere("model is required")
	case !body.into("messages", &messages), len(messages) == 0:
		return badCohere("messages must be a list of at least one message")
	}
	c.Model = body.str("model")
	c.Stream = body.flag("stream")
	for _, m := range messages {
		msg := Message{Role: m.Role, Text: textOf(m.Content), ToolCalls: m.ToolCalls.calls()}
		if m.Role == "tool" {
			msg.ToolResults = []ToolResult{{ID: m.CallID, Text: documentsOf(m.Content)}}
		}
		c.Messages = append(c.Messages, msg)
	}
	readFunctions(c, body)
	var format struct {
		Schema     json.RawMessage `json:"schema"`
		JSONSchema json.RawMessage `json:"json_schema"`
	}
	body.into("response_format", &format)
	c.Schema = format.Schema
	if c.Schema == nil {
		c.Schema = format.JSONSchema
	}
	return nil
}

// documentsOf returns the text of a tool's result: a string, or a list of texts and documents.
func documentsOf(content json.RawMessage) string {
	var parts []struct {
		Text     string `json:"text"`
		Document struct {
			Data json.RawMessage `json:"data"`
		} `json:"document"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return textOf(content)
	}
	var s strings.Builder
	for _, p := range parts {
		s.WriteString(p.Text)
		var data string
		if json.Unmarshal(p.Document.Data, &data) != nil {
			data = resultText(p.Document.Data)
		}
		s.WriteString(data)
	}
	return s.String()
}

func (cohere) finish(r Reply) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.ToolCalls) > 0:
		return "TOOL_CALL"
	default:
		return "COMPLETE"
	}
}

func (cohere) usage(x *exchange) object {
	u := x.usage()
	tokens := object{{"input_tokens", u.Input}, {"output_tokens", u.Output}}
	return object{{"billed_units", tokens}, {"tokens", tokens}}
}

// A passage is a typed text part of an answer, whole and in fragments.
type passage struct {
	typ, text string
	fragments []string
}

// passages returns the model's text parts. A refusal is text, since Cohere has no member for it.
func (cohere) passages(r Reply) []passage {
	var out []passage
	for _, p := range []passage{
		{"thinking", r.Thinking, r.Stream.split(r.Thinking, words)},
		{"text", r.Text, r.fragments()},
		{"text", r.Refusal, r.Stream.split(r.Refusal, words)},
	} {
		if p.text != "" {
			out = append(out, p)
		}
	}
	return out
}

func (f cohere) whole(x *exchange) []byte {
	message := object{{"role", "assistant"}}
	var content, calls []object
	for _, p := range f.passages(x.reply) {
		content = append(content, object{{"type", p.typ}, {p.typ, p.text}})
	}
	for _, call := range x.toolCalls(x.reply, "call_", 12) {
		calls = append(calls, functionCall(call, call.Arguments))
	}
	if content != nil {
		message = append(message, member{"content", content})
	}
	if calls != nil {
		message = append(message, member{"tool_calls", calls})
	}
	return marshal(object{
		{"id", x.answerID(x.mint.uuid())},
		{"message", message},
		{"finish_reason", f.finish(x.reply)},
		{"usage", f.usage(x)},
	})
}

func (f cohere) stream(x *exchange) []event {
	var events []event
	send := func(typ string, fields ...member) {
		events = append(events, jsonEvent(typ, append(object{{"type", typ}}, fields...)))
	}
	message := func(fields ...member) member { return member{"delta", object{{"message", object(fields)}}} }

	events = append(events, jsonEvent("message-start", object{
		{"id", x.answerID(x.mint.uuid())},
		{"type", "message-start"},
		message(member{"role", "assistant"}, member{"content", []any{}}, member{"tool_plan", ""},
			member{"tool_calls", []any{}}, member{"citations", []any{}}),
	}))
	for i, p := range f.passages(x.reply) {
		index := member{"index", i}
		send("content-start", index, message(member{"content", object{{"type", p.typ}, {p.typ, ""}}}))
		for _, s := range p.fragments {
			send("content-delta", index, message(member{"content", object{{p.typ, s}}}))
		}
		send("content-end", index)
	}
	for i, call := range x.toolCalls(x.reply, "call_", 12) {
		index := member{"index", i}
		send("tool-call-start", index, message(member{"tool_calls", functionCall(call, "")}))
		for _, s := range x.reply.Stream.split(call.Arguments, pieces) {
			send("tool-call-delta", index, message(member{"tool_calls", object{{"function", object{{"arguments", s}}}}}))
		}
		send("tool-call-end", index)
	}
	send("message-end", member{"delta", object{{"finish_reason", f.finish(x.reply)}, {"usage", f.usage(x)}}})
	return append(events, event{data: []byte("[DONE]")})
}
