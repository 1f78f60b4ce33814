package drift

import (
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A spelling is a way to show JSON to people.
type spelling int

const (
	laidOut  spelling = iota // JSON with one value per line
	readable                 // texts unchanged, everything else as JSON
	spoken                   // the content of a message or of a part
)

// A spelledText is a text with its spelling.
type spelledText struct {
	sum uint64
	how spelling
}

// Spoken shows the content of a message, given as JSON, to people.
func Spoken(content json.RawMessage) string { return spoken.text(content) }

// text spells canonical JSON.
func (s spelling) text(value json.RawMessage) string {
	if s == laidOut {
		return string(jsontext.Indented(value))
	}
	v := jsontext.ValueOf(value)
	if text, ok := v.Text(); ok {
		return text
	}
	if s == readable {
		return string(jsontext.Indented(value))
	}
	if content := v.Member("content"); content.Present() && v.Member("role").Present() { // a message
		return s.text(content.Raw())
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
		lines = append(lines, readable.text(output.Raw()))
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
