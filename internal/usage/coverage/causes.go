package coverage

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// Calls are what tests did with their records, by causes and counts. A test that ran several times, as in two
// shards or again after it failed, is counted once.
type Calls struct {
	Causes     []*drift.Cause `json:"causes"`     // those of the most calls first
	Tests      int            `json:"tests"`      // that had a recorder and used it
	Replayed   int            `json:"replayed"`   // calls
	Drifted    int            `json:"drifted"`    // calls that differ from their record
	Unrecorded int            `json:"unrecorded"` // calls without a record
	Uncalled   int            `json:"uncalled"`   // records that no call asked for
	Tokens     int64          `json:"tokens"`     // that the answers of the drifted calls took when they were recorded
	Accept     string         `json:"accept"`     // the command that accepts all; empty: nothing drifted

	drifts []testDrift
	tags   string // build tags of the tests
}

// A testDrift is a drift of a test.
type testDrift struct {
	page.Test
	command string // of a program
	usage.Drift
}

// Verb says what the command of Accept does: it records where calls have no snapshot, and nothing drifted.
func (c *Calls) Verb() string {
	if slices.ContainsFunc(c.Causes, func(cause *drift.Cause) bool { return cause.Change.Kind != drift.Unrecorded }) {
		return "accept all: "
	}
	return "record all: "
}

// CallsOf sums up what tests did.
func CallsOf(receipts []usage.Receipt) *Calls {
	receipts = slices.Clone(receipts)
	slices.SortStableFunc(receipts, func(a, b usage.Receipt) int {
		return compareTests(page.Test{Package: a.Package, Test: a.Test}, page.Test{Package: b.Package, Test: b.Test})
	})
	c := &Calls{Causes: []*drift.Cause{}}
	var group drift.Causes
	tests, played := map[page.Test]bool{}, map[string]bool{}
	drifts := onceEach{}
	for _, r := range receipts {
		test := page.Test{Package: r.Package, Test: r.Test}
		found := drifts.of(test, r)
		if len(found)+len(r.Played)+len(r.Recorded) > 0 || r.Missing > 0 {
			tests[test] = true
		}
		for _, id := range r.Played {
			played[id] = true
		}
		for _, d := range found {
			c.drifts = append(c.drifts, testDrift{test, r.Command, d})
			c.add(&group, test, r.Command, d)
			c.tags = cmp.Or(c.tags, r.Tags)
		}
	}
	c.Tests, c.Replayed = len(tests), len(played)
	if causes := group.List(); causes != nil {
		c.Causes, c.Accept = causes, accept(causes, c.tags)
	}
	return c
}

func compareTests(a, b page.Test) int {
	return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Test, b.Test))
}

// unanswered returns the tests with calls that their records do not answer, by package and test.
func (c *Calls) unanswered() (tests []Unanswered) {
	for _, d := range c.drifts {
		if d.Kind == usage.Uncalled {
			continue
		}
		if n := len(tests); n == 0 || tests[n-1].Test != d.Test {
			tests = append(tests, Unanswered{Test: d.Test, Command: d.command})
		}
		u := &tests[len(tests)-1]
		if d.Kind == usage.Missing {
			u.Unrecorded++
		} else {
			u.Drifted++
		}
	}
	for i := range tests {
		u, reasons := &tests[i], []string(nil)
		if u.Drifted > 0 {
			whose := map[bool]string{true: "its snapshot", false: "their snapshots"}[u.Drifted == 1]
			reasons = append(reasons, page.Count(u.Drifted, "call", "calls")+" drifted from "+whose)
		}
		if u.Unrecorded > 0 {
			reasons = append(reasons, page.Count(u.Unrecorded, "call", "calls")+" had no snapshot")
		}
		u.Reason = strings.Join(reasons, ", ")
	}
	return tests
}

// onceEach are the drifts of tests that were seen, and how often one run of the test had each.
type onceEach map[driftKey]int

type driftKey struct {
	page.Test
	kind, record, file string
	line               int
}

// of returns the drifts of a run of a test that no run of it before had.
func (seen onceEach) of(test page.Test, r usage.Receipt) (fresh []usage.Drift) {
	here := onceEach{}
	for _, d := range complete(r) {
		key := driftKey{test, d.Kind, d.Record, d.File, d.Line}
		if d.Record != "" { // else calls without a record are known by their line
			key.file, key.line = "", 0
		}
		if here[key]++; here[key] > seen[key] {
			seen[key] = here[key]
			fresh = append(fresh, d)
		}
	}
	return fresh
}

// complete returns the drifts of a receipt, and those calls that it only counts.
func complete(r usage.Receipt) []usage.Drift {
	drifts := slices.Clone(r.Drifts)
	counted := r.Missing
	for _, d := range r.Drifts {
		if d.Kind != usage.Uncalled {
			counted--
		}
	}
	for range counted {
		drifts = append(drifts, usage.Drift{Kind: usage.Missing})
	}
	return drifts
}

// add adds a drift to its causes.
func (c *Calls) add(group *drift.Causes, test page.Test, command string, d usage.Drift) {
	at := drift.Place{Package: test.Package, Test: test.Test, Call: d.Call, File: d.File, Line: d.Line, Command: command}
	var changes []drift.KnownChange
	switch d.Kind {
	case usage.Missing:
		c.Unrecorded++
		changes = append(changes, alone(drift.Unrecorded, nil, d.Summary))
	case usage.Uncalled:
		c.Uncalled++
		changes = append(changes, alone(drift.Uncalled, d.Summary, nil))
	default:
		c.Drifted++
		c.Tokens += d.Tokens
		for _, change := range d.Changes {
			changes = append(changes, changeOf(change))
		}
		if changes == nil {
			changes = append(changes, alone("ignored pointers", nil, nil))
		}
	}
	group.AddKnown(at, drift.Spent{TokensBefore: d.Tokens}, changes...)
}

// alone is a change of a call that is held against nothing, whose kind is the cause.
func alone(kind string, before, after []string) drift.KnownChange {
	c := drift.Change{Component: "request", Kind: kind}
	if before != nil {
		text := strings.Join(before, "\n")
		c.Before = &text
	}
	if after != nil {
		text := strings.Join(after, "\n")
		c.After = &text
	}
	return drift.KnownChange{Key: kind, Change: c}
}

func changeOf(d usage.DriftChange) drift.KnownChange {
	c := drift.Change{Component: d.Component, Kind: d.Kind, Before: d.Before, After: d.After}
	c.Component = strings.TrimSuffix(d.Component, " "+c.Fate()) // which is said of it again
	return drift.KnownChange{Key: d.Key, Change: c}
}

// Tally says what became of the calls: "120 tests, 340 calls replayed, 100 drifted".
func (c *Calls) Tally() string {
	var line strings.Builder
	line.WriteString(page.Count(c.Tests, "test", "tests") + ", " + page.Count(c.Replayed, "call", "calls") + " replayed")
	for _, more := range []struct {
		n    int
		what string
	}{{c.Drifted, "drifted"}, {c.Unrecorded, "without a snapshot"}, {c.Uncalled, "recorded and not made"}} {
		if more.n > 0 {
			fmt.Fprintf(&line, ", %d %s", more.n, more.what)
		}
	}
	return line.String()
}

// Price says what accepting all costs, as far as it is known: "about 41,000 tokens"; empty means nothing is known.
func (c *Calls) Price() string {
	if c.Tokens == 0 {
		return ""
	}
	price := "about " + page.Thousands(c.Tokens) + " tokens"
	if c.Unrecorded > 0 {
		price += " and " + page.Count(c.Unrecorded, "new call", "new calls")
	}
	return price
}
