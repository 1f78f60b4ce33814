package provider

import (
	"encoding/json"
	"fmt"

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
	return jsonList(list), nil
}

func encodeChatMessage(api string, at int, m modelio.Message) (json.RawMessage, error) {
	o := modelio.Object{"role": jsonText(wireRole(m.Role))}
	var content []modelio.Part
	var calls []json.RawMessage
	for i, part := range m.Content {
		switch {
		case part.ToolRequest != nil && marked(part.Metadata, wireFunctionCall):
			o["function_call"] = encodeFunctionCall(part)
		case part.ToolRequest != nil:
			calls = append(calls, encodeToolCall(part))
		case part.Reasoning != nil && !marked(part.Metadata, wireThinking) && !marked(part.Metadata, wireThought):
			o[reasoningMember(part)] = jsonText(*part.Reasoning)
		case part.Text != nil && marked(part.Metadata, wireRefusal):
			o["refusal"] = jsonText(*part.Text)
		case part.ToolResponse != nil:
			return nil, wireFailure(api, at, i, "a tool response outside a message of role tool")
		default:
			content = append(content, part)
		}
	}
	switch {
	case isPlainText(content) && !marked(m.Metadata, wireArray):
		o["content"] = jsonText(*content[0].Text)
	case content != nil:
		blocks, err := encodeChatBlocks(content)
		if err != nil {
			return nil, wireFailure(api, at, -1, err.Error())
		}
		o["content"] = blocks
	}
	if calls != nil {
		o["tool_calls"] = jsonList(calls)
	}
	overlay(o, m.Metadata)
	return jsonObject(o), nil
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
		o := modelio.Object{"role": jsonText("tool")}
		if result.Ref != "" {
			o["tool_call_id"] = jsonText(result.Ref)
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
		list = append(list, jsonObject(o))
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
		list[i] = jsonObject(o)
	}
	return jsonList(list), nil
}

func encodeChatBlock(part modelio.Part) (modelio.Object, error) {
	kind := "text"
	if doc, err := parse(part.Metadata["type"]); err == nil {
		kind = doc.root().word()
	} else if part.Media != nil {
		kind = chatMediaKind(part.Media)
	}
	switch {
	case part.Custom != nil:
		o := modelio.Object{}
		overlay(o, part.Custom)
		return o, nil
	case part.Text != nil:
		return modelio.Object{"type": jsonText(kind), kind: jsonText(*part.Text)}, nil
	case part.Reasoning != nil:
		if marked(part.Metadata, wireThought) {
			return modelio.Object{"type": jsonText("thinking"), "thinking": jsonText(*part.Reasoning)}, nil
		}
		text := modelio.Object{"type": jsonText("text"), "text": jsonText(*part.Reasoning)}
		return modelio.Object{"type": jsonText("thinking"), "thinking": jsonList([]json.RawMessage{jsonObject(text)})}, nil
	case part.Media != nil:
		return modelio.Object{"type": jsonText(kind), kind: encodeChatMedia(kind, part)}, nil
	}
	return nil, fmt.Errorf("a part of a kind that the API has no block for")
}

func encodeChatMedia(kind string, part modelio.Part) json.RawMessage {
	contentType, data, _ := splitDataURL(part.Media.URL)
	switch {
	case kind == "input_audio":
		return jsonObject(modelio.Object{"format": jsonText(audioFormat(contentType)), "data": jsonText(data)})
	case kind == "file":
		return jsonObject(modelio.Object{"file_data": jsonText(part.Media.URL)})
	case marked(part.Metadata, wireString):
		return jsonText(part.Media.URL)
	}
	return jsonObject(modelio.Object{"url": jsonText(part.Media.URL)})
}

func encodeToolCall(part modelio.Part) json.RawMessage {
	call := part.ToolRequest
	o := modelio.Object{}
	if call.Ref != "" {
		o["id"] = jsonText(call.Ref)
	}
	if string(part.Metadata["type"]) == `"custom"` {
		o["custom"] = jsonObject(modelio.Object{"name": jsonText(call.Name), "input": argumentsOf(call.Input)})
	} else {
		function := modelio.Object{"name": jsonText(call.Name), "arguments": argumentsOf(call.Input)}
		if marked(part.Metadata, wireBare) {
			delete(function, "arguments")
		}
		o["function"] = jsonObject(function)
		if !marked(part.Metadata, wireUntyped) {
			o["type"] = jsonText("function")
		}
	}
	overlay(o, part.Metadata)
	return jsonObject(o)
}

func encodeFunctionCall(part modelio.Part) json.RawMessage {
	o := modelio.Object{"name": jsonText(part.ToolRequest.Name), "arguments": argumentsOf(part.ToolRequest.Input)}
	overlay(o, part.Metadata)
	return jsonObject(o)
}
