package page

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// mostNamed is how many characters name the tests of a cause in one line, about.
const mostNamed = 300

// CausesMarkdown shows what changed in config.json, and causes, as GitHub-flavoured Markdown of at most so many bytes, in few
// lines: the first call of each cause in full, the other tests by name in one line. left says how many parts are cut or left out.
func CausesMarkdown(config []*Setting, causes []*drift.Cause, most int) (text string, left int) {
	m := markdown{most: most}
	m.settings(config)
	for i, b := range Blocks(causes) {
		also := ""
		if others := b.others(mostNamed); others != "" {
			also = "\nalso: " + Code(others) + "\n"
		}
		whole, brief, headline := b.markdownChanges(4, 3), b.markdownChanges(4, 1), b.markdownChanges(0, 0)
		switch {
		case i < wholeBlocks:
			m.add(whole+also, brief+also, headline)
		case i < wholeBlocks+briefBlocks:
			m.add(headline)
		default:
			m.left++
		}
	}
	return m.text.String(), m.left
}

// Text shows a block as plain text of a few lines: where its first call is, what changed in it, and the other
// tests by name.
func (b Block) Text() string {
	var text strings.Builder
	text.WriteString("first: " + Where(b[0].Calls[0]) + "\n")
	style := drift.Style{Width: drift.Plain.Width, Around: 1, Most: changeLines}
	for i, c := range b {
		if i == blockChanges {
			fmt.Fprintf(&text, "and %s\n", Count(len(b)-i, "more change", "more changes"))
			break
		}
		text.WriteString(style.Text([]drift.Change{c.Change}))
	}
	if others := b.others(mostNamed); others != "" {
		text.WriteString("also: " + others + "\n")
	}
	return text.String()
}
