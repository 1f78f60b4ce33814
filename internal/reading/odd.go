package reading

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
)

// odd adds a reading for each oddity that no server of the API sends. It reports whether programs may parse the answer
// in different ways.
func (f *finder) odd(a *provider.Answer, named bool) bool {
	odd := bytes.HasPrefix(a.Body, []byte("\ufeff"))
	if odd {
		f.add(0, "byte-order-mark", "")
	}
	all := a.Seen()
	if all == nil {
		doc, err := a.Document()
		return f.oddJSON(0, a.Body, doc, err) || odd
	}
	switch {
	case a.Body[0] == 0: // frames
	case !bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("{")):
		odd = f.oddLines(a.Body) || odd
	case a.Body[0] != '{' || bytes.Count(a.Body, []byte("\n{")) != bytes.Count(a.Body, []byte("\n"))-1:
		odd = true // some programs stop at a line that is not an object
	}
	done, stops := false, bytes.Count(a.Body, []byte("[DONE]"))
	for i := range all {
		seen := &all[i]
		switch {
		case done:
			odd = true // programs stop
		case seen.Done():
			done = true
			stops--
		case seen.Piece == nil:
			doc, err := jsontext.Parse(seen.Said)
			odd = f.oddJSON(seen.Number, seen.Said, doc, err) || odd
			odd = f.oddName(seen, named) || odd
		}
	}
	return odd || stops > 0 // cohere-go stops at [DONE] within a text too
}

// oddFrames is odd for the frames of a session. Everything else that programs may read in frames is in the record.
func (f *finder) oddFrames(body []byte) {
	frames, _ := provider.Frames(body) // decoding refuses invalid frames
	for i, frame := range frames {
		doc, err := jsontext.Parse(frame.Data)
		f.oddJSON(i+1, frame.Data, doc, err)
	}
}

// oddName adds a reading for an event whose name is not its type. It reports whether the name may mislead programs.
func (f *finder) oddName(e *provider.Seen, named bool) bool {
	if (e.Name != "") != named {
		return true
	}
	if doc, err := jsontext.ParseLenient(e.Said); named && err == nil && doc.Root().Member("type").Word() != e.Name {
		f.add(e.Number, "event-name", e.Name)
		return true
	}
	return false
}

// oddLines adds a reading for each line that is not a field. It reports whether there is anything that programs may
// read differently.
func (f *finder) oddLines(body []byte) bool {
	end := body[len(bytes.TrimRight(body, "\r\n")):]
	odd := bytes.Count(end, []byte("\n")) < 2 // some programs skip an event without an end
	n, data := 1, 0
	returns := bytes.IndexByte(body, '\r') >= 0
	for line := range scannedLines(bytes.TrimPrefix(body, []byte("\ufeff"))) {
		if !returns && data == 0 && bytes.HasPrefix(line, []byte("data: ")) {
			data = 1
			continue // the usual case
		}
		if len(line) == 0 {
			odd = odd || data == 0 // some programs stop at an extra empty line
			n, data = n+min(1, data), 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch known := slices.Contains(fields, string(field)); {
		case bytes.IndexByte(line, '\r') >= 0, !known:
			f.add(n, "line", string(line))
			odd = true
		case string(field) == "data":
			data++
			odd = odd || data > 1 || !bytes.HasPrefix(value, []byte(" "))
		case string(field) != "event":
			odd = true
		}
	}
	return odd
}

// fields are the names of the fields of server-sent events; "" is a comment, and "error" is llama.cpp's.
var fields = []string{"", "data", "event", "id", "retry", "error"}

// oddJSON adds a reading for a member whose name only Go's encoding/json takes for another one, because it ignores
// case. It reports whether programs may read the value differently.
func (f *finder) oddJSON(event int, text []byte, doc *jsontext.Document, err error) bool {
	if err != nil {
		doc, _ = jsontext.ParseLenient(text) // empty if it is not JSON
	}
	odd := err != nil || isScalar(doc.Root())
	for of, m := range members(doc.Root()) {
		if of.isMisspelled() {
			f.add(event, "spelling", of.name)
			return true
		}
		odd = odd || isOddKind(of.name, m) || isOtherKind(of.name, m) || isMixed(of.name, m)
	}
	return odd
}

// isOddKind reports whether programs read a member's value differently: arguments that are an object, or a piece of a
// call without an index.
func isOddKind(name string, m jsontext.Value) bool {
	if name == "tool_calls" {
		first := m.Head()
		return first.IsObject() && !first.Member("index").Present()
	}
	return name == "arguments" && m.IsObject()
}

// kinds are the kinds of members in all APIs, by the first byte of their JSON: '0' stands for an integer.
var kinds = map[string]byte{
	"completion_tokens": '0', "contentBlockIndex": '0', "eval_count": '0', "eval_duration": '0', "index": '0',
	"inputTokens": '0', "latencyMs": '0', "load_duration": '0', "outputTokens": '0', "prompt_eval_count": '0',
	"prompt_eval_duration": '0', "prompt_tokens": '0', "total_duration": '0', "totalTokens": '0', "total_tokens": '0',

	"finish_reason": '"', "model": '"', "modelVersion": '"', "name": '"', "object": '"', "responseId": '"', "role": '"',
	"stopReason": '"', "toolUseId": '"', "type": '"',

	"function": '{', "functionCall": '{', "message": '{', "metrics": '{', "toolUse": '{', "usage": '{',
	"usageMetadata": '{',
}

// isMistyped reports whether a value is neither object nor list, or has a member of the wrong kind. Typed programs end
// at it with an error.
func isMistyped(v jsontext.Value) bool {
	for of, m := range members(v) {
		if isOtherKind(of.name, m) || isMixed(of.name, m) {
			return true
		}
	}
	return isScalar(v)
}

func isOtherKind(name string, m jsontext.Value) bool {
	switch kind := kinds[name]; {
	case kind == 0 || m.IsNull():
		return false
	case kind == '0':
		_, isInteger := m.Integer()
		return !isInteger
	default:
		return m.Raw()[0] != kind
	}
}

// isMixed reports whether a member with the model's words is a list that contains both objects and other values. Typed
// programs cannot read such a list.
func isMixed(name string, m jsontext.Value) bool {
	return slices.Contains(spoken, name) && isOfOthers(m)
}

// isOfOthers reports whether a list contains both an object and another value. A null counts as an object.
func isOfOthers(list jsontext.Value) bool {
	objects, others := false, false
	for _, e := range list.Elements() {
		objects, others = objects || e.IsObject(), others || !e.IsObject() && !e.IsNull()
	}
	return objects && others
}

func isScalar(v jsontext.Value) bool { return !v.IsObject() && !v.IsArray() && !v.IsNull() }

// spoken are the names of members with a model's words, in the APIs that have a codec.
var spoken = []string{
	"arguments", "args", "candidates", "contentBlockIndex", "content_block", "done_reason", "index", "item",
	"output_index", "partial_json", "start", "thought", "choices", "content", "delta", "error", "finish_reason",
	"finishReason", "function", "function_call", "functionCall", "input", "message", "name", "output", "parts", "refusal",
	"response", "stop_reason", "stopReason", "text", "thinking", "tool_calls", "tool_use", "toolUse", "type",

	"annotations", "audio", "b64_json", "bytes", "cited_text", "citations", "citationsContent", "code",
	"codeExecutionResult", "custom", "data", "document", "encrypted_content", "executableCode", "fileData", "fileUri",
	"groundingMetadata", "image", "images", "image_url", "inlineData", "reasoning", "reasoning_content",
	"reasoning_details", "reasoningContent", "reasoningText", "result", "search_results", "signature", "snippet",
	"summary", "thoughtSignature", "title", "tool_plan", "transcript", "uri", "url", "url_citation", "video",
}

// free are the names of members whose own members the caller names, or in which Cohere repeats the conversation.
var free = []string{
	"args", "arguments", "attributes", "chat_history", "input", "inputSchema", "input_schema", "json", "metadata",
	"outputSchema", "output_schema", "parameters", "schema", "tool_output", "variables",
}

// A member is a member of an object, with its name.
type member struct {
	name  string
	other bool // the name is not all small letters
	twin  bool // the name differs from that of another member of the object only in case
}

// members yields the members of a value at all depths, except for those below the names in free.
func members(v jsontext.Value) iter.Seq2[member, jsontext.Value] {
	return func(yield func(member, jsontext.Value) bool) { visit(v, yield) }
}

// visit reports whether to continue.
func visit(v jsontext.Value, yield func(member, jsontext.Value) bool) bool {
	var spelled map[string]string
	for name, m := range v.Members() {
		its := member{name: name, other: strings.ContainsFunc(name, isOther)}
		if its.other {
			if spelled == nil {
				spelled = spellings(v)
			}
			its.twin = spelled[folded(name)] == ""
		}
		ofCaller := slices.Contains(free, name) || name == "document" && v.Member("type").Word() == name // Cohere's source
		if !yield(its, m) || !ofCaller && !visit(m, yield) {
			return false
		}
	}
	for _, e := range v.Elements() {
		if !visit(e, yield) {
			return false
		}
	}
	return true
}

// spellings returns the names of an object's members by their folded names; empty if several names have the same folded
// name.
func spellings(v jsontext.Value) map[string]string {
	spelled := map[string]string{}
	for name := range v.Members() {
		alike := folded(name)
		if was, known := spelled[alike]; known && was != name {
			name = ""
		}
		spelled[alike] = name
	}
	return spelled
}

// isOther reports whether a letter is a capital or not ASCII. Most names have no such letter and need no further
// checks.
func isOther(c rune) bool { return 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf }

// folded returns the same name for all names that encoding/json treats as equal.
func folded(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// isMisspelled reports whether only encoding/json, which ignores case, takes a name for one of spoken or for that of
// another member of the object.
func (m member) isMisspelled() bool {
	fold := func(s string) bool { return strings.EqualFold(s, m.name) }
	return m.twin || m.other && !slices.Contains(spoken, m.name) && slices.ContainsFunc(spoken, fold)
}
