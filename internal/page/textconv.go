package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Textconv shows a document to git, which compares lines: the conversation, followed by everything that the
// conversation leaves out or changes, as JSON. So documents with different requests or answers have different texts.
func (p *Page) Textconv(file []byte, doc *snapshot.Document) {
	p.Document("", doc) // git passes one side in a separate file, whose path has no provider
	var read struct{ Snapshots []map[string]any }
	numbers := json.NewDecoder(bytes.NewReader(file))
	numbers.UseNumber()
	if numbers.Decode(&read) != nil {
		return // doc does not belong to the file
	}
	for i, record := range read.Snapshots {
		s := &doc.Snapshots[i]
		p.heading(bold, fmt.Sprintf("call %d says besides", s.Number()))
		for _, of := range []string{"source", "request", "response"} {
			members, _ := record[of].(map[string]any)
			for _, name := range toldElsewhere[of] {
				delete(members, name)
			}
			if !isStep(s) { // its line shows little
				delete(members, "provider_options")
				fold(members)
			}
			for _, name := range slices.Sorted(maps.Keys(members)) {
				p.besides(of+" "+name, members[name])
			}
		}
	}
}

// toldElsewhere are members that the header of a conversation shows, or that differ in each recording.
var toldElsewhere = map[string][]string{
	"source":   {"file", "function", "line", "package", "test"},
	"response": {"latency_ms", "raw_output_ref", "tokens_used"},
}

// besides shows a member, with one line for each element of a list.
func (p *Page) besides(name string, value any) {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for _, v := range list {
		message, _ := v.(map[string]any)
		if v == folded || len(message) == 2 && message["content"] == folded && message["role"] != nil {
			continue
		}
		text, _ := jsontext.Marshal(v) // always possible: it was read as JSON
		p.text(name + " " + jsonText(text, p.Width-len(margin)-len(name)))
	}
}

// A foldMark replaces a value that the conversation shows completely: a text, or JSON.
type foldMark string

const folded, foldedJSON foldMark = "…", "{…}"

// The members whose texts a conversation shows, and those that contain such members.
var (
	shownTexts = []string{"content", "description", "prompt", "reasoning", "text"}
	ofTexts    = []string{"candidates", "content", "messages", "parts", "tool_calls", "toolRequest",
		"toolResponse", "tools"}
)

// fold replaces values that the conversation shows completely by a mark.
func fold(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			fold(element)
		}
	case map[string]any:
		for name, inner := range v {
			switch {
			case (name == "output" || slices.Contains(shownTexts, name)) && isShown(inner):
				v[name] = folded
			case name == "input", name == "output" && !isText(inner):
				v[name] = foldedJSON
			case slices.Contains(ofTexts, name):
				fold(inner)
			}
		}
	}
}

func isText(value any) bool { _, ok := textOf(value); return ok }

// isShown reports whether a value is a text that a page shows unchanged. It has no spaces at the ends of lines, and no
// character that must be escaped.
func isShown(value any) bool {
	text, ok := textOf(value)
	return ok && strings.Join(wrap(plaintext.Text(text), len(text)), "\n") == text
}

// textOf returns a text in a file, which may be in pieces.
func textOf(value any) (string, bool) {
	if o, ok := value.(map[string]any); ok && len(o) == 1 {
		value = o["$text"]
	}
	pieces, ok := value.([]any)
	if !ok {
		text, ok := value.(string)
		return text, ok
	}
	var whole strings.Builder
	for _, piece := range pieces {
		text, ok := piece.(string)
		if !ok {
			return "", false
		}
		whole.WriteString(text)
	}
	return whole.String(), len(pieces) > 0
}
