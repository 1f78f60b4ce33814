package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

func encodeMessages(req *modelio.Request) ([]byte, error) {
	body, err := claudeBody(req)
	if err != nil {
		return nil, err
	}
	if req.Model != "" {
		body["model"] = jsontext.Text(req.Model)
	}
	overlay(body, optionsOf(req))
	return jsontext.ObjectText(body), nil
}

// claudeBody undoes claudeRequest, but for the model and Options.
func claudeBody(req *modelio.Request) (modelio.Object, error) {
	if err := wantMessages(req, req.API); err != nil {
		return nil, err
	}
	body, err := claudeParameters.encode(req)
	if err != nil {
		return nil, err
	}
	if req.Tools != nil {
		body["tools"] = encodeClaudeTools(req.Tools)
	}
	var system []modelio.Message
	messages := list{}
	for i, m := range req.Messages {
		if _, inline := m.Metadata["role"]; m.Role == modelio.RoleSystem && !inline {
			system = append(system, m)
			continue
		}
		message, err := encodeClaudeMessage(req.API, i, m)
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	if len(system) > 0 {
		content, err := encodeClaudeSystem(req.API, system)
		if err != nil {
			return nil, err
		}
		body["system"] = content
	}
	if len(messages) > 0 {
		body["messages"] = jsontext.List(messages)
	}
	return body, nil
}

// encodeClaudeSystem writes system messages as the one member the API has for them.
func encodeClaudeSystem(api string, system []modelio.Message) (json.RawMessage, error) {
	if len(system) == 1 && marked(system[0].Metadata, wireString) && isPlainText(system[0].Content) {
		return jsontext.Text(*system[0].Content[0].Text), nil
	}
	var parts []modelio.Part
	for _, m := range system {
		parts = append(parts, m.Content...)
	}
	return encodeClaudeBlocks(api, 0, parts)
}

func encodeClaudeTools(tools []modelio.ToolDefinition) json.RawMessage {
	all := list{}
	for _, tool := range tools {
		o := modelio.Object{}
		if isOwnTool(tool.Metadata["type"]) {
			o = encodeFunctionTool(tool, "input_schema")
		}
		overlay(o, tool.Metadata)
		all = append(all, jsontext.ObjectText(o))
	}
	return jsontext.List(all)
}

func encodeClaudeMessage(api string, at int, m modelio.Message) (json.RawMessage, error) {
	o := modelio.Object{"role": jsontext.Text("user")}
	if m.Role == modelio.RoleModel {
		o["role"] = jsontext.Text("assistant")
	}
	switch {
	case marked(m.Metadata, wireString) && isPlainText(m.Content):
		o["content"] = jsontext.Text(*m.Content[0].Text)
	case len(m.Content) > 0:
		blocks, err := encodeClaudeBlocks(api, at, m.Content)
		if err != nil {
			return nil, err
		}
		o["content"] = blocks
	}
	overlay(o, m.Metadata)
	return jsontext.ObjectText(o), nil
}

func encodeClaudeBlocks(api string, at int, parts []modelio.Part) (json.RawMessage, error) {
	all := list{}
	for i, part := range parts {
		o, err := encodeClaudeBlock(api, at, i, part)
		if err != nil {
			return nil, err
		}
		overlay(o, part.Metadata)
		all = append(all, jsontext.ObjectText(o))
	}
	return jsontext.List(all), nil
}

func encodeClaudeBlock(api string, message, at int, part modelio.Part) (modelio.Object, error) {
	switch {
	case part.Custom != nil:
		o := modelio.Object{}
		overlay(o, part.Custom)
		return o, nil
	case part.Text != nil:
		return modelio.Object{"type": jsontext.Text("text"), "text": jsontext.Text(*part.Text)}, nil
	case part.Reasoning != nil:
		return modelio.Object{"type": jsontext.Text("thinking"), "thinking": jsontext.Text(*part.Reasoning)}, nil
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
		return encodeClaudeResult(api, message, at, part)
	}
	return nil, wireFailure(api, message, at, "a part of a kind that the API has no block for")
}

func encodeClaudeResult(api string, message, at int, part modelio.Part) (modelio.Object, error) {
	result := part.ToolResponse
	o := modelio.Object{"type": jsontext.Text("tool_result"), "tool_use_id": jsontext.Text(result.Ref)}
	_, ofServer := part.Metadata["type"]
	switch {
	case result.Content != nil:
		blocks, err := encodeClaudeBlocks(api, message, result.Content)
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
	source := modelio.Object{"type": jsontext.Text("url"), "url": jsontext.Text(m.URL)}
	if contentType, data, ok := splitDataURL(m.URL); ok {
		source = texts("type", "base64", "media_type", contentType, "data", data)
	}
	return modelio.Object{"type": jsontext.Text(claudeMediaKind(m)), "source": jsontext.ObjectText(source)}
}
