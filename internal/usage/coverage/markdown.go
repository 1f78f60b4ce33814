package coverage

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
)

// Markdown returns the report as GitHub-flavoured Markdown.
func (c *Report) Markdown() string {
	var b strings.Builder
	t := c.total()
	fmt.Fprintf(&b, "### traceforge: %d played, %d unplayed, %d orphaned, %d missing\n\n",
		t.Played, t.Unplayed, t.Orphaned, t.Missing)
	b.WriteString("| package | played | unplayed | orphaned | missing |\n|---|--:|--:|--:|--:|\n")
	for _, p := range c.Packages {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", page.Code(p.Package), p.Played, p.Unplayed, p.Orphaned, p.Missing)
	}
	list(&b, "Failed:", c.Failed, func(t page.Test) string { return page.Code(t.Test) + " in " + page.Code(t.Package) })
	list(&b, "Unrecorded:", c.Missing, func(m Unanswered) string {
		return page.Code(m.Test.Test) + " in " + page.Code(m.Package) + ": " + page.Code(m.Reason)
	})
	unused := func(u Unused) string { return page.Code(u.File) + ": " + page.Code(u.Reason) }
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
