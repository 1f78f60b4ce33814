package provider

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

const converseAPI = "bedrock.converse"

var converseParameters = parameters{
	temperature: "temperature",
	maxTokens:   "maxTokens",
	topP:        "topP",
	stop:        "stopSequences",
}

// bedrockConverse is the Converse and ConverseStream operations of AWS Bedrock. The model and
// whether the answer is streamed are in the URL. It has no seed.
type bedrockConverse struct{}

func (bedrockConverse) API() string      { return converseAPI }
func (bedrockConverse) Provider() string { return "bedrock" }
func (bedrockConverse) Seeded() bool     { return false }

func (bedrockConverse) Match(w *Wire) bool {
	return bedrockModel(w.URL) != "" && w.posts(func(body value) bool { return body.isObject() }, "/converse", "/converse-stream")
}

func (bedrockConverse) Endpoint(req *Request) string { return bedrockEndpoint(req, "converse") }

// bedrockModel returns the model of a path /model/<model>/<operation>; "" for any other path. A
// model may be an ARN, with slashes and colons in it.
func bedrockModel(u *url.URL) string {
	_, rest, ok := strings.Cut(u.EscapedPath(), "/model/")
	escaped, operation, ok2 := cutLast(rest, "/")
	model, err := url.PathUnescape(escaped)
	if !ok || !ok2 || operation == "" || err != nil {
		return ""
	}
	return model
}

// bedrockURL keeps the model of a path, and its operation if that is not the usual one.
func bedrockURL(w *Wire, req *Request, usual string) {
	req.Model = bedrockModel(w.URL)
	_, operation, _ := cutLast(w.URL.Path, "/")
	if operation == usual {
		operation = ""
	}
	w.keepURL(req, map[string]string{"operation": operation})
}

func bedrockEndpoint(req *Request, usual string) string {
	operation := req.urlSegment("operation")
	if operation == "" {
		operation = usual
	}
	return req.endpoint("/model/" + url.PathEscape(req.Model) + "/" + operation)
}

func (bedrockConverse) DecodeRequest(w *Wire) (*Request, error) {
	body, err := w.body(converseAPI)
	if err != nil {
		return nil, err
	}
	req := converseRequest(converseAPI, body, &converseParameters)
	bedrockURL(w, req, "converse")
	return req, nil
}

// converseRequest decodes a request that Amazon's own models take in the same form.
func converseRequest(api string, body value, p *parameters) *Request {
	req := &Request{API: api, Messages: []modelio.Message{}, Options: modelio.Object{}}
	var system *modelio.Message
	for name, v := range body.members() {
		switch name {
		case "system":
			if parts, ok := converseBlocks(v); ok {
				system = &modelio.Message{Role: modelio.RoleSystem, Content: parts}
				continue
			}
		case "messages":
			if messages, ok := converseMessages(v); ok {
				req.Messages = messages
				continue
			}
		case "inferenceConfig":
			if p.decodeIn(req, name, v) {
				continue
			}
		case "toolConfig":
			if tools, ok := converseTools(v.member("tools")); ok {
				req.Tools = tools
				if rest := v.rest("tools"); rest != nil {
					req.Options[name] = jsonObject(rest)
				}
				continue
			}
		}
		req.Options[name] = v.raw()
	}
	req.prepend(system)
	return req
}

// converseTools decodes a list of tools that is not empty and holds objects only.
func converseTools(v value) ([]modelio.ToolDefinition, bool) {
	var tools []modelio.ToolDefinition
	for _, entry := range v.elements() {
		if !entry.isObject() {
			return nil, false
		}
		tools = append(tools, converseTool(entry))
	}
	return tools, len(tools) > 0
}

// converseTool decodes a tool specification. Any other entry is kept whole.
func converseTool(v value) modelio.ToolDefinition {
	spec := v.member("toolSpec")
	if !spec.member("name").isWord() {
		tool := modelio.ToolDefinition{Metadata: v.object()}
		for name := range v.members() {
			if tool.Name == "" || name < tool.Name {
				tool.Name = name
			}
		}
		mark(&tool.Metadata, wireTool)
		return tool
	}
	tool := modelio.ToolDefinition{Name: spec.member("name").word(), Metadata: v.rest("toolSpec")}
	taken := []string{"name"}
	if description := spec.member("description"); description.isWord() {
		tool.Description = description.word()
		taken = append(taken, "description")
	}
	if schema := spec.member("inputSchema"); schema.length() == 1 && schema.member("json").present() {
		tool.InputSchema = schema.member("json").raw()
		taken = append(taken, "inputSchema")
	}
	keepRest(&tool.Metadata, "toolSpec", spec, taken...)
	return tool
}

// converseMessages decodes the list of messages. It reports false for an empty one, which could not
// be told from none, and for one with an element that is no message at all.
func converseMessages(v value) ([]modelio.Message, bool) {
	messages := make([]modelio.Message, 0, v.length())
	var calls callNames
	for _, e := range v.elements() {
		if !e.member("role").present() {
			return nil, false
		}
		m := converseMessage(e)
		calls.resolve(&m)
		messages = append(messages, m)
	}
	return messages, len(messages) > 0
}

// converseMessage decodes a message. A user's message with nothing but tool results becomes one of
// role tool.
func converseMessage(v value) modelio.Message {
	m := modelio.Message{Role: modelio.RoleUser}
	for name, f := range v.members() {
		switch name {
		case "role":
			switch f.word() {
			case "user":
				continue
			case "assistant":
				m.Role = modelio.RoleModel
				continue
			}
		case "content":
			if parts, ok := converseBlocks(f); ok {
				m.Content = parts
				continue
			}
		}
		keep(&m.Metadata, name, f.raw())
	}
	if m.Role == modelio.RoleUser && onlyResults(m.Content) {
		m.Role = modelio.RoleTool
	}
	return m
}

// converseBlocks decodes a list of blocks that is not empty and holds objects only.
func converseBlocks(v value) ([]modelio.Part, bool) {
	var parts []modelio.Part
	for _, block := range v.elements() {
		if !block.isObject() {
			return nil, false
		}
		parts = append(parts, converseBlock(block))
	}
	return parts, len(parts) > 0
}

// converseBlock decodes a block, which has one member named for its kind. One of a kind that has no
// part, or that is not as its kind should be, becomes a custom part with all of its members.
func converseBlock(v value) modelio.Part {
	var part modelio.Part
	found := 0
	for kind, inner := range v.members() {
		ok := true
		switch kind {
		case "text":
			part.Text, ok = textField(inner)
		case "image", "video", "audio", "document":
			part.Media, ok = converseMedia(kind, inner)
			keepRest(&part.Metadata, kind, inner, "format", "source")
		case "toolUse":
			part.ToolRequest = &modelio.ToolRequest{
				Name:  inner.member("name").word(),
				Ref:   inner.member("toolUseId").word(),
				Input: inner.member("input").raw(),
			}
			ok = part.ToolRequest.Name != "" && part.ToolRequest.Ref != "" && part.ToolRequest.Input != nil
			keepRest(&part.Metadata, kind, inner, "name", "toolUseId", "input")
		case "toolResult":
			part.ToolResponse = &modelio.ToolResponse{Ref: inner.member("toolUseId").word()}
			ok = part.ToolResponse.Ref != "" && converseResult(part.ToolResponse, inner.member("content"))
			keepRest(&part.Metadata, kind, inner, "toolUseId", "content")
		case "reasoningContent":
			text := inner.member("reasoningText")
			part.Reasoning, ok = textField(text.member("text"))
			rest := inner.rest("reasoningText")
			keepRest(&rest, "reasoningText", text, "text")
			if rest != nil {
				keep(&part.Metadata, kind, jsonObject(rest))
			}
		default:
			keep(&part.Metadata, kind, inner.raw())
			continue
		}
		if !ok {
			return modelio.Part{Custom: v.object()}
		}
		found++
	}
	if found != 1 {
		return modelio.Part{Custom: v.object()}
	}
	return part
}

// converseTypes maps formats to content types, where they are not the kind and the format.
var converseTypes = []struct{ kind, format, contentType string }{
	{"image", "jpeg", "image/jpeg"},
	{"audio", "mp3", "audio/mpeg"},
	{"document", "pdf", "application/pdf"},
	{"document", "csv", "text/csv"},
	{"document", "doc", "application/msword"},
	{"document", "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"document", "xls", "application/vnd.ms-excel"},
	{"document", "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{"document", "html", "text/html"},
	{"document", "txt", "text/plain"},
	{"document", "md", "text/markdown"},
}

// converseFormat returns the kind of block for a content type and the format it has there.
func converseFormat(contentType string) (kind, format string) {
	for _, t := range converseTypes {
		if t.contentType == contentType {
			return t.kind, t.format
		}
	}
	kind, format, _ = strings.Cut(contentType, "/")
	return kind, format
}

// converseMedia decodes media whose source is its bytes.
func converseMedia(kind string, v value) (*modelio.Media, bool) {
	format, source := v.member("format").word(), v.member("source")
	data := source.member("bytes")
	contentType := kind + "/" + format
	for _, t := range converseTypes {
		if t.kind == kind && t.format == format {
			contentType = t.contentType
		}
	}
	usualKind, usualFormat := converseFormat(contentType)
	ok := source.length() == 1 && data.isWord() && isContentType(contentType) && usualKind == kind && usualFormat == format
	return &modelio.Media{ContentType: contentType, URL: dataURL(contentType, data.word())}, ok
}

// converseResult takes the content of a tool result: its only text or JSON value is the output.
func converseResult(result *modelio.ToolResponse, v value) bool {
	parts, ok := converseBlocks(v)
	if !ok {
		return false
	}
	result.Content = parts
	for _, block := range v.elements() {
		if v.length() != 1 || block.length() != 1 {
			return true
		}
		if text := block.member("text"); text.isString() {
			result.Content, result.Output = nil, text.raw()
		}
		if output := block.member("json"); output.present() && !output.isString() {
			result.Content, result.Output = nil, output.raw()
		}
	}
	return true
}

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
