package coverage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
)

// Limits on the length of a Markdown report, to keep it readable.
const (
	tablePackages = 6 // maximum packages, of those with something to report
	listItems     = 10

	// Limit when there are causes, which come first.
	tableFew = 2
	listFew  = 3
)

// Markdown returns the report as GitHub-flavored Markdown with at most most bytes. It counts the parts that it leaves
// out.
func (c *Report) Markdown(most int) string {
	var end strings.Builder
	items, rows := listItems, tablePackages
	if len(c.Causes) > 0 {
		items, rows = listFew, tableFew
	}
	c.table(&end, rows)
	list(&end, items, "Failed for another reason:", c.Failed,
		func(t page.Test) string { return page.Code(t.Name) + " in " + page.Code(t.Package) })
	list(&end, items, "No test uses these any more; `traceforge prune --write` removes them:", c.Orphans,
		func(u UnusedDocument) string { return page.Code(u.File) + ": " + page.Code(u.Reason) })
	list(&end, items, "Not played:", c.unexplained().Reasons(),
		func(reason string) string { return page.Code(page.Clip(reason, 300)) })

	text := "### traceforge: " + c.Tally() + "\n"
	const room = 100 // bytes for the note on what is left out
	causes, left := page.CausesMarkdown(c.Config, c.Causes, most-len(text)-len(c.acceptance())-end.Len()-room)
	text += causes
	if left > 0 {
		text += fmt.Sprintf("\n%s left out or cut.\n", page.Count(left, "part is", "parts are"))
	}
	return text + c.acceptance() + end.String()
}

// unexplained returns the report without records that were not played because calls of their package drifted.
func (c *Report) unexplained() *Report {
	drifted := map[string]bool{}
	for _, u := range c.Unanswered {
		drifted[u.Package] = true
	}
	others := slices.DeleteFunc(slices.Clone(c.Unplayed), func(u UnusedDocument) bool { return drifted[u.Package] })
	return &Report{Unplayed: others}
}

// acceptance says how to accept everything, and what that costs.
func (c *Report) acceptance() string {
	if c.Accept == "" {
		return ""
	}
	price := c.Price()
	if price != "" {
		price = "; " + price
	}
	return "\n" + c.Verb() + page.Code(c.Accept) + price + "\n"
}

// table writes at most most packages, and the total.
func (c *Report) table(b *strings.Builder, most int) {
	b.WriteString("\n| package | played | unplayed | orphaned | drifted | unrecorded |\n|---|--:|--:|--:|--:|--:|\n")
	packages := slices.Clone(c.Packages)
	if len(packages) > most {
		weight := func(p PackageReport) int { return p.Drifted + p.Unrecorded + p.Orphaned }
		slices.SortStableFunc(packages, func(a, b PackageReport) int { return cmp.Compare(weight(b), weight(a)) })
	}
	row := func(name string, p PackageReport) {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d |\n", name, p.Played, p.Unplayed, p.Orphaned, p.Drifted, p.Unrecorded)
	}
	for _, p := range packages[:min(len(packages), most)] {
		row(page.CellCode(page.Clip(p.Package, 300)), p)
	}
	switch {
	case len(packages) > most:
		row(fmt.Sprintf("all %d packages", len(packages)), c.total())
	case len(packages) > 1:
		row("total", c.total())
	}
}

// list writes a list with a title, unless it is empty.
func list[T any](b *strings.Builder, most int, title string, all []T, item func(T) string) {
	if len(all) == 0 {
		return
	}
	var lines []string
	for _, one := range all {
		lines = append(lines, item(one))
	}
	fmt.Fprintf(b, "\n%s\n\n- %s\n", title, strings.Join(page.Most(most, lines, "more"), "\n- "))
}
