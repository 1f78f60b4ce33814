package encoder

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// Responses encodes a request for OpenAI's responses API.
func Responses(req *modelio.Request) []byte {
	body := encodeBody(req, provider.ResponsesParameters, isUntyped, encodeResponsesTool)
	var input list
	for i, m := range req.Messages {
		text := provider.IsPlainText(m.Content)
		switch {
		case text && provider.Marked(m.Metadata, provider.WireInstructions):
			body["instructions"] = jsontext.Text(*m.Content[0].Text)
		case text && provider.Marked(m.Metadata, provider.WireInput) && i == len(req.Messages)-1 && input == nil:
			body["input"] = jsontext.Text(*m.Content[0].Text)
		default:
			input = append(input, encodeResponsesItems(m)...)
		}
	}
	jsontext.KeepList(&body, "input", input)
	return overlaid(body, req.Options)
}

func encodeResponsesTool(tool modelio.ToolDefinition) modelio.Object {
	o := encodeFunctionTool(tool, "parameters")
	o["type"] = jsontext.Text("function")
	return o
}

// encodeResponsesItems encodes a message as the API's items for its parts: tool calls and their results are items of
// their own.
func encodeResponsesItems(m modelio.Message) (items list) {
	switch {
	case provider.Marked(m.Metadata, provider.WireItem) && len(m.Content) == 1 && m.Content[0].Custom != nil:
		return list{jsontext.ObjectText(m.Content[0].Custom)}
	case provider.MetadataWord(m.Metadata, "type") == "reasoning":
		return list{encodeResponsesReasoning(m.Content, m.Metadata)}
	}
	var content []modelio.Part
	flush := func() {
		if content != nil || len(m.Content) == 0 {
			items, content = append(items, encodeResponsesMessage(m, content)), nil
		}
	}
	for _, part := range m.Content {
		var item json.RawMessage
		switch {
		case part.ToolRequest != nil:
			item = encodeResponsesCall(part)
		case part.ToolResponse != nil:
			item = encodeResponsesResult(part)
		case part.Reasoning != nil:
			item = encodeResponsesReasoning([]modelio.Part{part}, nil)
		default:
			content = append(content, part)
			continue
		}
		flush()
		items = append(items, item)
	}
	flush()
	return items
}

// encodeResponsesMessage encodes the message with some of the content of m.
func encodeResponsesMessage(m modelio.Message, content []modelio.Part) json.RawMessage {
	o := texts("role", provider.WireRole(m.Role))
	if content != nil {
		asText := !provider.Marked(m.Metadata, provider.WireArray)
		o["content"] = encodeContent(content, asText, responsesBlock(m.Role))
	}
	return overlaid(o, m.Metadata)
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

func encodeResponsesResult(part modelio.Part) json.RawMessage {
	result := part.ToolResponse
	o := texts("type", "function_call_output", "call_id", result.Ref)
	o["output"] = encodeOutput(result, responsesBlock(modelio.RoleTool))
	return overlaid(o, part.Metadata)
}

// encodeResponsesReasoning encodes reasoning; extra are the other members of its item.
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
	jsontext.KeepList(&o, "content", content)
	return overlaid(o, extra)
}

// responsesBlock returns the function that encodes blocks of a message by its role.
func responsesBlock(role modelio.Role) blockWriter {
	return func(part modelio.Part) modelio.Object {
		kind := provider.MetadataWord(part.Metadata, "type")
		switch {
		case part.Text != nil && kind == "refusal":
			return texts("refusal", *part.Text)
		case part.Text != nil:
			return texts("type", provider.ResponsesTextKind(role), "text", *part.Text)
		case part.Media != nil:
			kind = cmp.Or(kind, provider.ResponsesMediaKind(part.Media))
			return texts("type", kind, responsesMember(kind, part.Media.URL), part.Media.URL)
		}
		return nil
	}
}

// responsesMember returns the member of a block for a URL.
func responsesMember(kind, url string) string {
	switch {
	case kind == "input_image":
		return "image_url"
	case strings.HasPrefix(url, "data:"):
		return "file_data"
	}
	return "file_url"
}
