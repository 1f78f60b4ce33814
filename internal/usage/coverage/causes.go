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

// Calls summarize what tests did with their records, by causes and counts. A test that ran several times, for example
// in two shards or again after a failure, is counted once.
type Calls struct {
	Causes     []*page.Cause `json:"causes"`     // causes with the most calls first
	Tests      int           `json:"tests"`      // tests with a recorder that they used
	Replayed   int           `json:"replayed"`   // calls
	Drifted    int           `json:"drifted"`    // calls that differ from their record
	Unrecorded int           `json:"unrecorded"` // calls without a record
	Uncalled   int           `json:"uncalled"`   // records without a call
	Tokens     int64         `json:"tokens"`     // tokens of the answers of drifted calls when they were recorded
	Accept     string        `json:"accept"`     // the command that accepts everything; empty if nothing drifted

	receipts []usage.Receipt // by test

	drifts []testDrift
	tags   string // build tags of the tests
	ended  bool   // a test ended before it made all of its recorded calls
}

// A testDrift is a drift of a test.
type testDrift struct {
	page.Test
	at page.Place
	usage.Drift
}

// Verb says what the command in Accept does: it records if calls have no snapshot and nothing drifted.
func (c *Calls) Verb() string {
	if slices.ContainsFunc(c.Causes, func(cause *page.Cause) bool { return cause.Change.Kind != page.Unrecorded }) {
		return "accept all: "
	}
	return "record all: "
}

// CallsOf summarizes receipts.
func CallsOf(receipts []usage.Receipt) *Calls {
	receipts = slices.Clone(receipts)
	slices.SortStableFunc(receipts, ByTest)
	c := &Calls{receipts: receipts}
	var group page.Causes
	tests, played := map[page.Test]bool{}, map[string]bool{}
	drifts := onceEach{}
	var calls []page.Place
	for _, r := range receipts {
		test := testOf(r)
		found := drifts.of(test, r)
		if len(found)+len(r.Played)+len(r.Recorded) > 0 {
			tests[test] = true
		}
		for _, id := range r.Played {
			played[id] = true
		}
		c.ended = c.ended || len(found) > 0 && len(r.Unplayed) > len(r.Drifts)
		for _, d := range found {
			at := page.Place{Package: test.Package, Test: test.Name, Call: d.Call, File: d.File, Line: d.Line,
				Command: r.Command}
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

// ByTest compares receipts by their tests.
func ByTest(a, b usage.Receipt) int { return testOf(a).Compare(testOf(b)) }

// FailedOtherwise returns the tests that failed although their calls are as recorded, by package and name.
func (c *Calls) FailedOtherwise() []page.Test {
	failed := map[page.Test]bool{}
	for _, r := range c.receipts {
		if r.Outcome == "fail" {
			failed[testOf(r)] = true
		}
	}
	for _, d := range c.drifts {
		delete(failed, d.Test)
	}
	return slices.SortedFunc(maps.Keys(failed), page.Test.Compare)
}

// unanswered returns the tests with calls that their records do not answer, by package and test.
func (c *Calls) unanswered() (tests []UnansweredTest) {
	for _, d := range c.drifts {
		if d.Kind == usage.Uncalled {
			continue
		}
		if n := len(tests); n == 0 || tests[n-1].Test != d.Test {
			tests = append(tests, UnansweredTest{Test: d.Test, Command: d.at.Command})
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
			reasons = append(reasons,
				page.Count(u.Drifted, "call drifted from its snapshot", "calls drifted from their snapshots"))
		}
		if u.Unrecorded > 0 {
			reasons = append(reasons, page.Count(u.Unrecorded, "call", "calls")+" had no snapshot")
		}
		u.Reason = strings.Join(reasons, ", ")
	}
	return tests
}

// onceEach counts the drifts that were seen, by test, as often as they occur in one run of the test.
type onceEach map[driftKey]int

type driftKey struct {
	page.Test
	kind, record, file string
	line               int
}

// of returns the drifts in a run of a test that no earlier run of it had.
func (seen onceEach) of(test page.Test, r usage.Receipt) (fresh []usage.Drift) {
	here := onceEach{}
	for _, d := range r.Drifts {
		key := driftKey{test, d.Kind, d.Record, d.File, d.Line}
		if d.Record != "" { // calls without a record are identified by their line
			key.file, key.line = "", 0
		}
		if here[key]++; here[key] > seen[key] {
			seen[key] = here[key]
			fresh = append(fresh, d)
		}
	}
	return fresh
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
			is.Component = strings.TrimSuffix(is.Component, " "+is.Fate()) // it is shown separately
			changes = append(changes, page.KnownChange{Key: change.Key, Change: is})
		}
		if changes == nil {
			changes = append(changes, alone("ignored pointers", nil, nil))
		}
	}
	group.AddKnown(at, page.Spent{TokensBefore: d.Tokens}, changes...)
}

// alone returns the change for a call without a record, or a record without a call: its kind is the cause.
func alone(kind string, before, after []string) page.KnownChange {
	joined := func(lines []string) *string {
		if lines == nil {
			return nil
		}
		text := strings.Join(lines, "\n")
		return &text
	}
	return page.KnownChange{Key: kind,
		Change: drift.Change{Component: "request", Kind: kind, Before: joined(before), After: joined(after)}}
}

// Tally describes the calls: "120 tests, 340 calls replayed, 100 drifted".
func (c *Calls) Tally() string {
	parts := []string{page.Count(c.Tests, "test", "tests"), page.Count(c.Replayed, "call", "calls") + " replayed"}
	states := []string{"drifted", "without a snapshot", "recorded and not made"}
	n := map[string]int{states[0]: c.Drifted, states[1]: c.Unrecorded, states[2]: c.Uncalled}
	return strings.Join(append(parts, page.Counts(states, n)...), ", ")
}

// Price describes the cost of accepting everything, as far as it is known: "about 41,000 tokens"; empty if it is
// unknown. A test that ended at its first drift would make more calls, which may be unchanged or not.
func (c *Calls) Price() string {
	if c.Tokens == 0 {
		return ""
	}
	price := "about "
	if c.ended {
		price = "at least "
	}
	price += page.Thousands(c.Tokens) + " tokens"
	if c.Unrecorded > 0 {
		price += " and " + page.Count(c.Unrecorded, "new call", "new calls")
	}
	return price
}

// Adopt returns the command that keeps the stored answers of drifted calls, without an API key. It leaves out tests
// with a call that has no answer or that a script answers. It is empty if no other test drifted.
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

// again returns the command that runs the tests of calls again in a mode, with their build tags.
func (c *Calls) again(calls []page.Place, mode string) string {
	command := page.Again(calls, mode)
	if c.tags == "" || strings.HasPrefix(command, "traceforge ") { // there are only programs
		return command
	}
	return strings.Replace(command, "go test ", "go test -tags="+gotest.Quote(c.tags)+" ", 1)
}

// acceptWhere makes the command that accepts everything work in the working directory. Without a workspace, the command
// visits the modules of the tests one by one.
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
	own, _ := gotest.Module(wd) // if unknown, the command names the directory
	if len(roots) == 1 && (roots[0] == "" || roots[0] == own) {
		return
	}
	var commands []string
	for _, root := range roots {
		in := filepath.ToSlash(place.Rel(root))
		command := c.again(of[root], "")
		if in != "." && in != "" {
			command = strings.Replace(command, "go test ", "go -C "+gotest.Quote(in)+" test ", 1)
		}
		commands = append(commands, command)
	}
	c.Accept = strings.Join(commands, "; ")
}
