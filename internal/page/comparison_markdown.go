package page

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// Markdown shows the comparison as GitHub-flavoured Markdown that is no longer than [MarkdownLimit]. What is left
// out is counted; command shows it.
func (c *Comparison) Markdown(command string) string {
	m := markdown{most: MarkdownLimit - 500} // for what is said of what is left out
	m.add("### traceforge: " + c.Tally() + "\n")
	for _, b := range Blocks(c.Causes) {
		m.add(b.markdown())
	}
	for _, s := range c.Sections() {
		m.add(s.markdown())
	}
	if m.left > 0 {
		fmt.Fprintf(&m.text, "\n%s left out: %s\n", Count(m.left, "part is", "parts are"), Code(command))
	}
	return m.text.String()
}

// A markdown is a text that has a greatest length.
type markdown struct {
	text strings.Builder
	most int
	left int // parts that did not fit
}

// add adds a part where it fits, and all parts before it did.
func (m *markdown) add(part string) {
	if m.left > 0 || m.text.Len()+len(part) > m.most {
		m.left++
		return
	}
	m.text.WriteString(part)
}

// Tally says how much differs: "2 causes, 1 test added".
func (c *Comparison) Tally() string {
	var parts []string
	if n := len(Blocks(c.Causes)); n > 0 {
		parts = append(parts, Count(n, "cause", "causes"))
	}
	for _, s := range c.Sections() {
		parts = append(parts, s.Headline)
	}
	if len(parts) == 0 {
		return "no document changed"
	}
	return strings.Join(parts, ", ")
}

// markdown shows a block: what changed open, where folded.
func (b Block) markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n**%s%s**\n", Code(b.subject()), b.extent())
	var lines []string
	style := drift.Style{Width: 160, Around: 1, Most: 40}
	if !b.onlyAnswers() {
		fmt.Fprintf(&text, "\nfirst: %s\n\n", Code(Where(b[0].Calls[0])))
		for _, c := range b {
			lines = append(lines, style.Lines(c.Change)...)
		}
		text.WriteString(CodeBlock("diff", strings.Join(lines, "\n")))
	}
	for _, answered := range b[0].Answers {
		if answered.Changes == nil {
			break
		}
		lines = nil
		for _, c := range answered.Changes {
			lines = append(lines, style.Lines(c)...)
		}
		fmt.Fprintf(&text, "\nthe answer of %s\n\n%s", Code(Where(answered.Place)), CodeBlock("diff", strings.Join(lines, "\n")))
	}
	if tests := testsOf(b[0].Calls); len(tests) > 1 {
		fmt.Fprintf(&text, "\n<details><summary>%s</summary>\n\n", Count(len(tests), "test", "tests"))
		var names []string
		for _, t := range tests {
			names = append(names, fmt.Sprintf("%s in %s, %s", Code(t.Test.Test), Code(t.Package), Count(t.calls, "call", "calls")))
		}
		fmt.Fprintf(&text, "- %s\n\n</details>\n", strings.Join(Most(100, names, "more tests"), "\n- "))
	}
	return text.String()
}

func (s *Section) markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n**%s**\n\n", s.title())
	for i, item := range s.Items {
		if i == shownDocuments+namedDocuments {
			fmt.Fprintf(&text, "- and %d more\n", len(s.Items)-i)
			break
		}
		fmt.Fprintf(&text, "- %s\n", Code(item.Line))
		if i < shownDocuments && len(item.Lines) > 0 {
			for line := range strings.Lines(CodeBlock("", strings.Join(item.Lines, "\n"))) {
				text.WriteString("  " + line)
			}
		}
	}
	return text.String()
}
