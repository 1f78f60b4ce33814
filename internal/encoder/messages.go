package encoder

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// Messages encodes a request for Anthropic's messages API.
func Messages(req *modelio.Request) []byte {
	body := encodeBody(req, provider.ClaudeParameters, provider.IsOwnTool, encodeClaudeTool)
	var system []modelio.Part // the API has one member for all system messages
	systems, asText := 0, false
	messages := list{}
	for _, m := range req.Messages {
		if _, inline := m.Metadata["role"]; m.Role != modelio.RoleSystem || inline {
			messages = append(messages, encodeClaudeMessage(m))
			continue
		}
		system, systems = append(system, m.Content...), systems+1
		asText = provider.Marked(m.Metadata, provider.WireString)
	}
	if systems > 0 {
		body["system"] = encodeContent(system, asText, encodeClaudeBlock)
	}
	jsontext.KeepList(&body, "messages", messages)
	return overlaid(body, req.Options)
}

func encodeClaudeTool(tool modelio.ToolDefinition) modelio.Object {
	return encodeFunctionTool(tool, "input_schema")
}

func encodeClaudeMessage(m modelio.Message) json.RawMessage {
	o := modelio.Object{"role": jsontext.Text("user")}
	if m.Role == modelio.RoleModel {
		o["role"] = jsontext.Text("assistant")
	}
	if len(m.Content) > 0 {
		o["content"] = encodeContent(m.Content, provider.Marked(m.Metadata, provider.WireString), encodeClaudeBlock)
	}
	return overlaid(o, m.Metadata)
}

func encodeClaudeBlock(part modelio.Part) modelio.Object {
	switch {
	case part.Text != nil:
		return texts("type", "text", "text", *part.Text)
	case part.Reasoning != nil:
		return texts("type", "thinking", "thinking", *part.Reasoning)
	case part.Media != nil:
		return encodeClaudeMedia(part.Media)
	case part.ToolRequest != nil:
		call := part.ToolRequest
		o := texts("type", "tool_use", "id", call.Ref, "name", call.Name)
		o["input"] = call.Input
		if call.Input == nil {
			o["input"] = json.RawMessage("{}")
		}
		return o
	case part.ToolResponse != nil:
		return encodeClaudeResult(part)
	}
	return nil
}

func encodeClaudeResult(part modelio.Part) modelio.Object {
	result := part.ToolResponse
	o := texts("type", "tool_result", "tool_use_id", result.Ref)
	_, ofServer := part.Metadata["type"]
	switch {
	case result.Content != nil:
		o["content"] = encodeContent(result.Content, false, encodeClaudeBlock)
	case result.Output != nil && ofServer:
		o["content"] = result.Output
	case result.Output != nil:
		o["content"] = argumentsOf(result.Output)
	}
	return o
}

func encodeClaudeMedia(m *modelio.Media) modelio.Object {
	source := texts("type", "url", "url", m.URL)
	if contentType, data, ok := provider.SplitDataURL(m.URL); ok {
		source = texts("type", "base64", "media_type", contentType, "data", data)
	}
	return modelio.Object{"type": jsontext.Text(provider.ClaudeMediaKind(m)), "source": jsontext.ObjectText(source)}
}
