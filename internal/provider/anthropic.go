package provider

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var ClaudeParameters = parametersOf("temperature", "max_tokens", "top_p", "stop_sequences=stop")

// Anthropic's messages API. It has no seed.
var _ = Register(&Codec{
	API:     "anthropic.messages",
	Hosts:   []string{"api.anthropic.com"},
	Home:    "https://api.anthropic.com",
	Keys:    []string{"ANTHROPIC_API_KEY"},
	Tokens:  []string{"ANTHROPIC_AUTH_TOKEN"},
	Version: "20", // a date; usually in a header
	Fixed:   claudeFixed,
	Match:   posts(hasList("messages"), "/messages"),
	body:    claudeForm.decode,
	Refusal: refuseAsAnthropic,
	answer:  claudeAnswer,
	stream:  claudeStream,
	looks:   isClaudeAnswer,
	begins:  isOfType("message_start"),
})

func isClaudeAnswer(body jsontext.Value) bool {
	return body.Member("content").IsArray() && body.Member("stop_reason").Present() &&
		body.Member("role").Word() == "assistant"
}

// claudeForm is the form that all hosts of Claude share, except for the place of the model.
var claudeForm = requestForm{parameters: ClaudeParameters, members: map[string]taker{
	"system":   takeMessage(modelio.RoleSystem, claudeContent),
	"messages": takeMessages(claudeMessage, false),
	"tools":    takeTools(claudeTool),
}}

// claudeTool decodes a tool. It reports false for one that could not be distinguished from another kind of tool.
func claudeTool(v jsontext.Value) (tool modelio.ToolDefinition, ok bool) {
	kind, name := v.Member("type"), v.Member("name").Word()
	if !IsOwnTool(kind.Raw()) { // provided by Anthropic
		return modelio.ToolDefinition{Name: name, Metadata: v.Object()}, true
	}
	tool.Metadata = functionTool(&tool, v, "input_schema")
	return tool, name != ""
}

// IsOwnTool reports whether a tool of this type is defined by the caller.
func IsOwnTool(kind json.RawMessage) bool { return kind == nil || string(kind) == `"custom"` }

var claudeSpeakers = speakers{"user": modelio.RoleUser, "assistant": modelio.RoleModel}

// claudeMessage decodes a message.
func claudeMessage(m *modelio.Message, v jsontext.Value) {
	claudeSpeakers.take(m, v, []partTaker{{"content", claudeContent}})
	if v.Member("role").Word() == "system" {
		m.Role = modelio.RoleSystem // "role" distinguishes it from the request's member system
	}
}

// claudeContent takes content, which is a list of blocks or a marked string.
func claudeContent(m *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	if text, ok := v.Text(); ok {
		mark(&m.Metadata, WireString)
		return []modelio.Part{modelio.TextPart(text)}, true
	}
	return claudeBlocks(v)
}

func claudeBlocks(v jsontext.Value) ([]modelio.Part, bool) { return objects(v, claudeBlock) }

// claudeBlock decodes a block. A block that no part can represent, or that does not have the form of its kind, becomes
// a custom part with all of its members.
func claudeBlock(v jsontext.Value) modelio.Part {
	kind := v.Member("type").Word()
	var part modelio.Part
	ok := false
	switch {
	case kind == "text":
		part, ok = textPart(v, "text", "type")
	case kind == "thinking":
		part.Reasoning, ok = textField(v.Member("thinking"))
		part.Metadata = v.Rest("type", "thinking")
	case kind == "image" || kind == "document":
		part, ok = claudeMedia(kind, v)
	case kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use":
		part, ok = callPart(v, "name", "id", "input", "type")
		ok = ok && part.ToolRequest.Input != nil
		keepType(&part.Metadata, kind, "tool_use")
	case kind == "tool_result":
		part.ToolResponse = &modelio.ToolResponse{Ref: v.Member("tool_use_id").Word()}
		ok = part.ToolResponse.Ref != ""
		part.Metadata = v.Rest("type", "tool_use_id", "content")
		content := v.Member("content")
		blocks, isBlocks := claudeBlocks(content)
		if part.ToolResponse.Content = blocks; content.IsString() {
			part.ToolResponse.Output = content.Raw()
		} else if content.Present() && !isBlocks {
			jsontext.Keep(&part.Metadata, "content", content.Raw())
		}
	case strings.HasSuffix(kind, "_tool_result"): // from a tool that Anthropic runs
		part.ToolResponse = &modelio.ToolResponse{Ref: v.Member("tool_use_id").Word(), Output: v.Member("content").Raw()}
		ok = part.ToolResponse.Ref != ""
		part.Metadata = v.Rest("tool_use_id", "content")
	}
	return partOf(v, part, ok)
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
	keepType(&part.Metadata, kind, ClaudeMediaKind(part.Media))
	return part, true
}

// ClaudeMediaKind returns the usual type of block for media of a content type.
func ClaudeMediaKind(m *modelio.Media) string {
	if m.ContentType == "" || strings.HasPrefix(m.ContentType, "image/") {
		return "image"
	}
	return "document"
}

var claudeAnswer = needs("content", hasList("content"), claudeReply)

// claudeReply decodes the message that the API answers with.
func claudeReply(body jsontext.Value) *modelio.Response {
	c := candidate(body.Member("stop_reason").Word())
	c.Message.Content, _ = claudeBlocks(body.Member("content"))
	callNames{}.resolve(&c.Message)
	c.Citations = claudeCitations(body.Member("content"))
	return responseOf(body, claudeUsage.of(body), []modelio.Candidate{c}, "type", "role", "content", "stop_reason")
}

var claudeStream = foldRules{add: addClaude, end: endsWith(arrayNode, "content")}

var (
	claudeMessagePieces = rules{"type": skip, "delta": skip, "content": skip, "usage": into("usage", nil)}
	claudeDelta         = rules{
		"type":         skip,
		"partial_json": func(block *node, _ string, v jsontext.Value) { block.growInner("input", v) },
		"citation":     func(block *node, _ string, v jsontext.Value) { block.member("citations").append(v.Raw()) },
		"signature":    (*node).put, // sent at once
		"":             (*node).grow,

		"estimated_tokens": skip, // progress of reasoning
	}
)

func addClaude(f *fold, _ string, event jsontext.Value) {
	block := func() *node { return f.body.member("content").at(event.Member("index")) }
	switch event.Member("type").Word() {
	case "message_start":
		f.body.clear()
		f.done = false // a second one starts again, from a server that retries
		claudeMessagePieces.fold(&f.body, event.Member("message"))
	case "message_delta":
		claudeMessagePieces.fold(&f.body, event.Member("delta"))
		claudeMessagePieces.fold(&f.body, event) // contains usage
	case "content_block_start":
		block().putAll(event.Member("content_block"))
	case "content_block_delta":
		claudeDelta.fold(block(), event.Member("delta"))
	case "message_stop":
		f.done = true
	case "": // other kinds have no content: ping, content_block_stop
		f.wrong = errors.New("an event without a type")
	}
}
