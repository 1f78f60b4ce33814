package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// CoverageFields and unusedFields say for the help of commands what packageCoverage and unused
// are in JSON.
const (
	coverageFields = `of each package: package, its import path; played, how many of its
             records were played; unplayed, how many were not; orphaned, how many no test
             can use any more; missing, how many of its calls no record answered`
	unusedFields = `file, its path in the store; reason; package and test,
             which blobs have not`
)

// A coverage is how a run of the tests used a store.
type coverage struct {
	packages []packageCoverage // sorted by package
	orphans  []unused
	kept     []unused     // records that were not used, and may be needed all the same
	missing  []unanswered // sorted by package and test
}

// An unanswered is a test with calls that no record answered.
type unanswered struct {
	testOf
	Calls  int    `json:"calls"`
	Reason string `json:"reason"`
}

// A packageCoverage counts the records of a package, and its calls that no record answered.
type packageCoverage struct {
	Package  string `json:"package"`
	Played   int    `json:"played"`
	Unplayed int    `json:"unplayed"`
	Orphaned int    `json:"orphaned"`
	Missing  int    `json:"missing"`
}

// An unused is a record that no test used, and why.
type unused struct {
	entry  snapshot.Entry
	File   string `json:"file"` // path in the store
	Reason string `json:"reason"`
	testOf
}

// coverRun returns how the run that left its receipts in left used the store in dir. It may
// return both a coverage and an error, for records that cannot be read.
func coverRun(ctx context.Context, left string, store *snapshot.Store, dir string) (*coverage, error) {
	u, err := readRun(ctx, left, dir)
	if err != nil {
		return nil, err
	}
	return u.cover(store)
}

// cover judges all records of a store. It goes on where one cannot be read, and says so in the
// end; of such a record nothing is said.
func (u *usage) cover(store *snapshot.Store) (*coverage, error) {
	c := &coverage{}
	packages := map[string]*packageCoverage{}
	of := func(pkg string) *packageCoverage {
		if packages[pkg] == nil {
			packages[pkg] = &packageCoverage{Package: pkg}
		}
		return packages[pkg]
	}
	for name, m := range u.missing {
		of(name.Package).Missing += m.calls
		c.missing = append(c.missing, unanswered{testOf(name), m.calls, m.String()})
	}
	slices.SortFunc(c.missing, func(a, b unanswered) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Test, b.Test))
	})
	var broken error
	for e, err := range store.All() {
		if err != nil {
			return nil, err
		}
		if pkg, used := u.used[e.ID]; used {
			of(pkg).Played++
			continue
		}
		loaded, err := load(store, []snapshot.Entry{e})
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		from := loaded[0].snapshot.Source
		v := u.judge(from)
		r := unused{e, e.File, v.reason, testOf{from.Package, from.Test}}
		if v.orphaned {
			c.orphans = append(c.orphans, r)
			of(from.Package).Orphaned++
		} else {
			c.kept = append(c.kept, r)
			of(from.Package).Unplayed++
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		c.packages = append(c.packages, *packages[pkg])
	}
	return c, broken
}

// findings returns what is wrong in a coverage. Their rules are of this command: the format of
// stores does not know of tests.
func (c *coverage) findings() []snapshot.Finding {
	var found []snapshot.Finding
	for _, r := range c.orphans {
		found = append(found, snapshot.Finding{File: r.File, Rule: "unused", Message: r.Reason})
	}
	for _, m := range c.missing {
		found = append(found, snapshot.Finding{Rule: "unrecorded", Message: m.Test + " in " + m.Package + ": " + m.Reason})
	}
	return found
}

// total adds up the packages.
func (c *coverage) total() packageCoverage {
	total := packageCoverage{Package: "total"}
	for _, p := range c.packages {
		total.Played += p.Played
		total.Unplayed += p.Unplayed
		total.Orphaned += p.Orphaned
		total.Missing += p.Missing
	}
	return total
}

// write writes a line for each package, and their total.
func (c *coverage) write(out io.Writer) {
	width := len("package")
	for _, p := range c.packages {
		width = max(width, len(p.Package))
	}
	fmt.Fprintf(out, "%-*s %8s %8s %8s %8s\n", width, "package", "played", "unplayed", "orphaned", "missing")
	for _, p := range append(c.packages, c.total()) {
		fmt.Fprintf(out, "%-*s %8d %8d %8d %8d\n", width, printable(p.Package), p.Played, p.Unplayed, p.Orphaned, p.Missing)
	}
}

// sayKept says why records were not used that are no orphans: the most frequent reasons.
func (c *coverage) sayKept(con *console) {
	const most = 10
	n := map[string]int{}
	for _, r := range c.kept {
		n[r.Reason]++
	}
	reasons := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b))
	})
	for i, reason := range reasons {
		if i == most {
			con.say("and %d more reasons", len(reasons)-most)
			break
		}
		con.say("%s unplayed: %s", count(n[reason], "record", "records"), reason)
	}
}
