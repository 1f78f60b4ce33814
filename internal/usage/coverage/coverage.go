// Package coverage tells what a run of tests used of a store: it joins the receipts that the tests
// left, what go test printed, and the tests that the code has.
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
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
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
	c := &Report{Failed: r.failed}
	packages := map[string]*PackageReport{}
	of := func(pkg string) *PackageReport {
		if packages[pkg] == nil {
			packages[pkg] = &PackageReport{Package: pkg}
		}
		return packages[pkg]
	}
	for name, m := range r.missing {
		of(name.Package).Missing += m.calls
		reason := page.Count(m.calls, "call", "calls") + " had no snapshot"
		if m.drift {
			reason += " or drifted from " + map[bool]string{true: "it", false: "theirs"}[m.calls == 1]
		}
		c.Missing = append(c.Missing, Unanswered{name, m.calls, reason})
	}
	slices.SortFunc(c.Missing, func(a, b Unanswered) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Test.Test, b.Test.Test))
	})
	var broken error
	for doc, err := range place.Documents(s) {
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		n := 0
		for i := range doc.Document.Snapshots {
			if pkg, used := r.used[doc.Document.Snapshots[i].ID]; used {
				of(pkg).Played++
			} else {
				n++
			}
		}
		if n == 0 {
			continue
		}
		test := page.TestOf(doc.Document)
		v := r.judge(test)
		unused := Unused{doc.File(), n, v.reason, test}
		if v.orphaned && n == len(doc.Document.Snapshots) {
			c.Orphans = append(c.Orphans, unused)
			of(test.Package).Orphaned += n
		} else {
			c.Unplayed = append(c.Unplayed, unused)
			of(test.Package).Unplayed += n
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

// total adds up the packages.
func (c *Report) total() PackageReport {
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
	for _, p := range append(c.Packages, c.total()) {
		name := plaintext.Line(p.Package)
		fmt.Fprintf(out, "%-*s %8d %8d %8d %8d\n", width, name, p.Played, p.Unplayed, p.Orphaned, p.Missing)
	}
}

// Reasons says why records were not used that are no orphans: the most frequent reasons.
func (c *Report) Reasons() []string {
	n := map[string]int{}
	for _, u := range c.Unplayed {
		n[u.Reason] += u.Records
	}
	reasons := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b))
	})
	for i, reason := range reasons {
		reasons[i] = page.Count(n[reason], "record", "records") + " unplayed: " + reason
	}
	return page.Most(10, reasons, "more reasons")
}
