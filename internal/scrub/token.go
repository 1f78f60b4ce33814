package scrub

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/pattern"
)

// A token is something in a text that is, or looks like, a placeholder.
type token struct {
	span
	name string // empty means that it is {{}}, or what {{}} stands in front of
	said bool   // it is {{name:+n}}
	n    int
}

// literally stands in front of what only looks like a placeholder.
const literally = "{{}}"

var tokenForm = regexp.MustCompile(`\{\{(?:([a-z][a-z0-9_-]*(?:\.[a-z]+)?):(\+?)([1-9][0-9]{0,5}))?\}\}`)

// tokens returns what is or looks like a placeholder.
func tokens(text string) (all []token) {
	for _, m := range tokenForm.FindAllStringSubmatchIndex(text, -1) {
		t := token{span: span{m[0], m[1]}}
		if m[2] >= 0 {
			t.name, t.said = text[m[2]:m[3]], m[5] > m[4]
			t.n, _ = strconv.Atoi(text[m[6]:m[7]])
		}
		all = append(all, t)
	}
	return all
}

// storedTokens returns the placeholders of a text that was scrubbed. What a {{}} in front says to be none is a token
// without a name, together with the {{}}; a {{}} that stands alone is one too.
func storedTokens(text string) (all []token) {
	for _, t := range tokens(text) {
		if last := len(all) - 1; last >= 0 && t.start == all[last].end && text[all[last].start:t.start] == literally {
			all[last].end = t.end
			continue
		}
		all = append(all, t)
	}
	return all
}

func placeholder(name string, n int) string { return fmt.Sprintf("{{%s:%d}}", name, n) }

// Names returns the names of the placeholders that a scrubbed text has, each once.
func Names(text string) (names []string) {
	for _, t := range storedTokens(text) {
		name, _, _ := strings.Cut(t.name, ".") // a form of a value
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Whole returns the name of the rule whose placeholders are all that a scrubbed text says; empty means it says more.
func Whole(text string) (name string) {
	at := 0
	for _, t := range storedTokens(text) {
		if t.name == "" || strings.TrimSpace(text[at:t.start]) != "" {
			return ""
		}
		if name, at = t.name, t.end; pattern.IsVolatile(name) {
			return ""
		}
	}
	if strings.TrimSpace(text[at:]) != "" {
		return ""
	}
	name, _, _ = strings.Cut(name, ".")
	return name
}

// An edit replaces a part of a text.
type edit struct {
	span
	with string
}

// edited returns a text with edits, which are in order and do not overlap.
func edited(text string, edits []edit) string {
	if len(edits) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(text[at:e.start])
		b.WriteString(e.with)
		at = e.end
	}
	b.WriteString(text[at:])
	return b.String()
}
