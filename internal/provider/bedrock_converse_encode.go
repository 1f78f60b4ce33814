package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/modelio"
)

func (bedrockConverse) EncodeRequest(req *Request) ([]byte, error) {
	body, err := converseBody(req, &converseParameters)
	if err != nil {
		return nil, err
	}
	overlay(body, req.options())
	return jsonObject(body), nil
}

// converseBody undoes converseRequest, but for Options.
func converseBody(req *Request, p *parameters) (modelio.Object, error) {
	if err := req.wantMessages(req.API); err != nil {
		return nil, err
	}
	body := modelio.Object{}
	config, err := p.encode(req)
	if err != nil {
		return nil, err
	}
	if len(config) > 0 {
		body["inferenceConfig"] = jsonObject(config)
	}
	if len(req.Tools) > 0 {
		body["toolConfig"] = jsonObject(modelio.Object{"tools": encodeConverseTools(req.Tools)})
	}
	messages := list{}
	var system []modelio.Part
	for i, m := range req.Messages {
		if m.Role == modelio.RoleSystem {
			system = append(system, m.Content...)
			continue
		}
		o := modelio.Object{"role": jsonText("user")}
		if m.Role == modelio.RoleModel {
			o["role"] = jsonText("assistant")
		}
		if len(m.Content) > 0 {
			blocks, err := encodeConverseBlocks(req.API, i, m.Content)
			if err != nil {
				return nil, err
			}
			o["content"] = blocks
		}
		overlay(o, m.Metadata)
		messages = append(messages, jsonObject(o))
	}
	if len(messages) > 0 {
		body["messages"] = jsonList(messages)
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
			spec := modelio.Object{"name": jsonText(tool.Name)}
			if tool.Description != "" {
				spec["description"] = jsonText(tool.Description)
			}
			if tool.InputSchema != nil {
				spec["inputSchema"] = jsonObject(modelio.Object{"json": tool.InputSchema})
			}
			o["toolSpec"] = jsonObject(spec)
		}
		overlay(o, tool.Metadata)
		all = append(all, jsonObject(o))
	}
	return jsonList(all)
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
		all = append(all, jsonObject(o))
	}
	return jsonList(all), nil
}

func encodeConverseBlock(api string, message, at int, part modelio.Part) (kind string, inner json.RawMessage, err error) {
	switch {
	case part.Custom != nil:
		return "", nil, nil
	case part.Text != nil:
		return "text", jsonText(*part.Text), nil
	case part.Reasoning != nil:
		text := jsonObject(modelio.Object{"text": jsonText(*part.Reasoning)})
		return "reasoningContent", jsonObject(modelio.Object{"reasoningText": text}), nil
	case part.Media != nil:
		contentType, data, ok := splitDataURL(part.Media.URL)
		if !ok {
			return "", nil, wireFailure(api, message, at, "the API takes media as base64 only")
		}
		kind, format := converseFormat(contentType)
		source := jsonObject(modelio.Object{"bytes": jsonText(data)})
		return kind, jsonObject(modelio.Object{"format": jsonText(format), "source": source}), nil
	case part.ToolRequest != nil:
		call := part.ToolRequest
		o := modelio.Object{"name": jsonText(call.Name), "toolUseId": jsonText(call.Ref), "input": call.Input}
		if call.Input == nil {
			o["input"] = json.RawMessage("{}")
		}
		return "toolUse", jsonObject(o), nil
	case part.ToolResponse != nil:
		result := part.ToolResponse
		content, err := encodeConverseResult(api, message, result)
		return "toolResult", jsonObject(modelio.Object{"toolUseId": jsonText(result.Ref), "content": content}), err
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
	return jsonList(list{jsonObject(modelio.Object{kind: output})}), nil
}
