package drift

import (
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Spelling is a way to show JSON to people.
type Spelling int

const (
	laidOut  Spelling = iota // JSON with one value per line
	Readable                 // texts unchanged, everything else as JSON
	Spoken                   // the content of a message or of a part
)

// Text spells canonical JSON.
func (s Spelling) Text(value json.RawMessage) string {
	v := jsontext.ValueOf(value)
	if text, ok := v.Text(); ok && s != laidOut {
		return text
	}
	if s != Spoken {
		return string(jsontext.Indented(value))
	}
	if content := v.Member("content"); content.Present() && v.Member("role").Present() { // a message
		return s.Text(content.Raw())
	}
	var lines []string
	for _, e := range v.Elements() { // of a content, or tool calls
		lines = append(lines, partLines(e)...)
	}
	if !v.IsArray() {
		lines = partLines(v)
	}
	return strings.Join(lines, "\n")
}

// partLines returns the content of a part: a text, reasoning, a tool call or its result.
func partLines(part jsontext.Value) []string {
	request, response := part.Member("toolRequest"), part.Member("toolResponse")
	if text, ok := part.Member("text").Text(); ok {
		return []string{text}
	}
	if text, ok := part.Member("reasoning").Text(); ok {
		return []string{"[reasoning]", text}
	}
	if part.Member("name").Present() && part.Member("ref").Present() {
		request = part
	}
	switch {
	case request.Present():
		return []string{request.Member("name").Word() + "(" + inline(request.Member("input")) + ")"}
	case !response.Present():
		return []string{string(jsontext.Indented(part.Raw()))}
	}
	lines := []string{response.Member("name").Word() + " returned"}
	if output := response.Member("output"); output.Present() {
		lines = append(lines, Readable.Text(output.Raw()))
	}
	for _, part := range response.Member("content").Elements() {
		lines = append(lines, partLines(part)...)
	}
	return lines
}

// inline spells arguments, on one line if they are short.
func inline(value jsontext.Value) string {
	const short = 80 // bytes
	if raw := value.Raw(); len(raw) <= short {
		return string(raw)
	}
	return string(jsontext.Indented(value.Raw()))
}

// Listed names a part that is an item of a list, such as a server's list of tools: "tool add". It reports false for any
// other part.
func Listed(p jsontext.Value) (name string, ok bool) {
	custom := p.Member("custom")
	for kind, listed := range custom.Members() {
		name, ok = kind+" "+listed.Member("name").Word(), custom.Len() == 1 && listed.Member("name").IsWord()
	}
	return name, ok
}
