package provider

import (
	"encoding/json"
	"fmt"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// encodeChatMessages writes messages as the chat completions API has them. api is for errors:
// other APIs share the form.
func encodeChatMessages(api string, messages []modelio.Message) (json.RawMessage, error) {
	list := []json.RawMessage{}
	for i, m := range messages {
		if m.Role == modelio.RoleTool {
			results, err := encodeChatResults(api, i, m)
			if err != nil {
				return nil, err
			}
			list = append(list, results...)
			continue
		}
		message, err := encodeChatMessage(api, i, m)
		if err != nil {
			return nil, err
		}
		list = append(list, message)
	}
	return jsontext.List(list), nil
}

func encodeChatMessage(api string, at int, m modelio.Message) (json.RawMessage, error) {
	o := modelio.Object{"role": jsontext.Text(wireRole(m.Role))}
	var content []modelio.Part
	var calls []json.RawMessage
	for i, part := range m.Content {
		switch {
		case part.ToolRequest != nil && marked(part.Metadata, wireFunctionCall):
			o["function_call"] = encodeFunctionCall(part)
		case part.ToolRequest != nil:
			calls = append(calls, encodeToolCall(part))
		case part.Reasoning != nil && !marked(part.Metadata, wireThinking) && !marked(part.Metadata, wireThought):
			o[reasoningMember(part)] = jsontext.Text(*part.Reasoning)
		case part.Text != nil && marked(part.Metadata, wireRefusal):
			o["refusal"] = jsontext.Text(*part.Text)
		case part.ToolResponse != nil:
			return nil, wireFailure(api, at, i, "a tool response outside a message of role tool")
		default:
			content = append(content, part)
		}
	}
	switch {
	case isPlainText(content) && !marked(m.Metadata, wireArray):
		o["content"] = jsontext.Text(*content[0].Text)
	case content != nil:
		blocks, err := encodeChatBlocks(content)
		if err != nil {
			return nil, wireFailure(api, at, -1, err.Error())
		}
		o["content"] = blocks
	}
	if calls != nil {
		o["tool_calls"] = jsontext.List(calls)
	}
	overlay(o, m.Metadata)
	return jsontext.ObjectText(o), nil
}

// reasoningMember returns the member of a message that reasoning is in.
func reasoningMember(part modelio.Part) string {
	for _, name := range []string{wireReasoning, wireToolPlan} {
		if marked(part.Metadata, name) {
			return name
		}
	}
	return "reasoning_content"
}

// encodeChatResults writes one message for each tool response of m, as the API has it.
func encodeChatResults(api string, at int, m modelio.Message) ([]json.RawMessage, error) {
	var list []json.RawMessage
	for i, part := range m.Content {
		result := part.ToolResponse
		if result == nil {
			return nil, wireFailure(api, at, i, "a message of role tool may hold tool responses only")
		}
		o := modelio.Object{"role": jsontext.Text("tool")}
		if result.Ref != "" {
			o["tool_call_id"] = jsontext.Text(result.Ref)
		}
		switch {
		case result.Content != nil:
			blocks, err := encodeChatBlocks(result.Content)
			if err != nil {
				return nil, wireFailure(api, at, i, err.Error())
			}
			o["content"] = blocks
		case result.Output != nil:
			o["content"] = argumentsOf(result.Output)
		}
		overlay(o, part.Metadata)
		overlay(o, m.Metadata)
		list = append(list, jsontext.ObjectText(o))
	}
	return list, nil
}

func encodeChatBlocks(parts []modelio.Part) (json.RawMessage, error) {
	list := make([]json.RawMessage, len(parts))
	for i, part := range parts {
		o, err := encodeChatBlock(part)
		if err != nil {
			return nil, fmt.Errorf("content %d: %w", i, err)
		}
		overlay(o, part.Metadata)
		list[i] = jsontext.ObjectText(o)
	}
	return jsontext.List(list), nil
}

func encodeChatBlock(part modelio.Part) (modelio.Object, error) {
	kind := "text"
	if doc, err := jsontext.Parse(part.Metadata["type"]); err == nil {
		kind = doc.Root().Word()
	} else if part.Media != nil {
		kind = chatMediaKind(part.Media)
	}
	switch {
	case part.Custom != nil:
		o := modelio.Object{}
		overlay(o, part.Custom)
		return o, nil
	case part.Text != nil:
		return modelio.Object{"type": jsontext.Text(kind), kind: jsontext.Text(*part.Text)}, nil
	case part.Reasoning != nil:
		if marked(part.Metadata, wireThought) {
			return modelio.Object{"type": jsontext.Text("thinking"), "thinking": jsontext.Text(*part.Reasoning)}, nil
		}
		text := modelio.Object{"type": jsontext.Text("text"), "text": jsontext.Text(*part.Reasoning)}
		o := texts("type", "thinking")
		o["thinking"] = jsontext.List(list{jsontext.ObjectText(text)})
		return o, nil
	case part.Media != nil:
		return modelio.Object{"type": jsontext.Text(kind), kind: encodeChatMedia(kind, part)}, nil
	}
	return nil, fmt.Errorf("a part of a kind that the API has no block for")
}

func encodeChatMedia(kind string, part modelio.Part) json.RawMessage {
	contentType, data, _ := splitDataURL(part.Media.URL)
	switch {
	case kind == "input_audio":
		return jsontext.ObjectText(texts("format", audioFormat(contentType), "data", data))
	case kind == "file":
		return jsontext.ObjectText(modelio.Object{"file_data": jsontext.Text(part.Media.URL)})
	case marked(part.Metadata, wireString):
		return jsontext.Text(part.Media.URL)
	}
	return jsontext.ObjectText(modelio.Object{"url": jsontext.Text(part.Media.URL)})
}

func encodeToolCall(part modelio.Part) json.RawMessage {
	call := part.ToolRequest
	o := modelio.Object{}
	if call.Ref != "" {
		o["id"] = jsontext.Text(call.Ref)
	}
	if string(part.Metadata["type"]) == `"custom"` {
		o["custom"] = jsontext.ObjectText(modelio.Object{"name": jsontext.Text(call.Name), "input": argumentsOf(call.Input)})
	} else {
		function := modelio.Object{"name": jsontext.Text(call.Name), "arguments": argumentsOf(call.Input)}
		if marked(part.Metadata, wireBare) {
			delete(function, "arguments")
		}
		o["function"] = jsontext.ObjectText(function)
		if !marked(part.Metadata, wireUntyped) {
			o["type"] = jsontext.Text("function")
		}
	}
	overlay(o, part.Metadata)
	return jsontext.ObjectText(o)
}

func encodeFunctionCall(part modelio.Part) json.RawMessage {
	o := modelio.Object{"name": jsontext.Text(part.ToolRequest.Name), "arguments": argumentsOf(part.ToolRequest.Input)}
	overlay(o, part.Metadata)
	return jsontext.ObjectText(o)
}
