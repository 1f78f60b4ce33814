package coverage

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// Calls are what tests did with their records, by causes and counts. A test that ran several times, as in two
// shards or again after it failed, is counted once.
type Calls struct {
	Causes     []*page.Cause `json:"causes"`     // those of the most calls first
	Tests      int           `json:"tests"`      // that had a recorder and used it
	Replayed   int           `json:"replayed"`   // calls
	Drifted    int           `json:"drifted"`    // calls that differ from their record
	Unrecorded int           `json:"unrecorded"` // calls without a record
	Uncalled   int           `json:"uncalled"`   // records that no call asked for
	Tokens     int64         `json:"tokens"`     // that the answers of the drifted calls took when they were recorded
	Accept     string        `json:"accept"`     // the command that accepts all; empty: nothing drifted

	drifts []testDrift
	tags   string // build tags of the tests
	ended  bool   // some test ended before it asked for all of its records
}

// A testDrift is a drift of a test.
type testDrift struct {
	page.Test
	at page.Place
	usage.Drift
}

// Verb says what the command of Accept does: it records where calls have no snapshot, and nothing drifted.
func (c *Calls) Verb() string {
	if slices.ContainsFunc(c.Causes, func(cause *page.Cause) bool { return cause.Change.Kind != page.Unrecorded }) {
		return "accept all: "
	}
	return "record all: "
}

// CallsOf sums up what tests did.
func CallsOf(receipts []usage.Receipt) *Calls {
	receipts = slices.Clone(receipts)
	slices.SortStableFunc(receipts, func(a, b usage.Receipt) int {
		return testOf(a).Compare(testOf(b))
	})
	c := &Calls{}
	var group page.Causes
	tests, played := map[page.Test]bool{}, map[string]bool{}
	drifts := onceEach{}
	var calls []page.Place
	for _, r := range receipts {
		test := testOf(r)
		found := drifts.of(test, r)
		if len(found)+len(r.Played)+len(r.Recorded) > 0 || r.Missing > 0 {
			tests[test] = true
		}
		for _, id := range r.Played {
			played[id] = true
		}
		c.ended = c.ended || len(found) > 0 && len(r.Unplayed) > len(r.Drifts)
		for _, d := range found {
			at := page.Place{Package: test.Package, Test: test.Name, Call: d.Call, File: d.File, Line: d.Line, Command: r.Command}
			c.drifts, calls = append(c.drifts, testDrift{test, at, d}), append(calls, at)
			c.add(&group, at, d)
			c.tags = cmp.Or(c.tags, r.Tags)
		}
	}
	c.Tests, c.Replayed, c.Accept = len(tests), len(played), c.again(calls, "")
	c.Causes = group.List()
	return c
}

// testOf returns the test that left a receipt.
func testOf(r usage.Receipt) page.Test { return page.Test{Package: r.Package, Name: r.Test} }

// unanswered returns the tests with calls that their records do not answer, by package and test.
func (c *Calls) unanswered() (tests []Unanswered) {
	for _, d := range c.drifts {
		if d.Kind == usage.Uncalled {
			continue
		}
		if n := len(tests); n == 0 || tests[n-1].Test != d.Test {
			tests = append(tests, Unanswered{Test: d.Test, Command: d.at.Command})
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
			reasons = append(reasons, page.Count(u.Drifted, "call drifted from its snapshot", "calls drifted from their snapshots"))
		}
		if u.Unrecorded > 0 {
			reasons = append(reasons, page.Count(u.Unrecorded, "call", "calls")+" had no snapshot")
		}
		u.Reason = strings.Join(reasons, ", ")
	}
	return tests
}

// onceEach are the drifts that were seen, by test, and how often one run of the test had each.
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
func (c *Calls) add(group *page.Causes, at page.Place, d usage.Drift) {
	var changes []page.KnownChange
	switch d.Kind {
	case usage.Missing:
		c.Unrecorded++
		changes = append(changes, alone(page.Unrecorded, nil, d.Summary))
	case usage.Uncalled:
		c.Uncalled++
		changes = append(changes, alone(page.Uncalled, d.Summary, nil))
	default:
		c.Drifted++
		if !d.Scripted {
			c.Tokens += d.Tokens
		}
		for _, change := range d.Changes {
			is := drift.Change{Component: change.Component, Kind: change.Kind, Before: change.Before, After: change.After}
			is.Component = strings.TrimSuffix(is.Component, " "+is.Fate()) // which is said of it again
			changes = append(changes, page.KnownChange{Key: change.Key, Change: is})
		}
		if changes == nil {
			changes = append(changes, alone("ignored pointers", nil, nil))
		}
	}
	group.AddKnown(at, page.Spent{TokensBefore: d.Tokens}, changes...)
}

// alone returns the change of a call, or of a record, without a counterpart: its kind is the cause.
func alone(kind string, before, after []string) page.KnownChange {
	joined := func(lines []string) *string {
		if lines == nil {
			return nil
		}
		text := strings.Join(lines, "\n")
		return &text
	}
	return page.KnownChange{Key: kind, Change: drift.Change{Component: "request", Kind: kind, Before: joined(before), After: joined(after)}}
}

// Tally says what became of the calls: "120 tests, 340 calls replayed, 100 drifted".
func (c *Calls) Tally() string {
	parts := []string{page.Count(c.Tests, "test", "tests"), page.Count(c.Replayed, "call", "calls") + " replayed"}
	states := []string{"drifted", "without a snapshot", "recorded and not made"}
	n := map[string]int{states[0]: c.Drifted, states[1]: c.Unrecorded, states[2]: c.Uncalled}
	return strings.Join(append(parts, page.Counts(states, n)...), ", ")
}

// Price says what accepting all costs, as far as it is known: "about 41,000 tokens"; empty means nothing is known. A
// test that ended at its first drift has more calls, of which nobody knows whether they will be the same.
func (c *Calls) Price() string {
	if c.Tokens == 0 {
		return ""
	}
	price := page.Thousands(c.Tokens) + " tokens"
	if c.ended {
		price = "at least " + price
	} else {
		price = "about " + price
	}
	if c.Unrecorded > 0 {
		price += " and " + page.Count(c.Unrecorded, "new call", "new calls")
	}
	return price
}

// Adopt returns the command that keeps the stored answers of calls that drifted, without a key. It leaves out tests
// with a call that has no answer, or that a script answers. Empty: no other test drifted.
func (c *Calls) Adopt() string {
	without := map[page.Test]bool{}
	for _, d := range c.drifts {
		without[d.Test] = without[d.Test] || d.Kind == usage.Missing || d.Scripted
	}
	var adopted []page.Place
	for _, d := range c.drifts {
		if d.Kind == usage.Drifted && !without[d.Test] {
			adopted = append(adopted, d.at)
		}
	}
	return c.again(adopted, "rekey")
}

// again returns the command that runs the tests of calls again in a mode, with the build tags that they had.
func (c *Calls) again(calls []page.Place, mode string) string {
	command := page.Again(calls, mode)
	if c.tags == "" || strings.HasPrefix(command, "traceforge ") { // all are of programs
		return command
	}
	return strings.Replace(command, "go test ", "go test -tags="+gotest.Quote(c.tags)+" ", 1)
}

// acceptWhere makes the command that accepts all work in the working directory. Without a workspace the command goes
// into one module of the tests after the other.
func (c *Report) acceptWhere() {
	wd, err := os.Getwd()
	if err != nil || c.Accept == "" || place.Workspace(wd) != "" && os.Getenv("GOWORK") != "off" {
		return
	}
	of := map[string][]page.Place{}
	for _, d := range c.drifts {
		root := c.Root(d.Package)
		of[root] = append(of[root], d.at)
	}
	roots := slices.Sorted(maps.Keys(of))
	own, _ := gotest.Module(wd) // else the command goes there
	if len(roots) == 1 && (roots[0] == "" || roots[0] == own) {
		return
	}
	var commands []string
	for _, root := range roots {
		in := root
		if rel, err := filepath.Rel(wd, root); err == nil && root != "" {
			in = filepath.ToSlash(rel)
		}
		command := c.again(of[root], "")
		if in != "." && in != "" {
			command = strings.Replace(command, "go test ", "go -C "+gotest.Quote(in)+" test ", 1)
		}
		commands = append(commands, command)
	}
	c.Accept = strings.Join(commands, "; ")
}
