package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

func (bedrockConverse) EncodeRequest(req *modelio.Request) ([]byte, error) {
	body, err := converseBody(req, &converseParameters)
	if err != nil {
		return nil, err
	}
	overlay(body, optionsOf(req))
	return jsontext.ObjectText(body), nil
}

// converseBody undoes converseRequest, but for Options.
func converseBody(req *modelio.Request, p *parameters) (modelio.Object, error) {
	if err := wantMessages(req, req.API); err != nil {
		return nil, err
	}
	body := modelio.Object{}
	config, err := p.encode(req)
	if err != nil {
		return nil, err
	}
	if len(config) > 0 {
		body["inferenceConfig"] = jsontext.ObjectText(config)
	}
	if len(req.Tools) > 0 {
		body["toolConfig"] = jsontext.ObjectText(modelio.Object{"tools": encodeConverseTools(req.Tools)})
	}
	messages := list{}
	var system []modelio.Part
	for i, m := range req.Messages {
		if m.Role == modelio.RoleSystem {
			system = append(system, m.Content...)
			continue
		}
		o := modelio.Object{"role": jsontext.Text("user")}
		if m.Role == modelio.RoleModel {
			o["role"] = jsontext.Text("assistant")
		}
		if len(m.Content) > 0 {
			blocks, err := encodeConverseBlocks(req.API, i, m.Content)
			if err != nil {
				return nil, err
			}
			o["content"] = blocks
		}
		overlay(o, m.Metadata)
		messages = append(messages, jsontext.ObjectText(o))
	}
	if len(messages) > 0 {
		body["messages"] = jsontext.List(messages)
	}
	if system != nil {
		blocks, err := encodeConverseBlocks(req.API, 0, system)
		if err != nil {
			return nil, err
		}
		body["system"] = blocks
	}
	return body, nil
}

func encodeConverseTools(tools []modelio.ToolDefinition) json.RawMessage {
	all := list{}
	for _, tool := range tools {
		o := modelio.Object{}
		if !marked(tool.Metadata, wireTool) {
			spec := modelio.Object{"name": jsontext.Text(tool.Name)}
			if tool.Description != "" {
				spec["description"] = jsontext.Text(tool.Description)
			}
			if tool.InputSchema != nil {
				spec["inputSchema"] = jsontext.ObjectText(modelio.Object{"json": tool.InputSchema})
			}
			o["toolSpec"] = jsontext.ObjectText(spec)
		}
		overlay(o, tool.Metadata)
		all = append(all, jsontext.ObjectText(o))
	}
	return jsontext.List(all)
}

func encodeConverseBlocks(api string, message int, parts []modelio.Part) (json.RawMessage, error) {
	all := list{}
	for i, part := range parts {
		kind, inner, err := encodeConverseBlock(api, message, i, part)
		if err != nil {
			return nil, err
		}
		o := modelio.Object{}
		if part.Custom != nil {
			overlay(o, part.Custom)
		} else {
			o[kind] = inner
		}
		overlay(o, part.Metadata)
		all = append(all, jsontext.ObjectText(o))
	}
	return jsontext.List(all), nil
}

func encodeConverseBlock(api string, message, at int, part modelio.Part) (kind string, inner json.RawMessage, err error) {
	switch {
	case part.Custom != nil:
		return "", nil, nil
	case part.Text != nil:
		return "text", jsontext.Text(*part.Text), nil
	case part.Reasoning != nil:
		text := jsontext.ObjectText(modelio.Object{"text": jsontext.Text(*part.Reasoning)})
		return "reasoningContent", jsontext.ObjectText(modelio.Object{"reasoningText": text}), nil
	case part.Media != nil:
		contentType, data, ok := splitDataURL(part.Media.URL)
		if !ok {
			return "", nil, wireFailure(api, message, at, "the API takes media as base64 only")
		}
		kind, format := converseFormat(contentType)
		source := jsontext.ObjectText(modelio.Object{"bytes": jsontext.Text(data)})
		return kind, jsontext.ObjectText(modelio.Object{"format": jsontext.Text(format), "source": source}), nil
	case part.ToolRequest != nil:
		call := part.ToolRequest
		o := modelio.Object{"name": jsontext.Text(call.Name), "toolUseId": jsontext.Text(call.Ref), "input": call.Input}
		if call.Input == nil {
			o["input"] = json.RawMessage("{}")
		}
		return "toolUse", jsontext.ObjectText(o), nil
	case part.ToolResponse != nil:
		result := part.ToolResponse
		content, err := encodeConverseResult(api, message, result)
		return "toolResult", jsontext.ObjectText(modelio.Object{"toolUseId": jsontext.Text(result.Ref), "content": content}), err
	}
	return "", nil, wireFailure(api, message, at, "a part of a kind that the API has no block for")
}

func encodeConverseResult(api string, message int, result *modelio.ToolResponse) (json.RawMessage, error) {
	if result.Content != nil {
		return encodeConverseBlocks(api, message, result.Content)
	}
	kind, output := "json", result.Output
	if output == nil {
		output = json.RawMessage("{}")
	}
	if output[0] == '"' {
		kind = "text"
	}
	return jsontext.List(list{jsontext.ObjectText(modelio.Object{kind: output})}), nil
}
