package provider

import (
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

const messagesAPI = "anthropic.messages"

var claudeParameters = parameters{
	"temperature":    "temperature",
	"max_tokens":     "max_tokens",
	"top_p":          "top_p",
	"stop_sequences": "stop",
}

// The messages API of Anthropic. It has no seed.
var _ = Register(&Codec{
	API:            messagesAPI,
	Provider:       "anthropic",
	Hosts:          []string{"api.anthropic.com"},
	Home:           "https://api.anthropic.com",
	Keys:           []string{"ANTHROPIC_API_KEY"},
	Generates:      true,
	Match:          posts(hasList("messages"), "/messages"),
	DecodeRequest:  requests(messagesAPI, claudeRequest),
	DecodeResponse: answers(messagesAPI, claudeStream, claudeAnswer),
	Encoder:        &Encoder{encodeMessages, messagesEndpoint},
})

func messagesEndpoint(req *modelio.Request) string {
	return endpointOf(req, "/v1/messages")
}

// claudeRequest decodes a request of the messages API, which other hosts of Claude share but
// for the place of the model.
func claudeRequest(_ *Wire, body jsontext.Value) *modelio.Request {
	return decodeMembers(body, func(r *modelio.Request, name string, v jsontext.Value) (ok bool) {
		switch name {
		case "system":
			m := modelio.Message{Role: modelio.RoleSystem}
			ok = claudeContent(&m, v)
			prepend(r, m, ok)
		case "messages":
			ok = takeMessages(r, v, claudeMessage)
		case "tools":
			r.Tools, ok = claudeTools(v)
		default:
			ok = claudeParameters.decode(r, name, v)
		}
		return ok
	})
}

// claudeTools decodes the list of tools. It reports false for one with an element that could not
// be told from another kind of tool.
func claudeTools(v jsontext.Value) ([]modelio.ToolDefinition, bool) {
	if !v.IsArray() {
		return nil, false
	}
	tools := []modelio.ToolDefinition{}
	for _, t := range v.Elements() {
		kind := t.Member("type")
		switch {
		case isOwnTool(kind.Raw()) && t.Member("name").IsWord():
			var tool modelio.ToolDefinition
			tool.Metadata = functionTool(&tool, t, "input_schema")
			tools = append(tools, tool)
		case kind.Present() && !isOwnTool(kind.Raw()): // one that Anthropic provides
			tools = append(tools, modelio.ToolDefinition{Name: t.Member("name").Word(), Metadata: t.Object()})
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
func claudeMessage(v jsontext.Value) modelio.Message {
	m := modelio.Message{Role: modelio.RoleUser}
	for name, f := range v.Members() {
		switch name {
		case "role":
			switch f.Word() {
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
		jsontext.Keep(&m.Metadata, name, f.Raw())
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
func claudeContent(m *modelio.Message, v jsontext.Value) bool {
	if text, ok := v.Text(); ok {
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
func claudeBlocks(v jsontext.Value) ([]modelio.Part, bool) {
	var parts []modelio.Part
	for _, block := range v.Elements() {
		if !block.IsObject() {
			return nil, false
		}
		parts = append(parts, claudeBlock(block))
	}
	return parts, len(parts) > 0
}

// claudeBlock decodes a block. A block of a kind that has no part, or that is not as its kind
// should be, becomes a custom part with all of its members.
func claudeBlock(v jsontext.Value) modelio.Part {
	kind := v.Member("type").Word()
	var part modelio.Part
	ok := false
	switch {
	case kind == "text":
		part.Text, ok = textField(v.Member("text"))
		part.Metadata = v.Rest("type", "text")
	case kind == "thinking":
		part.Reasoning, ok = textField(v.Member("thinking"))
		part.Metadata = v.Rest("type", "thinking")
	case kind == "image" || kind == "document":
		part, ok = claudeMedia(kind, v)
	case kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use":
		part.ToolRequest = toolRequest(v, "name", "id", "input")
		ok = part.ToolRequest.Name != "" && part.ToolRequest.Ref != "" && part.ToolRequest.Input != nil
		part.Metadata = v.Rest("type", "id", "name", "input")
		if kind != "tool_use" {
			jsontext.Keep(&part.Metadata, "type", jsontext.Text(kind))
		}
	case kind == "tool_result":
		part.ToolResponse = &modelio.ToolResponse{Ref: v.Member("tool_use_id").Word()}
		ok = part.ToolResponse.Ref != ""
		part.Metadata = v.Rest("type", "tool_use_id", "content")
		if content := v.Member("content"); content.IsString() {
			part.ToolResponse.Output = content.Raw()
		} else if blocks, ok := claudeBlocks(content); ok {
			part.ToolResponse.Content = blocks
		} else if content.Present() {
			jsontext.Keep(&part.Metadata, "content", content.Raw())
		}
	case strings.HasSuffix(kind, "_tool_result"): // of a tool that Anthropic runs
		part.ToolResponse = &modelio.ToolResponse{Ref: v.Member("tool_use_id").Word(), Output: v.Member("content").Raw()}
		ok = part.ToolResponse.Ref != "" && part.ToolResponse.Output != nil
		part.Metadata = v.Rest("tool_use_id", "content")
	}
	if !ok {
		return modelio.Part{Custom: v.Object()}
	}
	return part
}

func textField(v jsontext.Value) (*string, bool) {
	text, ok := v.Text()
	return &text, ok
}

// claudeMedia decodes an image or document whose source is base64 or a URL.
func claudeMedia(kind string, v jsontext.Value) (modelio.Part, bool) {
	source := v.Member("source")
	contentType, data, url := source.Member("media_type").Word(), source.Member("data"), source.Member("url").Word()
	var part modelio.Part
	var taken []string
	switch form := source.Member("type").Word(); {
	case form == "base64" && isContentType(contentType) && data.IsWord():
		part = modelio.MediaPart(contentType, dataURL(contentType, data.Word()))
		taken = []string{"type", "media_type", "data"}
	case form == "url" && url != "" && !strings.HasPrefix(url, "data:"):
		part = media(url)
		taken = []string{"type", "url"}
	default:
		return part, false
	}
	part.Metadata = v.Rest("type", "source")
	jsontext.KeepRest(&part.Metadata, "source", source, taken...)
	if claudeMediaKind(part.Media) != kind {
		jsontext.Keep(&part.Metadata, "type", jsontext.Text(kind))
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
