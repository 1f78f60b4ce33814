package fakeprovider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// openAIChat is OpenAI's chat completions format, which many other hosts use too.
type openAIChat struct{ openAI }

var _ = serve(func(c *Call) format {
	if onMistral(c) {
		return nil
	}
	return atOpenAI(openAIChat{}, chatPath)(c)
})

// chatPath is the suffix of all paths of chat completions.
const chatPath = "/chat/completions"

func (openAIChat) name() string { return "openai.chat" }

func (f openAIChat) read(c *Call) *Failure {
	body, fail := f.open(c)
	if fail != nil {
		return fail
	}
	if fail := readChatMessages(c, body); fail != nil {
		return fail
	}
	if body.has("stream_options") && !c.Stream {
		return invalid("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	var options struct {
		Usage       bool  `json:"include_usage"`
		Obfuscation *bool `json:"include_obfuscation"`
	}
	body.into("stream_options", &options)
	c.usageChunk = options.Usage
	c.padding = options.Obfuscation == nil || *options.Obfuscation

	if fail := integer(body, "n", 1, 128, &c.Choices); fail != nil {
		return fail
	}
	readFunctions(c, body)
	c.Schema = chatSchema(body)
	return nil
}

// chatSchema returns the JSON Schema of OpenAI's response_format, or nil.
func chatSchema(body members) json.RawMessage {
	var format struct {
		Schema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	body.into("response_format", &format)
	return format.Schema.Schema
}

var chatRoles = []string{"system", "assistant", "user", "function", "tool", "developer"}

func readChatMessages(c *Call, body members) *Failure {
	var list []json.RawMessage
	switch {
	case !body.has("messages"):
		return missing("messages")
	case !body.into("messages", &list):
		return wrongType("messages", "an array of objects", body["messages"])
	case len(list) == 0:
		return emptyArray("messages")
	}
	for i, raw := range list {
		at := fmt.Sprintf("messages[%d]", i)
		m, err := parse(raw)
		if err != nil {
			return wrongType(at, "an object", raw)
		}
		role := m.str("role")
		switch {
		case !m.has("role"):
			return missing(at + ".role")
		case !slices.Contains(chatRoles, role):
			return invalid(at+".role", "invalid_value", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role)
		}
		msg := Message{Role: role, Text: textOf(m["content"])}
		if role == "tool" {
			msg.ToolResults = []ToolResult{{ID: m.str("tool_call_id"), Text: msg.Text}}
		}
		var calls functionCalls
		m.into("tool_calls", &calls)
		msg.ToolCalls = calls.calls()
		c.Messages = append(c.Messages, msg)
	}
	return checkChatTools(c.Messages)
}

// checkChatTools checks that tool calls and tool messages fit together.
func checkChatTools(messages []Message) *Failure {
	open := map[string]bool{} // calls without an answer
	var ids []string
	unanswered := func() *Failure {
		ids = slices.DeleteFunc(ids, func(id string) bool { return !open[id] })
		if len(ids) == 0 {
			return nil
		}
		return invalid("messages", "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
	}
	for i, m := range messages {
		if m.Role == "tool" {
			if !open[m.ToolResults[0].ID] {
				return invalid(fmt.Sprintf("messages.[%d].role", i), "",
					"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
			}
			delete(open, m.ToolResults[0].ID)
			continue
		}
		if fail := unanswered(); fail != nil {
			return fail
		}
		for _, call := range m.ToolCalls {
			open[call.ID] = true
			ids = append(ids, call.ID)
		}
	}
	return unanswered()
}

func (openAIChat) finish(r Reply) string {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.ToolCalls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func (f openAIChat) whole(x *exchange) []byte {
	var choices []object
	for i, r := range x.choices() {
		var content any = r.Text
		if r.Text == "" && (r.Refusal != "" || len(r.ToolCalls) > 0) {
			content = nil
		}
		message := object{{"role", "assistant"}, {"content", content}}
		if r.Thinking != "" { // a member of other hosts, not of OpenAI
			message = append(message, member{"reasoning_content", r.Thinking})
		}
		if calls := x.toolCalls(r, "call_", 24); len(calls) > 0 {
			var list []object
			for _, call := range calls {
				list = append(list, functionCall(call, call.Arguments))
			}
			message = append(message, member{"tool_calls", list})
		}
		message = append(message, member{"refusal", null(r.Refusal)}, member{"annotations", []any{}})
		choices = append(choices, object{
			{"index", i},
			{"message", message},
			{"logprobs", nil},
			{"finish_reason", f.finish(r)},
		})
	}
	return indented(object{
		{"id", x.answerID(x.mint.id("chatcmpl-", alnum, 29))},
		{"object", "chat.completion"},
		{"created", x.mint.now.Unix()},
		{"model", x.model()},
		{"choices", choices},
		{"usage", usageOf(x.usage())},
		{"service_tier", "default"},
		{"system_fingerprint", x.mint.id("fp_", hexDigits, 10)},
	})
}

func (f openAIChat) stream(x *exchange) []event {
	head := object{
		{"id", x.answerID(x.mint.id("chatcmpl-", alnum, 29))},
		{"object", "chat.completion.chunk"},
		{"created", x.mint.now.Unix()},
		{"model", x.model()},
		{"service_tier", "default"},
		{"system_fingerprint", x.mint.id("fp_", hexDigits, 10)},
	}
	var events []event
	send := func(choices []object, usage any) {
		chunk := append(slices.Clone(head), member{"choices", choices})
		if x.call.usageChunk {
			chunk = append(chunk, member{"usage", usage})
		}
		if x.call.padding {
			chunk = append(chunk, member{"obfuscation", x.mint.id("", alnum, x.mint.rng.IntN(16))})
		}
		events = append(events, jsonEvent("", chunk))
	}
	choices := x.choices()
	deltas := make([][]object, len(choices))
	for i, r := range choices {
		deltas[i] = f.deltas(x, r)
	}
	for step, sent := 0, true; sent; step++ { // the choices take turns
		sent = false
		for i, r := range choices {
			if step > len(deltas[i]) {
				continue
			}
			delta, finish := object{}, any(f.finish(r))
			if step < len(deltas[i]) {
				delta, finish = deltas[i][step], nil
			}
			sent = true
			send([]object{{{"index", i}, {"delta", delta}, {"logprobs", nil}, {"finish_reason", finish}}}, nil)
		}
	}
	if x.call.usageChunk {
		send([]object{}, usageOf(x.usage()))
	}
	return append(events, event{data: []byte("[DONE]")})
}

// deltas returns the pieces of one choice's message.
func (f openAIChat) deltas(x *exchange, r Reply) []object {
	calls := x.toolCalls(r, "call_", 24)
	start := func(i int) object {
		return append(object{{"index", i}}, functionCall(calls[i], "")...)
	}
	first := object{{"role", "assistant"}, {"content", ""}}
	alone := r.Text == "" && r.Thinking == "" && len(calls) > 0
	if alone {
		first[1].value = nil
	}
	together := alone && len(calls) == 1 // a single call comes in one delta with the role
	if together {
		first = append(first, member{"tool_calls", []object{start(0)}})
	}
	deltas := []object{append(first, member{"refusal", nil})}
	for _, s := range r.Stream.split(r.Thinking, words) {
		deltas = append(deltas, object{{"content", nil}, {"reasoning_content", s}})
	}
	for _, s := range r.fragments() {
		deltas = append(deltas, object{{"content", s}})
	}
	for _, s := range r.Stream.split(r.Refusal, words) {
		deltas = append(deltas, object{{"refusal", s}})
	}
	for i, call := range calls {
		if !together {
			deltas = append(deltas, object{{"tool_calls", []object{start(i)}}})
		}
		for _, s := range r.Stream.split(call.Arguments, pieces) {
			deltas = append(deltas, object{{"tool_calls", []object{
				{{"index", i}, {"function", object{{"arguments", s}}}},
			}}})
		}
	}
	return deltas
}
