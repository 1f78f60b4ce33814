package coverage

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// Markdown returns the report as GitHub-flavoured Markdown.
func (c *Report) Markdown() string {
	var b strings.Builder
	t := c.total()
	fmt.Fprintf(&b, "### traceforge: %d played, %d unplayed, %d orphaned, %d missing\n\n",
		t.Played, t.Unplayed, t.Orphaned, t.Missing)
	b.WriteString("| package | played | unplayed | orphaned | missing |\n|---|--:|--:|--:|--:|\n")
	for _, p := range c.Packages {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", code(p.Package), p.Played, p.Unplayed, p.Orphaned, p.Missing)
	}
	list(&b, "Failed:", c.Failed, func(t page.Test) string { return code(t.Test) + " in " + code(t.Package) })
	list(&b, "Unrecorded:", c.Missing, func(m Unanswered) string {
		return code(m.Test.Test) + " in " + code(m.Package) + ": " + code(m.Reason)
	})
	unused := func(u Unused) string { return code(u.File) + ": " + code(u.Reason) }
	list(&b, "No test uses these any more; `traceforge prune --write` removes them:", c.Orphans, unused)
	list(&b, "Not played:", c.Unplayed, unused)
	return b.String()
}

// list writes a list under a title, unless it is empty.
func list[T any](b *strings.Builder, title string, all []T, item func(T) string) {
	if len(all) == 0 {
		return
	}
	var lines []string
	for _, one := range all {
		lines = append(lines, item(one))
	}
	const most = 50 // the summary of a step is cut at a megabyte
	fmt.Fprintf(b, "\n%s\n\n- %s\n", title, strings.Join(page.Most(most, lines, "more"), "\n- "))
}

// code quotes text for Markdown, in a table too. Within the quotes nothing is Markdown or HTML.
func code(text string) string {
	text = strings.NewReplacer("`", "'", "|", `\|`, "\n", " ").Replace(text)
	return "`" + plaintext.Line(text) + "`"
}
