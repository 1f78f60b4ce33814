// Package coverage reports which records of a store a run of tests used. It combines the tests' receipts, the output of
// go test, and the tests in the source.
package coverage

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Report describes how a run of tests used one or more stores. Its lists are sorted by package, test or file.
type Report struct {
	Config []*page.Setting `json:"config,omitempty"` // changes in config.json since --since
	Calls
	Packages   []PackageReport  `json:"coverage"`   // use of the records by package
	Orphans    []UnusedDocument `json:"orphans"`    // documents that no test can use any more
	Unplayed   []UnusedDocument `json:"unplayed"`   // documents with records that were not played
	Unanswered []UnansweredTest `json:"unanswered"` // tests with calls that their records do not answer
	Failed     []page.Test      `json:"failed"`     // tests that failed for other reasons

	sources []*Sources
}

// An UnansweredTest is a test with calls that its records do not answer.
type UnansweredTest struct {
	page.Test
	Drifted    int    `json:"drifted"`    // calls that differ from their record
	Unrecorded int    `json:"unrecorded"` // calls without a record
	Reason     string `json:"reason"`
	Command    string `json:"command,omitempty"` // command of a program that traceforge exec ran
}

// A PackageReport counts the records of a package, and its unanswered calls.
type PackageReport struct {
	Package    string `json:"package"`
	Played     int    `json:"played"`
	Unplayed   int    `json:"unplayed"`
	Orphaned   int    `json:"orphaned"`
	Drifted    int    `json:"drifted"`
	Unrecorded int    `json:"unrecorded"`
}

// An UnusedDocument is a document with records that no test used, and the reason.
type UnusedDocument struct {
	File    string `json:"file"` // path in the store
	Records int    `json:"records"`
	Reason  string `json:"reason"`
	page.Test
}

// Report reports on all records of a store. If a document cannot be read, it continues and returns an error at the end;
// the records of that document are left out.
func (r *Run) Report(s *store.Store) (*Report, error) {
	c := &Report{Calls: *CallsOf(r.receipts), sources: []*Sources{r.sources}}
	packages := map[string]*PackageReport{}
	of := func(pkg string) *PackageReport {
		if packages[pkg] == nil {
			packages[pkg] = &PackageReport{Package: pkg}
		}
		return packages[pkg]
	}
	c.Unanswered = c.unanswered()
	for _, test := range c.Unanswered {
		of(test.Package).Drifted += test.Drifted
		of(test.Package).Unrecorded += test.Unrecorded
	}
	c.Failed = c.FailedOtherwise()
	c.acceptWhere()
	var broken error
	for doc := range place.Readable(s, &broken) {
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
		reason, isOrphan := r.judge(test)
		unused := UnusedDocument{doc.File(), n, reason, test}
		if isOrphan && n == len(doc.Document.Snapshots) {
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

// Findings returns what is wrong according to a report. Their rules are specific to reports, because the format of
// stores knows nothing about tests.
func (c *Report) Findings() []snapshot.Finding {
	var found []snapshot.Finding
	for _, u := range c.Orphans {
		found = append(found, snapshot.Finding{File: u.File, Rule: "unused", Message: u.Reason})
	}
	for _, u := range c.Unanswered {
		rule := "drifted"
		if u.Drifted == 0 {
			rule = "unrecorded"
		}
		message := u.Test.Name + " in " + u.Package + ": " + u.Reason
		found = append(found, snapshot.Finding{Rule: rule, Message: message})
	}
	return found
}

// total returns the sum of all packages.
func (c *Report) total() PackageReport {
	total := PackageReport{Package: "total"}
	for _, p := range c.Packages {
		total.Played += p.Played
		total.Unplayed += p.Unplayed
		total.Orphaned += p.Orphaned
		total.Drifted += p.Drifted
		total.Unrecorded += p.Unrecorded
	}
	return total
}

// Write writes a line for each package and one for the total.
func (c *Report) Write(out io.Writer) {
	width := len("package")
	for _, p := range c.Packages {
		width = max(width, len(p.Package))
	}
	fmt.Fprintf(out, "%-*s %8s %8s %8s %8s %10s\n",
		width, "package", "played", "unplayed", "orphaned", "drifted", "unrecorded")
	for _, p := range append(slices.Clip(c.Packages), c.total()) {
		name := plaintext.Line(p.Package)
		fmt.Fprintf(out, "%-*s %8d %8d %8d %8d %10d\n",
			width, name, p.Played, p.Unplayed, p.Orphaned, p.Drifted, p.Unrecorded)
	}
}

// Reasons returns the most frequent reasons why records that are not orphans were not used.
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

// Join adds the report of another store, whose directory is prepended to its files.
func (c *Report) Join(other *Report, dir string) {
	below := func(all []UnusedDocument) []UnusedDocument {
		for i := range all {
			all[i].File = path.Join(filepath.ToSlash(dir), all[i].File)
		}
		return all
	}
	for _, s := range other.Config {
		s.Component += " of " + filepath.ToSlash(dir)
	}
	c.Config = append(c.Config, other.Config...)
	c.Packages = append(c.Packages, other.Packages...)
	c.Orphans = append(c.Orphans, below(other.Orphans)...)
	c.Unplayed = append(c.Unplayed, below(other.Unplayed)...)
	c.Unanswered = append(c.Unanswered, other.Unanswered...)
	c.Failed = append(c.Failed, other.Failed...)
	c.sources = append(c.sources, other.sources...)
	c.Calls = *CallsOf(append(c.receipts, other.receipts...))
	c.acceptWhere()
}

// Root returns the directory of a package's module; empty if unknown.
func (c *Report) Root(pkg string) string {
	for _, s := range c.sources {
		if root := s.Module(pkg); root != "" {
			return root
		}
	}
	return ""
}
