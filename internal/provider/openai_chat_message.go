package provider

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// Words that Metadata's $wire has in this API: how the wire spelled what is usually spelled
// otherwise.
const (
	wireArray        = "array"         // content: a list, though its only text would do as a string
	wireString       = "string"        // media: a string where most have an object with a url
	wireReasoning    = "reasoning"     // reasoning: in that member, not in reasoning_content
	wireThinking     = "thinking"      // reasoning: a block of the content, as a list of texts
	wireThought      = "thought"       // reasoning: a block of the content, as text
	wireToolPlan     = "tool_plan"     // reasoning: in that member
	wireRefusal      = "refusal"       // text: in the member refusal of the message
	wireFunctionCall = "function_call" // tool request: in that member, not in tool_calls
	wireUntyped      = "untyped"       // tool request: without a type
	wireBare         = "bare"          // tool request: with a type, but without arguments
)

func mark(o *modelio.Object, word string) { keep(o, markWire, jsonText(word)) }

func marked(o modelio.Object, word string) bool {
	return bytes.Equal(o[markWire], jsonText(word))
}

// chatMessage decodes a message. Its parts are in the order reasoning, content, refusal, tool
// calls, wherever the members stood. A member that fits no part is kept in Metadata.
func chatMessage(v value) modelio.Message {
	var m modelio.Message
	chatRole(&m, v.member("role"))
	if m.Role == modelio.RoleTool {
		chatToolMessage(&m, v)
		return m
	}
	var reasoning, content, refusal, calls []modelio.Part
	for name, f := range v.members() {
		switch name {
		case "role":
			continue
		case "reasoning_content", wireReasoning, wireToolPlan:
			if f.isWord() && (name != wireReasoning || !v.member("reasoning_content").isWord()) {
				part := modelio.ReasoningPart(f.word())
				if name != "reasoning_content" {
					mark(&part.Metadata, name)
				}
				reasoning = append(reasoning, part)
				continue
			}
		case "content":
			if parts, ok := chatContent(f); ok {
				content = parts
				if f.isArray() && isPlainText(parts) {
					mark(&m.Metadata, wireArray)
				}
				continue
			}
		case "refusal":
			if f.isWord() {
				part := modelio.TextPart(f.word())
				mark(&part.Metadata, wireRefusal)
				refusal = []modelio.Part{part}
				continue
			}
		case "tool_calls":
			if parts, ok := chatToolCalls(f); ok {
				calls = append(parts, calls...)
				continue
			}
		case "function_call":
			if part, ok := chatFunctionCall(f); ok {
				calls = append(calls, part)
				continue
			}
		}
		keep(&m.Metadata, name, f.raw())
	}
	m.Content = joined(reasoning, content, refusal, calls)
	return m
}

// joined returns all parts in order, without a copy where only one list has any.
func joined(lists ...[]modelio.Part) []modelio.Part {
	var all []modelio.Part
	for _, parts := range lists {
		if len(all) == 0 {
			all = parts
		} else {
			all = append(all, parts...)
		}
	}
	return all
}

// isPlainText reports whether parts could have been a string.
func isPlainText(parts []modelio.Part) bool {
	return len(parts) == 1 && parts[0].Text != nil && len(parts[0].Metadata) == 0
}

// chatToolMessage decodes the result of one tool call.
func chatToolMessage(m *modelio.Message, v value) {
	result := &modelio.ToolResponse{}
	for name, f := range v.members() {
		switch name {
		case "role":
			continue
		case "tool_call_id":
			if f.isWord() {
				result.Ref = f.word()
				continue
			}
		case "name": // not encoded from the field, which may be the name of the call
			result.Name = f.word()
		case "content":
			if f.isString() {
				result.Output = f.raw()
				continue
			}
			if parts, ok := chatContent(f); ok {
				result.Content = parts
				continue
			}
		}
		keep(&m.Metadata, name, f.raw())
	}
	m.Content = []modelio.Part{{ToolResponse: result}}
}

// chatContent decodes the content of a message: a string, or a list of blocks.
func chatContent(v value) ([]modelio.Part, bool) {
	if text, ok := v.text(); ok {
		return []modelio.Part{modelio.TextPart(text)}, true
	}
	if v.isEmpty() || !v.isArray() {
		return nil, false
	}
	var parts []modelio.Part
	for _, block := range v.elements() {
		if !block.isObject() {
			return nil, false
		}
		parts = append(parts, chatBlock(block))
	}
	return parts, true
}

// chatBlock decodes one block of a content list. A block of a kind that has no part, or that is
// not as its kind should be, becomes a custom part with all of its members.
func chatBlock(v value) modelio.Part {
	kind := v.member("type").word()
	inner := v.member(kind)
	var part modelio.Part
	switch kind {
	case "text", "refusal":
		text, ok := inner.text()
		if !ok {
			break
		}
		part = modelio.TextPart(text)
		part.Metadata = v.rest("type", kind)
		if kind == "refusal" {
			keep(&part.Metadata, "type", jsonText(kind))
		}
		return part
	case "image_url", "video_url", "audio_url", "document_url":
		switch url := inner.member("url"); {
		case url.isWord():
			part = media(url.word())
			part.Metadata = v.rest("type", kind)
			keepRest(&part.Metadata, kind, inner, "url")
		case inner.isWord():
			part = media(inner.word())
			part.Metadata = v.rest("type", kind)
			mark(&part.Metadata, wireString)
		}
	case "input_audio":
		format, data := inner.member("format").word(), inner.member("data")
		contentType := audioType(format)
		if !data.isWord() || !isContentType(contentType) || audioFormat(contentType) != format {
			break
		}
		part = modelio.MediaPart(contentType, dataURL(contentType, data.word()))
		part.Metadata = v.rest("type", kind)
		keepRest(&part.Metadata, kind, inner, "format", "data")
	case "file":
		data := inner.member("file_data").word()
		if !strings.HasPrefix(data, "data:") {
			break
		}
		part = media(data)
		part.Metadata = v.rest("type", kind)
		keepRest(&part.Metadata, kind, inner, "file_data")
	case "thinking":
		form := wireThought
		text, ok := inner.text()
		if !ok {
			form = wireThinking
			text, ok = onlyText(inner)
		}
		if !ok {
			break
		}
		part = modelio.ReasoningPart(text)
		part.Metadata = v.rest("type", kind)
		mark(&part.Metadata, form)
		return part
	}
	if part.Media == nil {
		return modelio.Part{Custom: v.object()}
	}
	if chatMediaKind(part.Media) != kind {
		keep(&part.Metadata, "type", jsonText(kind))
	}
	return part
}

// onlyText returns the text of a list that holds one text block and nothing else.
func onlyText(v value) (string, bool) {
	if v.length() != 1 {
		return "", false
	}
	for _, block := range v.elements() {
		if block.length() == 2 && block.member("type").word() == "text" && block.member("text").isWord() {
			return block.member("text").word(), true
		}
	}
	return "", false
}

// chatMediaKind returns the type of block that media of its content type usually has.
func chatMediaKind(m *modelio.Media) string {
	_, _, isData := splitDataURL(m.URL)
	switch major, _, _ := strings.Cut(m.ContentType, "/"); {
	case major == "audio" && isData:
		return "input_audio"
	case major == "video":
		return "video_url"
	case isData && major != "image":
		return "file"
	}
	return "image_url"
}

func chatToolCalls(v value) ([]modelio.Part, bool) {
	if v.isEmpty() || !v.isArray() {
		return nil, false
	}
	var parts []modelio.Part
	for _, call := range v.elements() {
		part, ok := chatToolCall(call)
		if !ok {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}

// chatToolCall decodes a call of a function or of a custom tool.
func chatToolCall(v value) (modelio.Part, bool) {
	kind, known := "function", v.member("type")
	if known.present() {
		kind = known.word()
	}
	inner := v.member(kind)
	part := modelio.Part{
		ToolRequest: &modelio.ToolRequest{Name: inner.member("name").word()},
		Metadata:    v.rest("type", "id", kind),
	}
	if part.ToolRequest.Name == "" {
		return part, false
	}
	if id := v.member("id"); id.isWord() {
		part.ToolRequest.Ref = id.word()
	} else if id.present() {
		keep(&part.Metadata, "id", id.raw())
	}
	switch kind {
	case "function":
		rest := inner.rest("name", "arguments")
		bare := !setArguments(part.ToolRequest, inner.member("arguments"), &rest)
		if rest != nil {
			keep(&part.Metadata, kind, jsonObject(rest))
		}
		switch {
		case bare && !known.present():
			return part, false
		case bare:
			mark(&part.Metadata, wireBare)
		case !known.present():
			mark(&part.Metadata, wireUntyped)
		}
	case "custom":
		if !inner.member("input").isString() {
			return part, false
		}
		part.ToolRequest.Input = inner.member("input").raw()
		keepRest(&part.Metadata, kind, inner, "name", "input")
		keep(&part.Metadata, "type", jsonText(kind))
	default:
		return part, false
	}
	return part, true
}

// chatFunctionCall decodes the one function call that a message had before there were tools.
func chatFunctionCall(v value) (modelio.Part, bool) {
	part := modelio.Part{
		ToolRequest: &modelio.ToolRequest{Name: v.member("name").word()},
		Metadata:    v.rest("name", "arguments"),
	}
	if part.ToolRequest.Name == "" || !setArguments(part.ToolRequest, v.member("arguments"), &part.Metadata) {
		return part, false
	}
	mark(&part.Metadata, wireFunctionCall)
	return part, true
}

// setArguments takes the arguments of a call, a string that holds the text of an object. Where
// the input does not say what the string was, it is kept in rest: the model has seen each of its
// characters. It reports false if there are no arguments.
func setArguments(call *modelio.ToolRequest, v value, rest *modelio.Object) bool {
	if !v.present() {
		return false
	}
	if text, ok := v.text(); ok && text != "" {
		input := []byte(text)
		if input[0] == '{' && canon.Canonical(input) {
			call.Input = input
			return true
		}
		doc, err := parse(input)
		if err != nil || !doc.root().isObject() { // cut off, say
			call.Input = v.raw()
			return true
		}
		var compact bytes.Buffer
		_ = json.Compact(&compact, input) // parse has accepted it
		call.Input = compact.Bytes()
	} else if v.isObject() {
		call.Input = v.raw()
	}
	keep(rest, "arguments", v.raw())
	return true
}

// argumentsOf undoes setArguments, but for what it left in rest.
func argumentsOf(input json.RawMessage) json.RawMessage {
	switch {
	case input == nil:
		return jsonText("{}")
	case input[0] == '"':
		return input
	}
	return jsonText(string(input))
}
