package page

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// A Setting is a changed member of config.json, or a changed rule in it.
type Setting struct {
	drift.Change
	// what a rule replaces in the texts that it finds; for a removed rule, what it replaced
	Takes *Takes `json:"takes,omitempty"`
}

// Takes describes what a rule replaces in the texts of calls.
type Takes struct {
	Texts  int       `json:"texts"` // texts in the earlier state, without duplicates
	Calls  int       `json:"calls"` // calls that contain one of these
	Sample string    `json:"sample,omitempty"`
	New    []NewText `json:"new,omitempty"`    // the first texts that only the current state has
	Others int       `json:"others,omitempty"` // number of further ones
	Partly bool      `json:"partly,omitempty"` // not all texts were examined
}

// A NewText is the place and the length of a text of which a rule replaces a part. Nobody has reviewed its content.
type NewText struct {
	File    string `json:"file"`
	Call    int    `json:"call"`
	Pointer string `json:"pointer"`
	Bytes   int    `json:"bytes"`
}

// SettingsTitle says how much changed in config.json.
func SettingsTitle(all []*Setting) string {
	return "config.json: " + Count(len(all), "change", "changes")
}

// Lines describes what a rule replaces, in a few lines.
func (t *Takes) Lines() (lines []string) {
	switch {
	case t == nil:
		return nil
	case t.Texts == 0:
		lines = append(lines, "takes nothing of the base")
	default:
		lines = append(lines, fmt.Sprintf("takes %s of %s of the base, such as: %s",
			Count(t.Texts, "text", "texts"), Count(t.Calls, "call", "calls"), t.Sample))
	}
	for _, n := range t.New {
		lines = append(lines,
			fmt.Sprintf("takes a new text: %s, call %d, %s, %s", n.File, n.Call, n.Pointer, Count(n.Bytes, "byte", "bytes")))
	}
	if t.Others > 0 {
		lines = append(lines, "takes "+Count(t.Others, "more new text", "more new texts"))
	}
	if t.Partly {
		lines = append(lines, "not all texts were looked at, as the store is large")
	}
	return lines
}

// Settings shows the changes in config.json, if there are any.
func (p *Page) Settings(all []*Setting) {
	if len(all) == 0 {
		return
	}
	p.line(bold, "", SettingsTitle(all))
	p.SettingChanges(all)
}

// SettingChanges shows the changes in config.json below a headline with their number.
func (p *Page) SettingChanges(all []*Setting) {
	for _, s := range all {
		p.changes(changeLines, 1, s.Change)
		for _, line := range s.Takes.Lines() {
			p.lines(margin+margin, "", plaintext.Line(line))
		}
	}
}

// settings adds the changes in config.json: in full, by name only, or only their number.
func (m *markdown) settings(all []*Setting) {
	if len(all) == 0 {
		return
	}
	title := "\n**" + SettingsTitle(all) + "**\n"
	m.add(title+settingsMarkdown(all, false), title+settingsMarkdown(all, true), title)
}

// settingsMarkdown shows the changes in config.json as GitHub-flavored Markdown; with brief, by name only.
func settingsMarkdown(all []*Setting, brief bool) string {
	var text strings.Builder
	style := drift.Style{Width: 160, Around: 1, Most: changeLines}
	for _, s := range all {
		if brief {
			fmt.Fprintf(&text, "\n- %s\n", Code(Clip(s.String(), 100)))
			continue
		}
		text.WriteString("\n" + CodeBlock("diff", strings.Join(style.Lines(s.Change), "\n")))
		for _, line := range s.Takes.Lines() {
			fmt.Fprintf(&text, "\n- %s\n", Code(line))
		}
	}
	return text.String()
}
