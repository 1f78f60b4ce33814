package foreign

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// SF defines that a message has a role and a content, and that there are tools and tool calls. It leaves their format
// to the provider, so they are decoded by the codec whose API uses that format.

// The APIs whose formats messages, tools and tool calls of other programs have.
const (
	chatAPI   = "openai.chat"
	claudeAPI = "anthropic.messages"
)

// claudeBlocks are the types of content blocks that do not exist in chat completions.
var claudeBlocks = []string{"tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"}

// wireRoles are the roles of providers and of the format.
var wireRoles = []string{"system", "developer", "user", "assistant", "model", "tool", "function"}

// conversation translates messages and tools. A value of unknown form is left unchanged, which is an error.
func (r *sfRecord) conversation() {
	request := r.parts["request"]
	tools := jsontext.ValueOf(request["tools"])
	if isWireTools(tools) {
		api := chatAPI
		if slices.ContainsFunc(tools.Values(),
			func(tool jsontext.Value) bool { return tool.Member("input_schema").Present() }) {
			api = claudeAPI
		}
		if decoded := decodeRequest(api, modelio.Object{"messages": []byte("[]"), "tools": tools.Raw()}); decoded != nil {
			request["tools"] = textOf(decoded.Tools)
		}
	}
	messages, err := jsontext.Parse(request["messages"])
	if err != nil || !slices.ContainsFunc(messages.Root().Values(), isWireMessage) {
		return
	}
	api := chatAPI
	if slices.ContainsFunc(messages.Root().Values(), hasClaudeBlocks) {
		api = claudeAPI
	}
	var all []json.RawMessage
	for _, said := range messages.Root().Elements() {
		text := said.Raw()
		if isStrange(said) {
			text = json.RawMessage(`{"role":"user","content":""}`) // stands in for it
		}
		all = append(all, text)
	}
	decoded := decodeRequest(api, modelio.Object{"messages": jsontext.List(all)})
	if decoded == nil || len(decoded.Messages) != len(all) {
		return
	}
	for i, said := range messages.Root().Elements() {
		if isStrange(said) {
			all[i] = strange(said)
		} else if all[i] = said.Raw(); isWireMessage(said) {
			message := &decoded.Messages[i]
			delete(message.Metadata, "$wire") // the spelling of a program that is not called again
			all[i] = textOf(message)
		}
	}
	request["messages"] = jsontext.List(all)
}

// answer translates the tool calls of an answer, and its finish reason.
func (r *sfRecord) answer() {
	response := r.parts["response"]
	reason, said := jsontext.WordOf(response["finish_reason"]), jsontext.ValueOf(response["tool_calls"])
	wire := slices.ContainsFunc(said.Values(), func(call jsontext.Value) bool {
		return !call.Member("name").IsString() || !call.Member("ref").IsString()
	})
	known := slices.Contains([]string{"stop", "length", "blocked", "other"}, reason)
	if reason == "" || !wire && known {
		return
	}
	message := modelio.Object{"role": []byte(`"assistant"`), "content": response["content"]}
	if wire {
		if message["tool_calls"] = chatCalls(said); message["tool_calls"] == nil {
			return
		}
	}
	answer, err := codecOf(chatAPI).DecodeResponse(&provider.Answer{
		Status: http.StatusOK, ContentType: "application/json",
		Body: jsontext.ObjectText(
			modelio.Object{"choices": jsontext.List([]json.RawMessage{jsontext.ObjectText(modelio.Object{
				"message": jsontext.ObjectText(message), "finish_reason": response["finish_reason"],
			})})}),
	})
	if err != nil || len(answer.Candidates) != 1 {
		return
	}
	candidate := answer.Candidates[0]
	if !known {
		response["finish_reason"] = jsontext.Text(candidate.FinishReason)
		response["finish_reason_raw"] = jsontext.Text(candidate.FinishReasonRaw)
	}
	if !wire {
		return
	}
	var all []json.RawMessage
	plain := true
	for _, part := range candidate.Message.Content {
		if call := part.ToolRequest; call != nil {
			all = append(all, textOf(modelio.ToolRequest{Name: call.Name, Ref: call.Ref, Input: call.Input}))
		}
		plain = plain && len(part.Metadata) == 0
	}
	if response["tool_calls"] = jsontext.List(all); !plain {
		response["parts"] = textOf(candidate.Message.Content)
	}
	if string(response["content"]) == "null" { // providers send null next to tool calls
		response["content"] = []byte(`""`)
	}
}

// chatCalls returns tool calls in the format of chat completions; nil if one has an unknown format.
func chatCalls(calls jsontext.Value) json.RawMessage {
	var all []json.RawMessage
	for _, call := range calls.Elements() {
		if call.Member("function").IsObject() {
			all = append(all, call.Raw())
			continue
		}
		arguments := call.Member("input")
		if !arguments.Present() {
			arguments = call.Member("arguments")
		}
		text, isText := arguments.Text()
		if !isText {
			text = string(arguments.Raw())
		}
		id := call.Member("id")
		if !id.IsString() {
			id = call.Member("call_id")
		}
		if !call.Member("name").IsString() || !arguments.Present() || !id.IsString() {
			return nil
		}
		all = append(all, jsontext.ObjectText(modelio.Object{
			"id": id.Raw(), "type": []byte(`"function"`),
			"function": jsontext.ObjectText(modelio.Object{"name": call.Member("name").Raw(), "arguments": jsontext.Text(text)}),
		}))
	}
	return jsontext.List(all)
}

// isWireMessage reports whether a message is in a provider's format rather than in the snapshot format.
func isWireMessage(m jsontext.Value) bool {
	isTyped := func(block jsontext.Value) bool { return block.Member("type").IsString() }
	return slices.Contains([]string{"assistant", "developer", "function"}, m.Member("role").Word()) ||
		len(m.Rest("role", "content", "metadata")) > 0 ||
		m.Member("content").IsNull() || slices.ContainsFunc(m.Member("content").Values(), isTyped)
}

// isStrange reports whether a message has an unknown role, or content that is not a text, a list, or null with a tool
// call.
func isStrange(m jsontext.Value) bool {
	content := m.Member("content")
	said := content.IsString() || content.IsArray() ||
		(content.IsNull() || !content.Present()) && m.Member("tool_calls").IsArray()
	return !said || !slices.Contains(wireRoles, m.Member("role").Word())
}

// strange returns a message to be refused, without parts that are not at fault.
func strange(m jsontext.Value) json.RawMessage {
	o := modelio.Object(m.Object())
	if slices.Contains(wireRoles, m.Member("role").Word()) {
		o["role"] = []byte(`"user"`)
	}
	return jsontext.ObjectText(o)
}

func hasClaudeBlocks(m jsontext.Value) bool {
	isClaudes := func(block jsontext.Value) bool { return slices.Contains(claudeBlocks, block.Member("type").Word()) }
	return slices.ContainsFunc(m.Member("content").Values(), isClaudes)
}

// isWireTools reports whether tools are in a provider's format.
func isWireTools(tools jsontext.Value) bool {
	return slices.ContainsFunc(tools.Values(), func(tool jsontext.Value) bool {
		return tool.Member("function").IsObject() || tool.Member("input_schema").IsObject()
	})
}

func codecOf(api string) *provider.Codec {
	codec, _ := provider.Named(api) // both exist
	return codec
}

// decodeRequest decodes a body of an API; nil if the API does not accept it.
func decodeRequest(api string, body modelio.Object) *modelio.Request {
	body["model"] = []byte(`"m"`)
	req, err := codecOf(api).DecodeRequest(&provider.Wire{
		Method: http.MethodPost, URL: &url.URL{}, Header: http.Header{}, ContentType: "application/json",
		Body: jsontext.ObjectText(body),
	})
	if err != nil {
		return nil
	}
	return req
}

// textOf returns the JSON of a value, with numbers kept that do not fit a float64 (design R1).
func textOf(v any) json.RawMessage {
	text, _ := json.Marshal(v) // it was decoded from JSON
	kept, _ := canon.KeepNumbers(text)
	return kept
}
