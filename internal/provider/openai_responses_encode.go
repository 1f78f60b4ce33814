package provider

import (
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

func (openAIResponses) EncodeRequest(req *Request) ([]byte, error) {
	if err := req.wantMessages(responsesAPI); err != nil {
		return nil, err
	}
	body, err := responsesParameters.encode(req)
	if err != nil {
		return nil, err
	}
	if req.Model != "" {
		body["model"] = jsonText(req.Model)
	}
	if req.Tools != nil {
		body["tools"] = encodeResponsesTools(req.Tools)
	}
	var input list
	for i, m := range req.Messages {
		text := isPlainText(m.Content)
		switch {
		case text && marked(m.Metadata, wireInstructions):
			body["instructions"] = jsonText(*m.Content[0].Text)
		case text && marked(m.Metadata, wireInput) && i == len(req.Messages)-1 && input == nil:
			body["input"] = jsonText(*m.Content[0].Text)
		default:
			items, err := encodeResponsesItems(i, m)
			if err != nil {
				return nil, err
			}
			input = append(input, items...)
		}
	}
	if input != nil {
		body["input"] = jsonList(input)
	}
	overlay(body, req.options())
	return jsonObject(body), nil
}

func encodeResponsesTools(tools []modelio.ToolDefinition) json.RawMessage {
	all := list{}
	for _, tool := range tools {
		o := modelio.Object{}
		if _, whole := tool.Metadata["type"]; !whole {
			o = encodeFunctionTool(tool, "parameters")
			o["type"] = jsonText("function")
		}
		overlay(o, tool.Metadata)
		all = append(all, jsonObject(o))
	}
	return jsonList(all)
}

// encodeResponsesItems writes a message as the items that the API has for its parts: calls and
// their results are items of their own.
func encodeResponsesItems(at int, m modelio.Message) (list, error) {
	switch {
	case marked(m.Metadata, wireItem) && len(m.Content) == 1 && m.Content[0].Custom != nil:
		return list{jsonObject(m.Content[0].Custom)}, nil
	case metadataWord(m.Metadata, "type") == "reasoning":
		return list{encodeResponsesReasoning(m.Content, m.Metadata)}, nil
	}
	var items, blocks list
	var content []modelio.Part
	flush := func() {
		if content == nil && len(m.Content) > 0 {
			return
		}
		o := modelio.Object{"role": jsonText(wireRole(m.Role))}
		if isPlainText(content) && !marked(m.Metadata, wireArray) {
			o["content"] = jsonText(*content[0].Text)
		} else if content != nil {
			o["content"] = jsonList(blocks)
		}
		overlay(o, m.Metadata)
		items = append(items, jsonObject(o))
		content, blocks = nil, nil
	}
	for i, part := range m.Content {
		var item json.RawMessage
		switch {
		case part.ToolRequest != nil:
			item = encodeResponsesCall(part)
		case part.ToolResponse != nil:
			result, err := encodeResponsesResult(at, i, part)
			if err != nil {
				return nil, err
			}
			item = result
		case part.Reasoning != nil:
			item = encodeResponsesReasoning([]modelio.Part{part}, nil)
		default:
			block, err := encodeResponsesBlock(at, i, m.Role, part)
			if err != nil {
				return nil, err
			}
			content, blocks = append(content, part), append(blocks, block)
			continue
		}
		flush()
		items = append(items, item)
	}
	flush()
	return items, nil
}

func encodeResponsesCall(part modelio.Part) json.RawMessage {
	call := part.ToolRequest
	o := modelio.Object{"name": jsonText(call.Name), "call_id": jsonText(call.Ref)}
	if metadataWord(part.Metadata, "type") == "custom_tool_call" {
		o["input"] = argumentsOf(call.Input)
	} else {
		o["type"], o["arguments"] = jsonText("function_call"), argumentsOf(call.Input)
	}
	overlay(o, part.Metadata)
	return jsonObject(o)
}

func encodeResponsesResult(message, at int, part modelio.Part) (json.RawMessage, error) {
	result := part.ToolResponse
	o := modelio.Object{"type": jsonText("function_call_output"), "call_id": jsonText(result.Ref)}
	if result.Content != nil {
		blocks := list{}
		for _, p := range result.Content {
			block, err := encodeResponsesBlock(message, at, modelio.RoleTool, p)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, block)
		}
		o["output"] = jsonList(blocks)
	} else {
		o["output"] = argumentsOf(result.Output)
	}
	overlay(o, part.Metadata)
	return jsonObject(o), nil
}

// encodeResponsesReasoning writes reasoning, the item of which says extra.
func encodeResponsesReasoning(parts []modelio.Part, extra modelio.Object) json.RawMessage {
	summary, content := list{}, list{}
	for _, part := range parts {
		if part.Reasoning == nil {
			continue
		}
		kind := metadataWord(part.Metadata, "type")
		if kind == "reasoning_text" {
			content = append(content, jsonObject(modelio.Object{"type": jsonText(kind), "text": jsonText(*part.Reasoning)}))
		} else {
			summary = append(summary, jsonObject(modelio.Object{"type": jsonText("summary_text"), "text": jsonText(*part.Reasoning)}))
		}
	}
	o := modelio.Object{"type": jsonText("reasoning"), "summary": jsonList(summary)}
	if len(content) > 0 {
		o["content"] = jsonList(content)
	}
	overlay(o, extra)
	return jsonObject(o)
}

func encodeResponsesBlock(message, at int, role modelio.Role, part modelio.Part) (json.RawMessage, error) {
	o := modelio.Object{}
	kind := metadataWord(part.Metadata, "type")
	switch {
	case part.Custom != nil:
		overlay(o, part.Custom)
	case part.Text != nil && kind == "refusal":
		o["refusal"] = jsonText(*part.Text)
	case part.Text != nil:
		o["type"], o["text"] = jsonText(responsesTextKind(role)), jsonText(*part.Text)
	case part.Media != nil:
		if kind == "" {
			kind = responsesMediaKind(part.Media)
		}
		o["type"] = jsonText(kind)
		switch {
		case kind == "input_image":
			o["image_url"] = jsonText(part.Media.URL)
		case strings.HasPrefix(part.Media.URL, "data:"):
			o["file_data"] = jsonText(part.Media.URL)
		default:
			o["file_url"] = jsonText(part.Media.URL)
		}
	default:
		return nil, wireFailure(responsesAPI, message, at, "a part of a kind that the API has no block for")
	}
	overlay(o, part.Metadata)
	return jsonObject(o), nil
}
