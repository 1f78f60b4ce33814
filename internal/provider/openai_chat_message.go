package provider

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A partTaker takes a member of a message into parts of its content. It reports false for a value that does not fit.
type partTaker struct {
	name string
	take toParts
}

type toParts func(m *modelio.Message, name string, v jsontext.Value) ([]modelio.Part, bool)

// takeParts takes the members of a message into its content, in the order of takers, whatever their order in the
// message. A member that fits no part is kept in Metadata.
func takeParts(m *modelio.Message, v jsontext.Value, takers []partTaker) {
	var found [8]jsontext.Value // no API has more takers
	for name, f := range v.Members() {
		i := slices.IndexFunc(takers, func(taker partTaker) bool { return taker.name == name })
		if i >= 0 {
			found[i] = f
		} else if name != "role" {
			jsontext.Keep(&m.Metadata, name, f.Raw())
		}
	}
	for i, taker := range takers {
		if !found[i].Present() {
			continue
		}
		parts, ok := taker.take(m, taker.name, found[i])
		switch {
		case !ok:
			jsontext.Keep(&m.Metadata, taker.name, found[i].Raw())
		case m.Content == nil:
			m.Content = parts
		default:
			m.Content = append(m.Content, parts...)
		}
	}
}

var chatParts = []partTaker{
	{"reasoning_content", chatReasoning},
	{"reasoning", chatReasoning},
	{"tool_plan", chatReasoning},
	{"content", chatMessageContent},
	{"refusal", chatRefusal},
	{"tool_calls", listOf(chatToolCall)},
	{"function_call", chatFunctionCall},
}

func chatMessage(m *modelio.Message, v jsontext.Value) {
	if chatRole(m, v.Member("role")); m.Role == modelio.RoleTool {
		chatResult(m, v)
	} else {
		takeParts(m, v, chatParts)
	}
}

func chatReasoning(m *modelio.Message, name string, v jsontext.Value) ([]modelio.Part, bool) {
	part := modelio.ReasoningPart(v.Word())
	if name != "reasoning_content" {
		mark(&part.Metadata, name)
	}
	again := name == "reasoning" && len(m.Content) > 0 // some hosts send it under both names
	return []modelio.Part{part}, v.IsWord() && !again
}

func chatMessageContent(m *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	parts, ok := chatContent(v)
	if v.IsArray() && IsPlainText(parts) {
		mark(&m.Metadata, WireArray)
	}
	return parts, ok
}

func chatRefusal(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	part := modelio.TextPart(v.Word())
	mark(&part.Metadata, WireRefusal)
	return []modelio.Part{part}, v.IsWord()
}

// IsPlainText reports whether parts could be written as a string.
func IsPlainText(parts []modelio.Part) bool {
	return len(parts) == 1 && parts[0].Text != nil && len(parts[0].Metadata) == 0
}

// chatResult takes a message that is the result of one tool call. The name of the tool is encoded from Metadata,
// because that of the field may be the name of the call.
func chatResult(m *modelio.Message, v jsontext.Value) {
	result := &modelio.ToolResponse{Name: v.Member("name").Word()}
	var taken []string
	if content := v.Member("content"); content.IsString() {
		result.Output, taken = content.Raw(), []string{"content"}
	} else if parts, ok := chatContent(content); ok {
		result.Content, taken = parts, []string{"content"}
	}
	takeResult(m, v, result, taken...)
}

// takeResult makes a message the result of a tool call. Members that are not taken are kept in Metadata.
func takeResult(m *modelio.Message, v jsontext.Value, result *modelio.ToolResponse, taken ...string) {
	result.Ref = v.Member("tool_call_id").Word()
	m.Content = []modelio.Part{{ToolResponse: result}}
	for name, raw := range v.Rest(append(taken, append(wordsOf(v, "tool_call_id"), "role")...)...) {
		jsontext.Keep(&m.Metadata, name, raw)
	}
}

// chatContent decodes the content of a message: a string, or a list of blocks.
func chatContent(v jsontext.Value) ([]modelio.Part, bool) {
	if text, ok := v.Text(); ok {
		one := &struct { // one allocation
			parts [1]modelio.Part
			text  string
		}{text: text}
		one.parts[0].Text = &one.text
		return one.parts[:], true
	}
	return objects(v, chatBlock)
}

// chatBlock decodes a block of a content list. A block that no part can represent, or that does not have the form of
// its kind, becomes a custom part with all of its members.
func chatBlock(v jsontext.Value) modelio.Part {
	kind := v.Member("type").Word()
	inner := v.Member(kind)
	part := modelio.Part{Metadata: v.Rest("type", kind)}
	usual, ok := kind, false
	switch kind {
	case "text", "refusal":
		part.Text, ok = textField(inner)
		usual = "text"
	case "image_url", "video_url", "audio_url", "document_url":
		url := inner.Member("url")
		if jsontext.KeepRest(&part.Metadata, kind, inner, "url"); inner.IsWord() {
			url = inner
			mark(&part.Metadata, WireString)
		}
		part.Media, ok = media(url.Word()).Media, url.IsWord()
	case "input_audio":
		part.Media, ok = formattedMedia("audio", inner.Member("format").Word(), inner.Member("data").Word())
		jsontext.KeepRest(&part.Metadata, kind, inner, "format", "data")
	case "file":
		data := inner.Member("file_data").Word()
		part.Media, ok = media(data).Media, strings.HasPrefix(data, "data:")
		jsontext.KeepRest(&part.Metadata, kind, inner, "file_data")
	case "thinking":
		form := WireThought
		if part.Reasoning, ok = textField(inner); !ok {
			form = WireThinking
			*part.Reasoning, ok = onlyText(inner)
		}
		mark(&part.Metadata, form)
	}
	if part.Media != nil {
		usual = ChatMediaKind(part.Media)
	}
	keepType(&part.Metadata, kind, usual)
	return partOf(v, part, ok)
}

// onlyText returns the text of a list with a single text block.
func onlyText(v jsontext.Value) (string, bool) {
	block := v.Head()
	text := block.Member("text").Word()
	return text, v.Len() == 1 && block.Len() == 2 && block.Member("type").Word() == "text" && text != ""
}

// ChatMediaKind returns the usual type of block for media of a content type.
func ChatMediaKind(m *modelio.Media) string {
	_, _, isData := SplitDataURL(m.URL)
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

// listOf returns the function that takes a non-empty list, each element as a part.
func listOf(one func(jsontext.Value) (modelio.Part, bool)) toParts {
	return func(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
		parts, ok := allOf(v, one)
		return parts, ok && len(parts) > 0
	}
}

// blocksOf returns the function that takes a non-empty list of objects, each as a part.
func blocksOf(one func(jsontext.Value) modelio.Part) toParts {
	return func(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) { return objects(v, one) }
}

// chatToolCall decodes a call of a function or of a custom tool.
func chatToolCall(v jsontext.Value) (modelio.Part, bool) {
	kind, typed := "function", v.Member("type").Present()
	if typed {
		kind = v.Member("type").Word()
	}
	inner, id := v.Member(kind), v.Member("id")
	call := &modelio.ToolRequest{Name: inner.Member("name").Word(), Ref: id.Word()}
	part := modelio.Part{ToolRequest: call, Metadata: v.Rest("type", "id", kind)}
	if id.Present() && !id.IsWord() {
		jsontext.Keep(&part.Metadata, "id", id.Raw())
	}
	ok := call.Name != ""
	switch kind {
	case "function":
		var rest modelio.Object = inner.Rest("name", "arguments")
		bare := !setArguments(call, inner.Member("arguments"), &rest)
		jsontext.KeepObject(&part.Metadata, kind, rest)
		if bare {
			mark(&part.Metadata, WireBare)
		} else if !typed {
			mark(&part.Metadata, WireUntyped)
		}
		return part, ok && (typed || !bare)
	case "custom":
		call.Input = inner.Member("input").Raw()
		jsontext.KeepRest(&part.Metadata, kind, inner, "name", "input")
		jsontext.Keep(&part.Metadata, "type", jsontext.Text(kind))
		return part, ok && inner.Member("input").IsString()
	}
	return part, false
}

// chatFunctionCall decodes the single function call that a message had before there were tools.
func chatFunctionCall(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	part := modelio.Part{
		ToolRequest: &modelio.ToolRequest{Name: v.Member("name").Word()},
		Metadata:    v.Rest("name", "arguments"),
	}
	ok := part.ToolRequest.Name != "" && setArguments(part.ToolRequest, v.Member("arguments"), &part.Metadata)
	mark(&part.Metadata, WireFunctionCall)
	return []modelio.Part{part}, ok
}

// setArguments takes the arguments of a call, a string with the text of an object. If the input does not determine the
// string, it is kept in rest, because the model has seen each of its characters. It reports false if there are no
// arguments.
func setArguments(call *modelio.ToolRequest, v jsontext.Value, rest *modelio.Object) bool {
	text, isText := v.Text()
	input := []byte(text)
	switch {
	case !v.Present():
		return false
	case v.IsObject():
		call.Input = v.Raw()
	case !isText || text == "":
	case input[0] == '{' && canon.Canonical(input):
		call.Input = input
		return true
	default:
		if !jsontext.ValueOf(input).IsObject() { // for example if it was cut
			call.Input = v.Raw()
			return true
		}
		call.Input = jsontext.Compact(input)
	}
	spelling := v.Raw()
	if isText && call.Input != nil && canon.Canonical(call.Input) && text == string(Spaced(call.Input)) {
		spelling = SpacedText
	}
	jsontext.Keep(rest, "arguments", spelling)
	return true
}

// SpacedText stands for a spaced text in the place of a text in Metadata.
var SpacedText = json.RawMessage(`{"$wire":"spaced"}`)

// Spaced returns a compact JSON text with a space after each comma and colon, as written by Python's json.dumps. Many
// models write in this way too, and their words are sent back in each later turn.
func Spaced(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/8)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end := min(jsontext.StringEnd(text, i+1)+1, len(text))
			out, i = append(out, text[i:end]...), end-1
		case ',', ':':
			out = append(out, c, ' ')
		default:
			out = append(out, c)
		}
	}
	return out
}
