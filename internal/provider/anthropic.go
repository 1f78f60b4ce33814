package provider

import (
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

const messagesAPI = "anthropic.messages"

var claudeParameters = parameters{
	temperature: "temperature",
	maxTokens:   "max_tokens",
	topP:        "top_p",
	stop:        "stop_sequences",
}

// anthropicMessages is the messages API of Anthropic. It has no seed.
type anthropicMessages struct{}

func (anthropicMessages) API() string      { return messagesAPI }
func (anthropicMessages) Provider() string { return "anthropic" }
func (anthropicMessages) Seeded() bool     { return false }

func (anthropicMessages) Match(w *Wire) bool {
	return w.posts(func(body value) bool { return body.member("messages").isArray() }, "/messages")
}

func (anthropicMessages) Endpoint(req *Request) string { return req.endpoint("/v1/messages") }

func (anthropicMessages) DecodeRequest(w *Wire) (*Request, error) {
	body, err := w.body(messagesAPI)
	if err != nil {
		return nil, err
	}
	req := claudeRequest(messagesAPI, body)
	w.keepURL(req, nil)
	return req, nil
}

// claudeRequest decodes a request of the messages API, which other hosts of Claude share but
// for the place of the model.
func claudeRequest(api string, body value) *Request {
	req := &Request{API: api, Messages: []modelio.Message{}, Options: modelio.Object{}}
	var system *modelio.Message
	for name, v := range body.members() {
		switch name {
		case "model":
			if v.isWord() {
				req.Model = v.word()
				continue
			}
		case "system":
			m := modelio.Message{Role: modelio.RoleSystem}
			if claudeContent(&m, v) {
				system = &m
				continue
			}
		case "messages":
			if messages, ok := messageList(v, claudeMessage); ok && len(messages) > 0 { // an empty one could not be told from none
				req.Messages = messages
				continue
			}
		case "tools":
			if tools, ok := claudeTools(v); ok {
				req.Tools = tools
				continue
			}
		default:
			if claudeParameters.decode(req, name, v) {
				continue
			}
		}
		req.Options[name] = v.raw()
	}
	req.prepend(system)
	return req
}

// claudeTools decodes the list of tools. It reports false for one with an element that could not
// be told from another kind of tool.
func claudeTools(v value) ([]modelio.ToolDefinition, bool) {
	if !v.isArray() {
		return nil, false
	}
	tools := []modelio.ToolDefinition{}
	for _, t := range v.elements() {
		kind := t.member("type")
		switch {
		case isOwnTool(kind.raw()) && t.member("name").isWord():
			var tool modelio.ToolDefinition
			tool.Metadata = functionTool(&tool, t, "input_schema")
			tools = append(tools, tool)
		case kind.present() && !isOwnTool(kind.raw()): // one that Anthropic provides
			tools = append(tools, modelio.ToolDefinition{Name: t.member("name").word(), Metadata: t.object()})
		default:
			return nil, false
		}
	}
	return tools, true
}

// isOwnTool reports whether a tool of this type is one that the caller defines.
func isOwnTool(kind json.RawMessage) bool { return kind == nil || string(kind) == `"custom"` }

// claudeMessage decodes a message. A user's message with nothing but tool results becomes one of
// role tool.
func claudeMessage(v value) modelio.Message {
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
			case "system":
				m.Role = modelio.RoleSystem // "role" tells it from the member system of the request
			}
		case "content":
			if claudeContent(&m, f) {
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

func onlyResults(parts []modelio.Part) bool {
	for _, part := range parts {
		if part.ToolResponse == nil {
			return false
		}
	}
	return len(parts) > 0
}

// claudeContent takes content, a list of blocks or a string, which is marked as such.
func claudeContent(m *modelio.Message, v value) bool {
	if text, ok := v.text(); ok {
		m.Content = []modelio.Part{modelio.TextPart(text)}
		mark(&m.Metadata, wireString)
		return true
	}
	parts, ok := claudeBlocks(v)
	m.Content = parts
	return ok
}

// claudeBlocks decodes a list of blocks. It reports false for an empty one, which could not be told
// from none, and for one with an element that is no object.
func claudeBlocks(v value) ([]modelio.Part, bool) {
	var parts []modelio.Part
	for _, block := range v.elements() {
		if !block.isObject() {
			return nil, false
		}
		parts = append(parts, claudeBlock(block))
	}
	return parts, len(parts) > 0
}

// claudeBlock decodes a block. A block of a kind that has no part, or that is not as its kind
// should be, becomes a custom part with all of its members.
func claudeBlock(v value) modelio.Part {
	kind := v.member("type").word()
	var part modelio.Part
	ok := false
	switch {
	case kind == "text":
		part.Text, ok = textField(v.member("text"))
		part.Metadata = v.rest("type", "text")
	case kind == "thinking":
		part.Reasoning, ok = textField(v.member("thinking"))
		part.Metadata = v.rest("type", "thinking")
	case kind == "image" || kind == "document":
		part, ok = claudeMedia(kind, v)
	case kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use":
		part.ToolRequest = &modelio.ToolRequest{Name: v.member("name").word(), Ref: v.member("id").word(), Input: v.member("input").raw()}
		ok = part.ToolRequest.Name != "" && part.ToolRequest.Ref != "" && part.ToolRequest.Input != nil
		part.Metadata = v.rest("type", "id", "name", "input")
		if kind != "tool_use" {
			keep(&part.Metadata, "type", jsonText(kind))
		}
	case kind == "tool_result":
		part.ToolResponse = &modelio.ToolResponse{Ref: v.member("tool_use_id").word()}
		ok = part.ToolResponse.Ref != ""
		part.Metadata = v.rest("type", "tool_use_id", "content")
		if content := v.member("content"); content.isString() {
			part.ToolResponse.Output = content.raw()
		} else if blocks, ok := claudeBlocks(content); ok {
			part.ToolResponse.Content = blocks
		} else if content.present() {
			keep(&part.Metadata, "content", content.raw())
		}
	case strings.HasSuffix(kind, "_tool_result"): // of a tool that Anthropic runs
		part.ToolResponse = &modelio.ToolResponse{Ref: v.member("tool_use_id").word(), Output: v.member("content").raw()}
		ok = part.ToolResponse.Ref != "" && part.ToolResponse.Output != nil
		part.Metadata = v.rest("tool_use_id", "content")
	}
	if !ok {
		return modelio.Part{Custom: v.object()}
	}
	return part
}

func textField(v value) (*string, bool) {
	text, ok := v.text()
	return &text, ok
}

// claudeMedia decodes an image or document whose source is base64 or a URL.
func claudeMedia(kind string, v value) (modelio.Part, bool) {
	source := v.member("source")
	contentType, data, url := source.member("media_type").word(), source.member("data"), source.member("url").word()
	var part modelio.Part
	var taken []string
	switch form := source.member("type").word(); {
	case form == "base64" && isContentType(contentType) && data.isWord():
		part = modelio.MediaPart(contentType, dataURL(contentType, data.word()))
		taken = []string{"type", "media_type", "data"}
	case form == "url" && url != "" && !strings.HasPrefix(url, "data:"):
		part = media(url)
		taken = []string{"type", "url"}
	default:
		return part, false
	}
	part.Metadata = v.rest("type", "source")
	keepRest(&part.Metadata, "source", source, taken...)
	if claudeMediaKind(part.Media) != kind {
		keep(&part.Metadata, "type", jsonText(kind))
	}
	return part, true
}

// claudeMediaKind returns the type of block that media of its content type usually has.
func claudeMediaKind(m *modelio.Media) string {
	if m.ContentType == "" || strings.HasPrefix(m.ContentType, "image/") {
		return "image"
	}
	return "document"
}
