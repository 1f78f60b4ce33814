package page

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// A Setting is a member of config.json, or a rule in it, that changed.
type Setting struct {
	drift.Change
	Takes *Takes `json:"takes,omitempty"` // of a rule: what that is in what it finds; the one before, if it was removed
}

// Takes is what a rule takes of the texts of calls.
type Takes struct {
	Texts  int       `json:"texts"` // of the state before, each once
	Calls  int       `json:"calls"` // that have one of these
	Sample string    `json:"sample,omitempty"`
	New    []NewText `json:"new,omitempty"`    // the first that only the state now has
	Others int       `json:"others,omitempty"` // how many more there are
	Partly bool      `json:"partly,omitempty"` // not all texts were looked at
}

// A NewText is where a text is that a rule takes of, and how long. Nobody has reviewed what it says.
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

// Lines says what a rule takes, in a few lines.
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
		lines = append(lines, fmt.Sprintf("takes a new text: %s, call %d, %s, %s", n.File, n.Call, n.Pointer, Count(n.Bytes, "byte", "bytes")))
	}
	if t.Others > 0 {
		lines = append(lines, "takes "+Count(t.Others, "more new text", "more new texts"))
	}
	if t.Partly {
		lines = append(lines, "not all texts were looked at, as the store is large")
	}
	return lines
}

// Settings shows what changed in config.json: nothing where nothing did.
func (p *Page) Settings(all []*Setting) {
	if len(all) == 0 {
		return
	}
	p.line(bold, "", SettingsTitle(all))
	p.SettingChanges(all)
}

// SettingChanges shows what changed in config.json, below a headline that says how much.
func (p *Page) SettingChanges(all []*Setting) {
	for _, s := range all {
		p.changes(changeLines, 1, s.Change)
		for _, line := range s.Takes.Lines() {
			p.lines(margin+margin, "", plaintext.Line(line))
		}
	}
}

// settings adds what changed in config.json: all of it, by name alone, or only how much.
func (m *markdown) settings(all []*Setting) {
	if len(all) == 0 {
		return
	}
	title := "\n**" + SettingsTitle(all) + "**\n"
	m.add(title+settingsMarkdown(all, false), title+settingsMarkdown(all, true), title)
}

// settingsMarkdown shows what changed in config.json as GitHub-flavoured Markdown. brief: by name alone.
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
