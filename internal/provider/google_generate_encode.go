package provider

import (
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

func (googleGenerate) EncodeRequest(req *modelio.Request) ([]byte, error) {
	if err := wantMessages(req, generateAPI); err != nil {
		return nil, err
	}
	config, err := generateParameters.encode(req)
	if err != nil {
		return nil, err // unreachable: the API has them all
	}
	body := modelio.Object{}
	if len(config) > 0 {
		body["generationConfig"] = jsontext.ObjectText(config)
	}
	if req.Tools != nil {
		body["tools"] = encodeGenerateTools(req.Tools)
	}
	contents := list{}
	var system []modelio.Part
	var extra modelio.Object
	for i, m := range req.Messages {
		if m.Role == modelio.RoleSystem {
			system, extra = append(system, m.Content...), m.Metadata
			continue
		}
		parts, err := encodeGenerateParts(i, m.Content)
		if err != nil {
			return nil, err
		}
		o := modelio.Object{"role": jsontext.Text("user")}
		if m.Role == modelio.RoleModel {
			o["role"] = jsontext.Text("model")
		}
		if marked(m.Metadata, wireRoleless) {
			delete(o, "role")
		}
		if len(parts) > 0 {
			o["parts"] = jsontext.List(parts)
		}
		overlay(o, m.Metadata)
		contents = append(contents, jsontext.ObjectText(o))
	}
	body["contents"] = jsontext.List(contents)
	if system != nil {
		parts, err := encodeGenerateParts(0, system)
		if err != nil {
			return nil, err
		}
		o := modelio.Object{"parts": jsontext.List(parts)}
		overlay(o, extra)
		body["systemInstruction"] = jsontext.ObjectText(o)
	}
	overlay(body, optionsOf(req))
	return jsontext.ObjectText(body), nil
}

func encodeGenerateTools(tools []modelio.ToolDefinition) json.RawMessage {
	var functions, others list
	for _, tool := range tools {
		o := modelio.Object{}
		if marked(tool.Metadata, wireTool) {
			overlay(o, tool.Metadata)
			others = append(others, jsontext.ObjectText(o))
			continue
		}
		schema := "parameters"
		if marked(tool.Metadata, wireJSONSchema) {
			schema = wireJSONSchema
		}
		o = encodeFunctionTool(tool, schema)
		if tool.OutputSchema != nil {
			o["response"] = tool.OutputSchema
		}
		overlay(o, tool.Metadata)
		functions = append(functions, jsontext.ObjectText(o))
	}
	if functions != nil {
		entry := modelio.Object{"functionDeclarations": jsontext.List(functions)}
		others = slices.Insert(others, 0, jsontext.ObjectText(entry))
	}
	return jsontext.List(others)
}

func encodeGenerateParts(message int, parts []modelio.Part) (list, error) {
	var all list
	for i, part := range parts {
		o, ok := encodeGeneratePart(part)
		if !ok {
			return nil, wireFailure(generateAPI, message, i, "a part of a kind that the API has none for")
		}
		overlay(o, part.Metadata)
		all = append(all, jsontext.ObjectText(o))
	}
	return all, nil
}

func encodeGeneratePart(part modelio.Part) (modelio.Object, bool) {
	names := &camelCase
	if marked(part.Metadata, wireSnakeCase) {
		names = &snakeCase
	}
	o, inner := modelio.Object{}, modelio.Object{}
	var kind string
	switch {
	case part.Custom != nil:
		overlay(o, part.Custom)
		return o, true
	case part.Text != nil:
		o["text"] = jsontext.Text(*part.Text)
		return o, true
	case part.Reasoning != nil:
		o["text"], o["thought"] = jsontext.Text(*part.Reasoning), json.RawMessage("true")
		return o, true
	case part.Media != nil:
		contentType, data, ok := splitDataURL(part.Media.URL)
		kind = names.inlineData
		if ok {
			inner["data"] = jsontext.Text(data)
		} else {
			kind, contentType = names.fileData, part.Media.ContentType
			inner[names.fileURI] = jsontext.Text(part.Media.URL)
		}
		if contentType != "" {
			inner[names.mimeType] = jsontext.Text(contentType)
		}
	case part.ToolRequest != nil:
		kind = names.functionCall
		encodeGenerateCall(inner, part.ToolRequest.Name, part.ToolRequest.Ref, "args", part.ToolRequest.Input)
	case part.ToolResponse != nil:
		kind = names.functionResponse
		encodeGenerateCall(inner, part.ToolResponse.Name, part.ToolResponse.Ref, "response", part.ToolResponse.Output)
	default:
		return nil, false
	}
	o[kind] = jsontext.ObjectText(inner)
	return o, true
}

func encodeGenerateCall(o modelio.Object, name, ref, argument string, v json.RawMessage) {
	o["name"] = jsontext.Text(name)
	if ref != "" {
		o["id"] = jsontext.Text(ref)
	}
	if v != nil {
		o[argument] = v
	}
}
