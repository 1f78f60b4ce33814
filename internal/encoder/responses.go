package encoder

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

const responsesAPI = "openai.responses"

// Responses writes a request to the responses API of OpenAI.
func Responses(req *modelio.Request) ([]byte, error) {
	body, err := encodeBody(req, responsesAPI, provider.ResponsesParameters, isUntyped, encodeResponsesTool)
	if err != nil {
		return nil, err
	}
	var input list
	for i, m := range req.Messages {
		text := provider.IsPlainText(m.Content)
		switch {
		case text && provider.Marked(m.Metadata, provider.WireInstructions):
			body["instructions"] = jsontext.Text(*m.Content[0].Text)
		case text && provider.Marked(m.Metadata, provider.WireInput) && i == len(req.Messages)-1 && input == nil:
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
	return overlaid(body, req.Options), nil
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
	case provider.Marked(m.Metadata, provider.WireItem) && len(m.Content) == 1 && m.Content[0].Custom != nil:
		return list{jsontext.ObjectText(m.Content[0].Custom)}, nil
	case provider.MetadataWord(m.Metadata, "type") == "reasoning":
		return list{encodeResponsesReasoning(m.Content, m.Metadata)}, nil
	}
	var items list
	var content []modelio.Part
	flush := func(end int) error {
		if content == nil && len(m.Content) > 0 {
			return nil
		}
		message, err := encodeResponsesMessage(at, end-len(content), m, content)
		items, content = append(items, message), nil
		return err
	}
	for i, part := range m.Content {
		var item json.RawMessage
		var err error
		switch {
		case part.ToolRequest != nil:
			item = encodeResponsesCall(part)
		case part.ToolResponse != nil:
			item, err = encodeResponsesResult(at, i, part)
		case part.Reasoning != nil:
			item = encodeResponsesReasoning([]modelio.Part{part}, nil)
		default:
			content = append(content, part)
			continue
		}
		if err := cmp.Or(err, flush(i)); err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, flush(len(m.Content))
}

// encodeResponsesMessage writes the message that has content, the parts of m from the first one on.
func encodeResponsesMessage(at, first int, m modelio.Message, content []modelio.Part) (json.RawMessage, error) {
	o := texts("role", provider.WireRole(m.Role))
	if content != nil {
		asText := !provider.Marked(m.Metadata, provider.WireArray)
		written, err := encodeContent(content, asText, responsesWriter(at, first, 1, m.Role))
		if err != nil {
			return nil, err
		}
		o["content"] = written
	}
	return overlaid(o, m.Metadata), nil
}

func encodeResponsesCall(part modelio.Part) json.RawMessage {
	call := part.ToolRequest
	o := texts("name", call.Name, "call_id", call.Ref)
	if provider.MetadataWord(part.Metadata, "type") == "custom_tool_call" {
		o["input"] = argumentsOf(call.Input)
	} else {
		o["type"], o["arguments"] = jsontext.Text("function_call"), argumentsOf(call.Input)
	}
	return overlaid(o, part.Metadata)
}

func encodeResponsesResult(message, at int, part modelio.Part) (json.RawMessage, error) {
	result := part.ToolResponse
	o := texts("type", "function_call_output", "call_id", result.Ref)
	output, err := encodeOutput(result, responsesWriter(message, at, 0, modelio.RoleTool))
	if err != nil {
		return nil, err
	}
	o["output"] = output
	return overlaid(o, part.Metadata), nil
}

// encodeResponsesReasoning writes reasoning, the item of which says extra.
func encodeResponsesReasoning(parts []modelio.Part, extra modelio.Object) json.RawMessage {
	summary, content := list{}, list{}
	for _, part := range parts {
		if part.Reasoning == nil {
			continue
		}
		kind := provider.MetadataWord(part.Metadata, "type")
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
	return overlaid(o, extra)
}

// responsesWriter returns what writes blocks of a message by role. The first is of its part at, and each
// further one of the part that is step after it.
func responsesWriter(message, at, step int, role modelio.Role) blockWriter {
	return func(i int, part modelio.Part) (modelio.Object, error) {
		return encodeResponsesBlock(message, at+i*step, role, part)
	}
}

func encodeResponsesBlock(message, at int, role modelio.Role, part modelio.Part) (modelio.Object, error) {
	kind := provider.MetadataWord(part.Metadata, "type")
	switch {
	case part.Text != nil && kind == "refusal":
		return texts("refusal", *part.Text), nil
	case part.Text != nil:
		return texts("type", provider.ResponsesTextKind(role), "text", *part.Text), nil
	case part.Media != nil:
		kind = cmp.Or(kind, provider.ResponsesMediaKind(part.Media))
		name := "file_url"
		if kind == "input_image" {
			name = "image_url"
		} else if strings.HasPrefix(part.Media.URL, "data:") {
			name = "file_data"
		}
		return texts("type", kind, name, part.Media.URL), nil
	}
	return nil, failure(responsesAPI, message, at, "a part of a kind that the API has no block for")
}
