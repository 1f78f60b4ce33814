package provider

import (
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

func encodeResponses(req *modelio.Request) ([]byte, error) {
	body, err := encodeBody(req, responsesAPI, responsesParameters, isUntyped, encodeResponsesTool)
	if err != nil {
		return nil, err
	}
	var input list
	for i, m := range req.Messages {
		text := isPlainText(m.Content)
		switch {
		case text && marked(m.Metadata, wireInstructions):
			body["instructions"] = jsontext.Text(*m.Content[0].Text)
		case text && marked(m.Metadata, wireInput) && i == len(req.Messages)-1 && input == nil:
			body["input"] = jsontext.Text(*m.Content[0].Text)
		default:
			items, err := encodeResponsesItems(i, m)
			if err != nil {
				return nil, err
			}
			input = append(input, items...)
		}
	}
	if input != nil {
		body["input"] = jsontext.List(input)
	}
	overlay(body, req.Options)
	return jsontext.ObjectText(body), nil
}

func encodeResponsesTool(tool modelio.ToolDefinition) modelio.Object {
	o := encodeFunctionTool(tool, "parameters")
	o["type"] = jsontext.Text("function")
	return o
}

// encodeResponsesItems writes a message as the items that the API has for its parts: calls and
// their results are items of their own.
func encodeResponsesItems(at int, m modelio.Message) (list, error) {
	switch {
	case marked(m.Metadata, wireItem) && len(m.Content) == 1 && m.Content[0].Custom != nil:
		return list{jsontext.ObjectText(m.Content[0].Custom)}, nil
	case metadataWord(m.Metadata, "type") == "reasoning":
		return list{encodeResponsesReasoning(m.Content, m.Metadata)}, nil
	}
	var items, blocks list
	var content []modelio.Part
	flush := func() {
		if content == nil && len(m.Content) > 0 {
			return
		}
		o := modelio.Object{"role": jsontext.Text(wireRole(m.Role))}
		if isPlainText(content) && !marked(m.Metadata, wireArray) {
			o["content"] = jsontext.Text(*content[0].Text)
		} else if content != nil {
			o["content"] = jsontext.List(blocks)
		}
		overlay(o, m.Metadata)
		items = append(items, jsontext.ObjectText(o))
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
	o := modelio.Object{"name": jsontext.Text(call.Name), "call_id": jsontext.Text(call.Ref)}
	if metadataWord(part.Metadata, "type") == "custom_tool_call" {
		o["input"] = argumentsOf(call.Input)
	} else {
		o["type"], o["arguments"] = jsontext.Text("function_call"), argumentsOf(call.Input)
	}
	overlay(o, part.Metadata)
	return jsontext.ObjectText(o)
}

func encodeResponsesResult(message, at int, part modelio.Part) (json.RawMessage, error) {
	result := part.ToolResponse
	o := modelio.Object{"type": jsontext.Text("function_call_output"), "call_id": jsontext.Text(result.Ref)}
	if result.Content != nil {
		blocks := list{}
		for _, p := range result.Content {
			block, err := encodeResponsesBlock(message, at, modelio.RoleTool, p)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, block)
		}
		o["output"] = jsontext.List(blocks)
	} else {
		o["output"] = argumentsOf(result.Output)
	}
	overlay(o, part.Metadata)
	return jsontext.ObjectText(o), nil
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
			content = append(content, jsontext.ObjectText(texts("type", kind, "text", *part.Reasoning)))
		} else {
			summary = append(summary, jsontext.ObjectText(texts("type", "summary_text", "text", *part.Reasoning)))
		}
	}
	o := modelio.Object{"type": jsontext.Text("reasoning"), "summary": jsontext.List(summary)}
	if len(content) > 0 {
		o["content"] = jsontext.List(content)
	}
	overlay(o, extra)
	return jsontext.ObjectText(o)
}

func encodeResponsesBlock(message, at int, role modelio.Role, part modelio.Part) (json.RawMessage, error) {
	o := modelio.Object{}
	kind := metadataWord(part.Metadata, "type")
	switch {
	case part.Custom != nil:
		overlay(o, part.Custom)
	case part.Text != nil && kind == "refusal":
		o["refusal"] = jsontext.Text(*part.Text)
	case part.Text != nil:
		o["type"], o["text"] = jsontext.Text(responsesTextKind(role)), jsontext.Text(*part.Text)
	case part.Media != nil:
		if kind == "" {
			kind = responsesMediaKind(part.Media)
		}
		o["type"] = jsontext.Text(kind)
		switch {
		case kind == "input_image":
			o["image_url"] = jsontext.Text(part.Media.URL)
		case strings.HasPrefix(part.Media.URL, "data:"):
			o["file_data"] = jsontext.Text(part.Media.URL)
		default:
			o["file_url"] = jsontext.Text(part.Media.URL)
		}
	default:
		return nil, wireFailure(responsesAPI, message, at, "a part of a kind that the API has no block for")
	}
	overlay(o, part.Metadata)
	return jsontext.ObjectText(o), nil
}
