package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// Markdown shows the comparison as GitHub-flavored Markdown, limited to [MarkdownLimit]. It counts the parts that it
// leaves out; command shows them.
func (c *Comparison) Markdown(command string) string {
	m := markdown{most: MarkdownLimit - 500} // room for the note on what is left out
	m.text.WriteString("### traceforge: " + c.Tally() + "\n")
	for _, why := range c.Unread {
		m.add("\n- not compared: "+Code(why)+"\n", "")
	}
	m.settings(c.Config)
	for _, b := range Blocks(c.Causes) {
		m.add(b.markdown(25, 4), b.markdown(8, 1), b.markdown(0, 0))
	}
	for _, s := range c.Sections() {
		m.add(s.markdown(true), s.markdown(false), "\n**"+s.Title()+"**\n")
	}
	if m.left > 0 {
		fmt.Fprintf(&m.text, "\n%s left out or cut; all of it: %s\n", Count(m.left, "part is", "parts are"), Code(command))
	} else if LeavesOut(m.text.String()) {
		fmt.Fprintf(&m.text, "\nAll of it: %s\n", Code(command))
	}
	return m.text.String()
}

// A markdown is a text with a maximum length.
type markdown struct {
	text strings.Builder
	most int
	left int // number of parts that did not fit
}

// add adds the first of several forms of a part that fits. Parts shown in full leave room for the names of the others.
func (m *markdown) add(forms ...string) {
	for i, form := range forms {
		room := m.most - m.most*(len(forms)-1-i)/5
		if m.text.Len()+len(form) > room {
			continue
		}
		m.text.WriteString(form)
		if i > 0 {
			m.left++
		}
		return
	}
	m.left++
}

// Tally describes the differences: "2 causes, 1 test added".
func (c *Comparison) Tally() string {
	causes := ""
	if n := len(Blocks(c.Causes)); n > 0 {
		causes = Count(n, "cause", "causes")
	}
	return cmp.Or(strings.Join(c.headlines(causes), ", "), "no document changed")
}

// headlines returns how many differences of each kind there are; causes is the text for causes, if there are any.
func (c *Comparison) headlines(causes string) (all []string) {
	if n := len(c.Unread); n > 0 {
		all = append(all, Count(n, "document that cannot be read", "documents that cannot be read"))
	}
	if len(c.Config) > 0 {
		all = append(all, SettingsTitle(c.Config))
	}
	if causes != "" {
		all = append(all, causes)
	}
	for _, s := range c.Sections() {
		all = append(all, s.Headline())
	}
	return all
}

// markdown shows a block with at most changes changes, lines lines of each, and the other tests by name in one line.
func (b Block) markdown(lines, changes int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n**%s%s**\n", Code(b.Subject()), b.Extent())
	if changes == 0 {
		return text.String() + "first: " + Code(Where(b[0].Calls[0])) + "\n"
	}
	style := drift.Style{Width: 160, Around: 1, Most: lines}
	block := func(all []drift.Change) {
		var shown []string
		for _, c := range all[:min(len(all), changes)] {
			shown = append(shown, style.Lines(c)...)
		}
		if more := andMore(len(all)-changes, "change", "changes"); more != "" {
			shown = append(shown, "  … "+more)
		}
		if most := lines * changes; len(shown) > most {
			shown = append(shown[:most-1], "  … and more of it")
		}
		text.WriteString(CodeBlock("diff", strings.Join(shown, "\n")))
	}
	if !b.onlyAnswers() {
		fmt.Fprintf(&text, "\nfirst: %s\n\n", Code(Where(b[0].Calls[0])))
		var all []drift.Change
		for _, c := range b {
			all = append(all, c.Change)
		}
		block(all)
	}
	for i, answered := range b[0].Answers {
		if answered.Changes == nil || i == changes {
			fmt.Fprintf(&text, "\n%s\n", andMore(len(b[0].Answers)-i, "answer", "answers"))
			break
		}
		fmt.Fprintf(&text, "\nthe answer of %s\n\n", Code(Where(answered.Place)))
		block(answered.Changes)
	}
	if spent := b.Spent(); spent != "" {
		fmt.Fprintf(&text, "\n%s\n", spent)
	}
	if others := b.others(mostNamed); others != "" {
		fmt.Fprintf(&text, "\nalso: %s\n", Code(others))
	}
	return text.String()
}

// markdown shows a section; with whole, including details of its documents.
func (s *Section) markdown(whole bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n**%s**\n\n", s.Title())
	for i, item := range s.Items {
		if i == shownDocuments+namedDocuments {
			fmt.Fprintf(&text, "- and %d more\n", len(s.Items)-i)
			break
		}
		fmt.Fprintf(&text, "- %s\n", Code(item.Line))
		if whole && i < shownDocuments && len(item.Lines) > 0 {
			for line := range strings.Lines(CodeBlock("", strings.Join(item.Lines, "\n"))) {
				text.WriteString("  " + line)
			}
		}
	}
	if named := s.named(); whole && named != "" {
		fmt.Fprintf(&text, "\n%s\n", Code(named))
	}
	return text.String()
}

// mostNamed is the approximate number of characters for the tests of a cause in one line.
const mostNamed = 300

// CausesMarkdown shows changes in config.json, and causes, as GitHub-flavored Markdown of at most most bytes. The first
// call of each cause is shown in full, the other tests by name in one line. left is the number of parts that are
// shortened or left out.
func CausesMarkdown(config []*Setting, causes []*Cause, most int) (text string, left int) {
	m := markdown{most: most}
	m.settings(config)
	for i, b := range Blocks(causes) {
		switch {
		case i < wholeBlocks:
			m.add(b.markdown(4, 3), b.markdown(4, 1), b.markdown(0, 0))
		case i < wholeBlocks+briefBlocks:
			m.add(b.markdown(0, 0))
		default:
			m.left++
		}
	}
	return m.text.String(), m.left
}
