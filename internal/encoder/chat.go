package encoder

import (
	"cmp"
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// Chat encodes a request for OpenAI's chat completions API.
func Chat(req *modelio.Request) []byte {
	body := encodeBody(req, provider.ChatParameters, isUntyped, encodeChatTool)
	messages := list{}
	for _, m := range req.Messages {
		if m.Role == modelio.RoleTool {
			messages = append(messages, encodeChatResults(m)...)
		} else {
			messages = append(messages, encodeChatMessage(m))
		}
	}
	body["messages"] = jsontext.List(messages)
	withoutAlias(req, body, "max_completion_tokens", "max_tokens", req.MaxTokens)
	withoutAlias(req, body, "random_seed", "seed", req.Seed)
	return overlaid(body, req.Options)
}

// withoutAlias drops the usual member if another one, which stays in Options, has the same value.
func withoutAlias(r *modelio.Request, body modelio.Object, name, usual string, field *json.Number) {
	if field != nil && string(r.Options[name]) == string(*field) {
		delete(body, usual)
	}
}

func encodeChatTool(tool modelio.ToolDefinition) modelio.Object {
	o := texts("type", "function")
	o["function"] = jsontext.ObjectText(encodeFunctionTool(tool, "parameters"))
	return o
}

func encodeChatMessage(m modelio.Message) json.RawMessage {
	o := texts("role", provider.WireRole(m.Role))
	var content []modelio.Part
	var calls list
	for _, part := range m.Content {
		switch {
		case part.ToolRequest != nil && provider.Marked(part.Metadata, provider.WireFunctionCall):
			o["function_call"] = encodeFunctionCall(part)
		case part.ToolRequest != nil:
			calls = append(calls, encodeToolCall(part))
		case part.Reasoning != nil && !isThinkingBlock(part):
			member := cmp.Or(provider.MetadataWord(part.Metadata, "$wire"), "reasoning_content")
			o[member] = jsontext.Text(*part.Reasoning)
		case part.Text != nil && provider.Marked(part.Metadata, provider.WireRefusal):
			o["refusal"] = jsontext.Text(*part.Text)
		default:
			content = append(content, part)
		}
	}
	if content != nil {
		o["content"] = encodeContent(content, !provider.Marked(m.Metadata, provider.WireArray), encodeChatBlock)
	}
	jsontext.KeepList(&o, "tool_calls", calls)
	return overlaid(o, m.Metadata)
}

// isThinkingBlock reports whether reasoning is a block of the content.
func isThinkingBlock(part modelio.Part) bool {
	return provider.Marked(part.Metadata, provider.WireThinking) || provider.Marked(part.Metadata, provider.WireThought)
}

// encodeChatResults encodes one message for each tool response of m, as the API requires.
func encodeChatResults(m modelio.Message) (all list) {
	for _, part := range m.Content {
		result := cmp.Or(part.ToolResponse, &modelio.ToolResponse{})
		o := texts("role", "tool")
		jsontext.KeepText(&o, "tool_call_id", result.Ref)
		if result.Content != nil || result.Output != nil {
			o["content"] = encodeOutput(result, encodeChatBlock)
		}
		overlay(o, part.Metadata)
		all = append(all, overlaid(o, m.Metadata))
	}
	return all
}

func encodeChatBlock(part modelio.Part) modelio.Object {
	kind := provider.MetadataWord(part.Metadata, "type")
	switch {
	case part.Text != nil:
		kind = cmp.Or(kind, "text")
		return texts("type", kind, kind, *part.Text)
	case part.Reasoning != nil && provider.Marked(part.Metadata, provider.WireThought):
		return texts("type", "thinking", "thinking", *part.Reasoning)
	case part.Reasoning != nil:
		o := texts("type", "thinking")
		o["thinking"] = jsontext.List(list{jsontext.ObjectText(texts("type", "text", "text", *part.Reasoning))})
		return o
	case part.Media != nil:
		kind = cmp.Or(kind, provider.ChatMediaKind(part.Media))
		return modelio.Object{"type": jsontext.Text(kind), kind: encodeChatMedia(kind, part)}
	}
	return nil
}

func encodeChatMedia(kind string, part modelio.Part) json.RawMessage {
	contentType, data, _ := provider.SplitDataURL(part.Media.URL)
	switch {
	case kind == "input_audio":
		_, format := provider.MediaFormat(contentType)
		return jsontext.ObjectText(texts("format", format, "data", data))
	case kind == "file":
		return jsontext.ObjectText(texts("file_data", part.Media.URL))
	case provider.Marked(part.Metadata, provider.WireString):
		return jsontext.Text(part.Media.URL)
	}
	return jsontext.ObjectText(texts("url", part.Media.URL))
}

func encodeToolCall(part modelio.Part) json.RawMessage {
	call := part.ToolRequest
	kind, inner := "function", modelio.Object{"name": jsontext.Text(call.Name), "arguments": argumentsOf(call.Input)}
	switch {
	case provider.MetadataWord(part.Metadata, "type") == "custom":
		kind, inner = "custom", modelio.Object{"name": jsontext.Text(call.Name), "input": argumentsOf(call.Input)}
	case provider.Marked(part.Metadata, provider.WireBare):
		delete(inner, "arguments")
	}
	o := modelio.Object{kind: jsontext.ObjectText(inner)}
	if !provider.Marked(part.Metadata, provider.WireUntyped) {
		o["type"] = jsontext.Text(kind)
	}
	jsontext.KeepText(&o, "id", call.Ref)
	return overlaid(o, part.Metadata)
}

func encodeFunctionCall(part modelio.Part) json.RawMessage {
	call := part.ToolRequest
	return overlaid(modelio.Object{"name": jsontext.Text(call.Name), "arguments": argumentsOf(call.Input)}, part.Metadata)
}
