package coverage

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// The fields of Package and Unused in JSON, for the help of commands.
const (
	PackageFields = `of each package: package, its import path; played, how many of its
             records were played; unplayed, how many were not; orphaned, how many no test
             can use any more; missing, how many of its calls no record answered`
	UnusedFields = `file, the document's path in the store; records, how many of its
             records were not used; reason; package and test`
)

// A Report is how a run of the tests used a store.
type Report struct {
	Packages []PackageReport // sorted by package
	Orphans  []Unused        // documents that no test can use any more
	Unplayed []Unused        // documents with records that were not used, and may be needed all the same
	Missing  []Unanswered    // sorted by package and test
	Failed   []page.Test     // tests that used the store, and failed
}

// An Unanswered is a test with calls that no record answered.
type Unanswered struct {
	page.Test
	Calls  int    `json:"calls"`
	Reason string `json:"reason"`
}

// A PackageReport counts the records of a package, and its calls that no record answered.
type PackageReport struct {
	Package  string `json:"package"`
	Played   int    `json:"played"`
	Unplayed int    `json:"unplayed"`
	Orphaned int    `json:"orphaned"`
	Missing  int    `json:"missing"`
}

// An Unused is a document with records that no test used, and why.
type Unused struct {
	File    string `json:"file"` // path in the store
	Records int    `json:"records"`
	Reason  string `json:"reason"`
	page.Test
}

// Report judges all records of a store. It goes on where a document cannot be read, and says so in
// the end; of its records nothing is said.
func (r *Run) Report(s *store.Store) (*Report, error) {
	c := &Report{}
	packages := map[string]*PackageReport{}
	of := func(pkg string) *PackageReport {
		if packages[pkg] == nil {
			packages[pkg] = &PackageReport{Package: pkg}
		}
		return packages[pkg]
	}
	for name, m := range r.missing {
		of(name.Package).Missing += m.calls
		c.Missing = append(c.Missing, Unanswered{page.Test(name), m.calls, m.String()})
	}
	slices.SortFunc(c.Missing, func(a, b Unanswered) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Test.Test, b.Test.Test))
	})
	for _, name := range r.Failed {
		c.Failed = append(c.Failed, page.Test(name))
	}
	var broken error
	for doc, err := range place.Documents(s) {
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		records := doc.Document.Snapshots
		n := 0
		for i := range records {
			if pkg, used := r.used[records[i].ID]; used {
				of(pkg).Played++
			} else {
				n++
			}
		}
		if n == 0 {
			continue
		}
		from := &records[0].Source
		v := r.judge(from)
		unused := Unused{doc.File(), n, v.reason, page.TestOf(doc.Document)}
		if v.orphaned && n == len(records) {
			c.Orphans = append(c.Orphans, unused)
			of(from.Package).Orphaned += n
		} else {
			c.Unplayed = append(c.Unplayed, unused)
			of(from.Package).Unplayed += n
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		c.Packages = append(c.Packages, *packages[pkg])
	}
	return c, broken
}

// Findings returns what is wrong in a report. Their rules are its own: the format of stores does not
// know of tests.
func (c *Report) Findings() []snapshot.Finding {
	var found []snapshot.Finding
	for _, u := range c.Orphans {
		found = append(found, snapshot.Finding{File: u.File, Rule: "unused", Message: u.Reason})
	}
	for _, m := range c.Missing {
		message := m.Test.Test + " in " + m.Package + ": " + m.Reason
		found = append(found, snapshot.Finding{Rule: "unrecorded", Message: message})
	}
	return found
}

// Total adds up the packages.
func (c *Report) Total() PackageReport {
	total := PackageReport{Package: "total"}
	for _, p := range c.Packages {
		total.Played += p.Played
		total.Unplayed += p.Unplayed
		total.Orphaned += p.Orphaned
		total.Missing += p.Missing
	}
	return total
}

// Write writes a line for each package, and their total.
func (c *Report) Write(out io.Writer) {
	width := len("package")
	for _, p := range c.Packages {
		width = max(width, len(p.Package))
	}
	fmt.Fprintf(out, "%-*s %8s %8s %8s %8s\n", width, "package", "played", "unplayed", "orphaned", "missing")
	for _, p := range append(c.Packages, c.Total()) {
		name := page.Printable(p.Package)
		fmt.Fprintf(out, "%-*s %8d %8d %8d %8d\n", width, name, p.Played, p.Unplayed, p.Orphaned, p.Missing)
	}
}

// Reasons says why records were not used that are no orphans: the most frequent reasons.
func (c *Report) Reasons() []string {
	const most = 10
	n := map[string]int{}
	for _, u := range c.Unplayed {
		n[u.Reason] += u.Records
	}
	reasons := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b))
	})
	var lines []string
	for i, reason := range reasons {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more reasons", len(reasons)-most))
			break
		}
		lines = append(lines, page.Count(n[reason], "record", "records")+" unplayed: "+reason)
	}
	return lines
}

// Markdown returns the report as GitHub-flavoured Markdown.
func (c *Report) Markdown() string {
	var b strings.Builder
	t := c.Total()
	fmt.Fprintf(&b, "### traceforge: %d played, %d unplayed, %d orphaned, %d missing\n\n",
		t.Played, t.Unplayed, t.Orphaned, t.Missing)
	b.WriteString("| package | played | unplayed | orphaned | missing |\n|---|--:|--:|--:|--:|\n")
	for _, p := range c.Packages {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", code(p.Package), p.Played, p.Unplayed, p.Orphaned, p.Missing)
	}
	list := func(title string, n int, item func(i int) string) {
		const most = 50 // the summary of a step is cut at a megabyte
		if n == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n\n", title)
		for i := range min(n, most) {
			fmt.Fprintf(&b, "- %s\n", item(i))
		}
		if n > most {
			fmt.Fprintf(&b, "- and %d more\n", n-most)
		}
	}
	unused := func(all []Unused) func(i int) string {
		return func(i int) string { return code(all[i].File) + ": " + code(all[i].Reason) }
	}
	list("Failed:", len(c.Failed), func(i int) string {
		return code(c.Failed[i].Test) + " in " + code(c.Failed[i].Package)
	})
	list("Unrecorded:", len(c.Missing), func(i int) string {
		m := c.Missing[i]
		return code(m.Test.Test) + " in " + code(m.Package) + ": " + code(m.Reason)
	})
	list("No test uses these any more; `traceforge prune --write` removes them:", len(c.Orphans), unused(c.Orphans))
	list("Not played:", len(c.Unplayed), unused(c.Unplayed))
	return b.String()
}

// code quotes text for Markdown, in a table too.
func code(text string) string {
	text = strings.NewReplacer("`", "'", "|", `\|`, "\n", " ").Replace(text)
	return "`" + text + "`"
}
