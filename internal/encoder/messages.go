package encoder

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

const messagesAPI = "anthropic.messages"

// Messages writes a request to the messages API of Anthropic.
func Messages(req *modelio.Request) ([]byte, error) {
	body, err := encodeBody(req, messagesAPI, provider.ClaudeParameters, provider.IsOwnTool, encodeClaudeTool)
	if err != nil {
		return nil, err
	}
	var system []modelio.Message
	messages := list{}
	for i, m := range req.Messages {
		if _, inline := m.Metadata["role"]; m.Role == modelio.RoleSystem && !inline {
			system = append(system, m)
			continue
		}
		message, err := encodeClaudeMessage(i, m)
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	if len(system) > 0 {
		if body["system"], err = encodeClaudeSystem(system); err != nil {
			return nil, err
		}
	}
	if len(messages) > 0 {
		body["messages"] = jsontext.List(messages)
	}
	return overlaid(body, req.Options), nil
}

// encodeClaudeSystem writes system messages as the one member the API has for them.
func encodeClaudeSystem(system []modelio.Message) (json.RawMessage, error) {
	var parts []modelio.Part
	for _, m := range system {
		parts = append(parts, m.Content...)
	}
	return encodeClaudeContent(0, parts, len(system) == 1 && provider.Marked(system[0].Metadata, provider.WireString))
}

func encodeClaudeTool(tool modelio.ToolDefinition) modelio.Object {
	return encodeFunctionTool(tool, "input_schema")
}

func encodeClaudeMessage(at int, m modelio.Message) (json.RawMessage, error) {
	o := modelio.Object{"role": jsontext.Text("user")}
	if m.Role == modelio.RoleModel {
		o["role"] = jsontext.Text("assistant")
	}
	if len(m.Content) > 0 {
		content, err := encodeClaudeContent(at, m.Content, provider.Marked(m.Metadata, provider.WireString))
		if err != nil {
			return nil, err
		}
		o["content"] = content
	}
	return overlaid(o, m.Metadata), nil
}

func encodeClaudeContent(message int, parts []modelio.Part, asText bool) (json.RawMessage, error) {
	return encodeContent(parts, asText, func(at int, part modelio.Part) (modelio.Object, error) {
		return encodeClaudeBlock(message, at, part)
	})
}

func encodeClaudeBlock(message, at int, part modelio.Part) (modelio.Object, error) {
	switch {
	case part.Text != nil:
		return texts("type", "text", "text", *part.Text), nil
	case part.Reasoning != nil:
		return texts("type", "thinking", "thinking", *part.Reasoning), nil
	case part.Media != nil:
		return encodeClaudeMedia(part.Media), nil
	case part.ToolRequest != nil:
		call := part.ToolRequest
		o := texts("type", "tool_use", "id", call.Ref, "name", call.Name)
		o["input"] = call.Input
		if call.Input == nil {
			o["input"] = json.RawMessage("{}")
		}
		return o, nil
	case part.ToolResponse != nil:
		return encodeClaudeResult(message, part)
	}
	return nil, failure(messagesAPI, message, at, "a part of a kind that the API has no block for")
}

func encodeClaudeResult(message int, part modelio.Part) (modelio.Object, error) {
	result := part.ToolResponse
	o := texts("type", "tool_result", "tool_use_id", result.Ref)
	_, ofServer := part.Metadata["type"]
	switch {
	case result.Content != nil:
		blocks, err := encodeClaudeContent(message, result.Content, false)
		if err != nil {
			return nil, err
		}
		o["content"] = blocks
	case result.Output != nil && ofServer:
		o["content"] = result.Output
	case result.Output != nil:
		o["content"] = argumentsOf(result.Output)
	}
	return o, nil
}

func encodeClaudeMedia(m *modelio.Media) modelio.Object {
	source := texts("type", "url", "url", m.URL)
	if contentType, data, ok := provider.SplitDataURL(m.URL); ok {
		source = texts("type", "base64", "media_type", contentType, "data", data)
	}
	return modelio.Object{"type": jsontext.Text(provider.ClaudeMediaKind(m)), "source": jsontext.ObjectText(source)}
}
