package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// anthropicMessages is Anthropic's messages format.
type anthropicMessages struct{}

var _ = serve(at(anthropicMessages{}, "/v1/messages"))

func (anthropicMessages) name() string { return "anthropic.messages" }

func (anthropicMessages) framing(*Call) framing { return sse() }

func (anthropicMessages) header(x *exchange) http.Header {
	h := http.Header{
		"Request-Id":                             {x.requestID()},
		"Anthropic-Organization-Id":              {x.mint.uuid()},
		"Anthropic-Ratelimit-Requests-Limit":     {"4000"},
		"Anthropic-Ratelimit-Requests-Remaining": {"3999"},
		"Anthropic-Ratelimit-Requests-Reset":     {x.mint.now.Format(time.RFC3339)},
		"Set-Cookie": {x.mint.id("_cfuvid=", alnum, 43) +
			"; HttpOnly; SameSite=None; Secure; Path=/"},
	}
	if f := x.reply.Failure; f != nil && !x.failsInStream() && f.Status/100 == 4 &&
		f.Status != http.StatusTooManyRequests {
		h.Set("X-Should-Retry", "false")
	}
	return h
}

func (anthropicMessages) failure(x *exchange, f Failure) []byte {
	return marshal(anthropicError(x, f))
}

func (anthropicMessages) failureEvents(x *exchange, f Failure, _ int) []event {
	return []event{jsonEvent("error", anthropicError(x, f))}
}

func anthropicError(x *exchange, f Failure) object {
	return object{
		{"type", "error"},
		{"error", object{{"type", f.Type}, {"message", f.Message}}},
		{"request_id", x.requestID()},
	}
}

// refusal returns Anthropic's error for a request that it cannot answer.
func refusal(format string, args ...any) *Failure {
	return &Failure{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}

func (anthropicMessages) badKey(c *Call) *Failure {
	f := &Failure{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "invalid x-api-key"}
	if c.key() == "" {
		f.Message = "x-api-key header is required"
	}
	return f
}

func (anthropicMessages) badMethod(*Call) *Failure {
	f := refusal("Method Not Allowed")
	f.Status = http.StatusMethodNotAllowed
	return f
}

func (anthropicMessages) badPath(*Call) *Failure {
	return &Failure{Status: http.StatusNotFound, Type: "not_found_error", Message: "Not Found"}
}

func (f anthropicMessages) read(c *Call) *Failure {
	if c.Header.Get("Anthropic-Version") == "" {
		return refusal("anthropic-version: header is required")
	}
	body, err := parse(c.Body)
	if err != nil {
		return refusal("The request body is not valid JSON: %v", err)
	}
	switch {
	case !body.has("model"):
		return refusal("model: Field required")
	case !body.into("model", &c.Model):
		return refusal("model: Input should be a valid string")
	}
	c.Stream = body.flag("stream")
	return f.readBody(c, body)
}

// readBody parses the members that all hosts of Anthropic's API share. On Bedrock and Vertex the path names the model
// and specifies whether to stream.
func (f anthropicMessages) readBody(c *Call, body members) *Failure {
	for _, key := range []string{"max_tokens", "messages"} {
		if !body.has(key) {
			return refusal("%s: Field required", key)
		}
	}
	var maxTokens int
	if !body.into("max_tokens", &maxTokens) {
		return refusal("max_tokens: Input should be a valid integer")
	}
	version := c.Header.Get("Anthropic-Version")
	body.into("anthropic_version", &version)
	for _, key := range []string{"temperature", "top_k", "top_p"} {
		if body.has(key) && strings.HasPrefix(version, "20") && version >= "2026-10-21" {
			return refusal("%s: Extra inputs are not permitted", key)
		}
	}
	if body.has("system") {
		c.Messages = append(c.Messages, Message{Role: "system", Text: textOf(body["system"])})
	}
	if fail := readAnthropicMessages(c, body); fail != nil {
		return fail
	}
	var tools []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	}
	body.into("tools", &tools)
	for _, t := range tools {
		c.Tools = append(c.Tools, Tool{t.Name, t.Schema})
	}
	var output struct {
		Format struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	}
	body.into("output_config", &output)
	c.Schema = output.Format.Schema
	return nil
}

func readAnthropicMessages(c *Call, body members) *Failure {
	var list []json.RawMessage
	if !body.into("messages", &list) {
		return refusal("messages: Input should be a valid array")
	}
	if len(list) == 0 {
		return refusal("messages: at least one message is required")
	}
	var open []string // the tool calls of the previous message
	for i, raw := range list {
		m, err := parse(raw)
		if err != nil {
			return refusal("messages.%d: Input does not match the expected shape.", i)
		}
		msg := Message{Role: m.str("role")}
		switch msg.Role {
		case "user", "assistant":
		case "system":
			return refusal("messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.")
		default:
			return refusal("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		if !m.has("content") {
			return refusal("messages.%d.content: Field required", i)
		}
		answered, fail := msg.readBlocks(i, m["content"], open)
		if fail != nil {
			return fail
		}
		if left := slices.DeleteFunc(open, func(id string) bool { return slices.Contains(answered, id) }); len(left) > 0 {
			return unanswered(i-1, left)
		}
		open = nil
		for _, call := range msg.ToolCalls {
			open = append(open, call.ID)
		}
		c.Messages = append(c.Messages, msg)
	}
	if len(open) > 0 {
		return unanswered(len(list)-1, open)
	}
	return nil
}

func unanswered(message int, ids []string) *Failure {
	return refusal("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", message, strings.Join(ids, ", "))
}

// readBlocks parses the content of message i, in which only the open tool calls can be answered.
func (m *Message) readBlocks(i int, content json.RawMessage, open []string) (answered []string, fail *Failure) {
	m.Text = textOf(content)
	var blocks []struct {
		Type    string          `json:"type"`
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Call    string          `json:"tool_use_id"`
		Content json.RawMessage `json:"content"`
	}
	json.Unmarshal(content, &blocks) // a string has no blocks
	for j, b := range blocks {
		switch b.Type {
		case "tool_use":
			m.ToolCalls = append(m.ToolCalls, ToolCall{b.ID, b.Name, string(b.Input)})
		case "tool_result":
			if !slices.Contains(open, b.Call) {
				return nil, refusal("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, b.Call)
			}
			answered = append(answered, b.Call)
			m.ToolResults = append(m.ToolResults, ToolResult{ID: b.Call, Text: textOf(b.Content)})
		}
	}
	return answered, nil
}

func (anthropicMessages) stop(r Reply) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case r.Refusal != "":
		return "refusal"
	case len(r.ToolCalls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func (anthropicMessages) stopDetails(r Reply) any {
	if r.Refusal == "" {
		return nil
	}
	return object{{"type", "refusal"}, {"category", nil}, {"explanation", r.Refusal}}
}

func (f anthropicMessages) whole(x *exchange) []byte {
	content := []object{}
	for _, b := range f.blocks(x) {
		content = append(content, b.whole)
	}
	r := x.reply
	return marshal(f.message(x, content, f.stop(r), f.stopDetails(r), x.usage().Output))
}

func (anthropicMessages) message(x *exchange, content []object, stop, details any, output int) object {
	u := x.usage()
	return object{
		{"model", x.model()},
		{"id", x.answerID(x.mint.id("msg_01", alnum, 22))},
		{"type", "message"},
		{"role", "assistant"},
		{"content", content},
		{"stop_reason", stop},
		{"stop_sequence", nil},
		{"stop_details", details},
		{"usage", object{
			{"input_tokens", u.Input - u.CacheRead - u.CacheWrite},
			{"cache_creation_input_tokens", u.CacheWrite},
			{"cache_read_input_tokens", u.CacheRead},
			{"cache_creation", object{{"ephemeral_5m_input_tokens", u.CacheWrite}, {"ephemeral_1h_input_tokens", 0}}},
			{"output_tokens", output},
			{"service_tier", "standard"},
			{"inference_geo", "not_available"},
		}},
	}
}

func (f anthropicMessages) stream(x *exchange) []event {
	var events []event
	send := func(v object) {
		e := jsonEvent(v[0].value.(string), v)
		// Anthropic pads its events, so that their lengths reveal nothing.
		pad := strings.Repeat(" ", x.mint.rng.IntN(16))
		e.data = append(e.data[:len(e.data)-1], pad+"}"...)
		events = append(events, e)
	}
	ping := func() { events = append(events, event{name: "ping", data: []byte(`{"type": "ping"}`)}) }

	send(object{{"type", "message_start"}, {"message", f.message(x, []object{}, nil, nil, 1)}})
	blocks := f.blocks(x)
	if len(blocks) == 0 {
		ping()
	}
	for i, b := range blocks {
		send(object{{"type", "content_block_start"}, {"index", i}, {"content_block", b.start}})
		if i == 0 {
			ping()
		}
		for _, d := range b.deltas {
			send(object{{"type", "content_block_delta"}, {"index", i}, {"delta", d}})
		}
		send(object{{"type", "content_block_stop"}, {"index", i}})
	}
	r, u := x.reply, x.usage()
	send(object{
		{"type", "message_delta"},
		{"delta", object{{"stop_reason", f.stop(r)}, {"stop_sequence", nil}, {"stop_details", f.stopDetails(r)}}},
		{"usage", object{
			{"input_tokens", u.Input - u.CacheRead - u.CacheWrite},
			{"cache_creation_input_tokens", u.CacheWrite},
			{"cache_read_input_tokens", u.CacheRead},
			{"output_tokens", u.Output},
		}},
	})
	send(object{{"type", "message_stop"}})
	return events
}

// A block is one part of an answer. It holds both the complete form and the pieces.
type block struct {
	whole, start object
	deltas       []object
}

func (anthropicMessages) blocks(x *exchange) []block {
	r := x.reply
	var blocks []block
	if r.Thinking != "" {
		signature := x.mint.or(r.Signature, "EqQB", alnum, 120)
		b := block{
			whole: object{{"type", "thinking"}, {"thinking", r.Thinking}, {"signature", signature}},
			start: object{{"type", "thinking"}, {"thinking", ""}, {"signature", ""}},
		}
		for _, s := range r.Stream.split(r.Thinking, words) {
			b.deltas = append(b.deltas, object{{"type", "thinking_delta"}, {"thinking", s}})
		}
		b.deltas = append(b.deltas, object{{"type", "signature_delta"}, {"signature", signature}})
		blocks = append(blocks, b)
	}
	if r.Text != "" {
		b := block{
			whole: object{{"type", "text"}, {"text", r.Text}},
			start: object{{"type", "text"}, {"text", ""}},
		}
		for _, s := range r.fragments() {
			b.deltas = append(b.deltas, object{{"type", "text_delta"}, {"text", s}})
		}
		blocks = append(blocks, b)
	}
	for _, call := range x.toolCalls(r, "toolu_01", 22) {
		head := object{{"type", "tool_use"}, {"id", call.ID}, {"name", call.Name}}
		caller := member{"caller", object{{"type", "direct"}}}
		b := block{
			whole:  append(slices.Clone(head), member{"input", arguments(call.Arguments)}, caller),
			start:  append(slices.Clone(head), member{"input", object{}}, caller),
			deltas: []object{{{"type", "input_json_delta"}, {"partial_json", ""}}},
		}
		for _, s := range r.Stream.split(call.Arguments, pieces) {
			b.deltas = append(b.deltas, object{{"type", "input_json_delta"}, {"partial_json", s}})
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// vertexClaude is Anthropic's format on Vertex AI, where the path names the model and specifies
// whether to stream: …/publishers/anthropic/models/MODEL:streamRawPredict.
type vertexClaude struct{ anthropicMessages }

var _ = serve(func(c *Call) format {
	if strings.HasSuffix(c.Path, vertexCountPath) {
		return nil
	}
	return atMethod(vertexClaude{}, "rawPredict", "streamRawPredict")(c)
})

func (f vertexClaude) read(c *Call) *Failure {
	body, err := parse(c.Body)
	if err != nil {
		return refusal("The request body is not valid JSON: %v", err)
	}
	if !body.has("anthropic_version") {
		return refusal("anthropic_version: Field required")
	}
	var verb string
	c.Model, verb, _ = geminiVerb(c.Path)
	c.Stream = verb == "streamRawPredict"
	return f.readBody(c, body)
}
