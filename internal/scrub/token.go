package scrub

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/pattern"
)

// A token is a placeholder in a text, or a text that looks like one.
type token struct {
	span
	name string // empty for {{}}, and for the text that a {{}} marks
	said bool   // the token is {{name:+n}}
	n    int
}

// literally marks the following text as one that only looks like a placeholder.
const literally = "{{}}"

var tokenForm = regexp.MustCompile(`\{\{(?:([a-z][a-z0-9_-]*(?:\.[a-z]+)?):(\+?)([1-9][0-9]{0,5}))?\}\}`)

// tokens returns the placeholders in a text, and whatever looks like one.
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

// storedTokens returns the placeholders of a scrubbed text. A text that is marked by {{}}, including the mark, is a
// token without a name, and a {{}} on its own is one too.
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

// Names returns the names of the placeholders in a scrubbed text, without duplicates.
func Names(text string) (names []string) {
	for _, t := range storedTokens(text) {
		name, _, _ := strings.Cut(t.name, ".") // the form of a value
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Whole returns the name of the rule whose placeholders make up the complete scrubbed text; empty if there is any other
// text.
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

// edited returns a text with edits applied, which must be in order and must not overlap.
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
