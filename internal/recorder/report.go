package recorder

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// tellings are the changes that tests of this process have told, by [tellingKey]. They belong to the process, since its
// tests do not know each other and go test prints them together.
var tellings locked.Map[tellingKey, *reporter]

// A tellingKey is a change in the records of a store.
type tellingKey struct{ dir, change string }

// A reporter is the test that told a change in full.
type reporter struct {
	test    string
	repeats atomic.Int32 // repeats by other tests
}

// saysFirst reports whether this is the first time that a test of this process says something about the store.
func (s *setup) saysFirst(what string) bool {
	_, said := tellings.Add(tellingKey{s.Dir, what}, new(reporter))
	return !said
}

// threeLines is the number of tests that take three lines to say that they failed by a change that another has told.
// Later tests take one.
const threeLines = 5

// toldBy returns the other test that has told a change of the store, or nil if this test is the first.
func (s *setup) toldBy(change string) *reporter {
	told, _ := tellings.Add(tellingKey{s.Dir, change}, &reporter{test: s.Test})
	if told.test != s.Test {
		return told
	}
	return nil
}

// A report says why a test fails: what differs between its calls and its records, and how to accept that.
type report struct {
	run      *run
	failures []*Failure
	told     int                 // how many failures were reported as they happened
	failed   map[string]*Failure // by the call that failed, so that a retry is the same failure
}

// toldFailure is the failure of a call whose changes other tests have all told, or nil.
func (r *report) toldFailure(brief string, changes []usage.DriftChange, told []*reporter, accept string) *Failure {
	if len(told) == 0 || slices.Contains(told, nil) {
		return nil
	}
	first := told[0]
	if first.repeats.Add(1) > threeLines {
		return againf(fmt.Sprintf("%s%s, as in %s", brief, named(changes), first.test))
	}
	var parts []string
	for _, c := range changes {
		parts = append(parts, fmt.Sprintf("%s, %s", c.Component, count(max(c.Removed, c.Added), "line")))
	}
	return againf(brief, fmt.Sprintf("the same change as in %s: %s", first.test, strings.Join(parts, "; ")), accept)
}

// alsoMissingFailure is the failure of a call without a record, if another test of the process has told the same. The
// same may be move, the command that keeps the records of both. It is nil if none has, or there is more to say.
func (r *report) alsoMissingFailure(c *call, renamed, move string) *Failure {
	if len(r.run.tape.records) > 0 || renamed != "" && move == "" || r.run.Program != nil || r.run.Mode != Replay {
		return nil
	}
	cause, all := usage.Missing, fmt.Sprintf("record all: %s=%s %s", gotest.UpdateEnv, UpdateNew, r.run.TestCommand)
	if move != "" {
		cause, all = move, "keep all their records: "+move
	}
	first := r.run.toldBy(cause)
	if first == nil {
		return nil
	}
	line := fmt.Sprintf("%s has no snapshot, as in %s: %s", c.title(), first.test, r.run.lastSaid(c.request))
	if first.repeats.Add(1) >= threeLines {
		line += "; " + all
	}
	return againf(line)
}

// wholeFailures is the number of a test's failures that are told in full. briefFailures is the number of those after
// them that take one line each.
const (
	wholeFailures = 5
	briefFailures = 10
	moreLines     = "  … "
)

// tellRest reports the failures that were not reported as they happened: the number of those with one cause, and the
// first of many others.
func (r *report) tellRest() {
	for _, cause := range r.run.causes {
		if n := len(cause.later); n > 0 {
			brief := fmt.Sprintf("%s more drifted in the same way: %s, %s", count(n, "request"), r.run.file(),
				calls(cause.later))
			r.run.Tell(r.run.plain(againf(brief, cause.accept)))
		}
	}
	if mistaken := r.run.tape.mistaken(); len(mistaken) > 0 {
		r.run.Tell(r.run.plain(
			againf(fmt.Sprintf("%s of %s came after all: the drifted request that was shown against it is a new call",
				calls(mistaken), r.run.file()))))
	}
	rest := slices.DeleteFunc(slices.Clone(r.failures), func(f *Failure) bool { return f.Text == "" })[r.told:]
	if len(rest) == 0 {
		return
	}
	var lines []string
	for _, f := range rest {
		lines = append(lines, "  "+f.brief)
	}
	accept := r.wayOut("accept")
	if r.run.Mode == Check {
		accept = "accept: " + r.run.with("all") // the requests are the same
	}
	f := failuref(count(len(rest), "more failure"), append(atMost(briefFailures, lines, moreLines), accept)...)
	if !slices.ContainsFunc(rest, func(f *Failure) bool { return f.drift == nil }) {
		f.drift = rest[0].drift // the receipt has them all
	}
	r.run.Tell(r.run.plain(f))
}

// mistaken returns the numbers of records that were compared with a drifted call and answered another call later.
func (t *tape) mistaken() []int {
	return t.numbers(func(i int) bool { return t.plays[i].compared && t.plays[i].played })
}

// numbers returns the numbers of the chosen records, or none if nothing was called.
func (t *tape) numbers(meant func(i int) bool) (numbers []int) {
	if t == nil {
		return nil
	}
	for i := range t.records {
		if meant(i) {
			numbers = append(numbers, t.records[i].Number())
		}
	}
	return numbers
}

// calls names calls by their numbers: "calls 2-5, 7".
func calls(numbers []int) string {
	sort.Ints(numbers)
	var ranges []string
	for i := 0; i < len(numbers); {
		end := i + 1
		for end < len(numbers) && numbers[end] == numbers[end-1]+1 {
			end++
		}
		text := fmt.Sprint(numbers[i])
		if end > i+1 {
			text += fmt.Sprintf("-%d", numbers[end-1])
		}
		ranges, i = append(ranges, text), end
	}
	const most = 10
	if len(ranges) > most {
		ranges = append(ranges[:most], "…")
	}
	if len(numbers) == 1 {
		return "call " + ranges[0]
	}
	return "calls " + strings.Join(ranges, ", ")
}

// drifts returns which calls of a test that has ended had no record, and which records had no call, in order.
func (r *report) drifts() (drifts []usage.Drift) {
	mistaken := r.run.tape.mistaken()
	for _, f := range r.failures {
		if f.drift == nil {
			continue
		}
		d := *f.drift
		if d.Kind == usage.Drifted && slices.Contains(mistaken, d.Call) {
			d = usage.Drift{Kind: usage.Missing, Provider: d.Provider}
		}
		if f.Source.File != "" {
			d.File, d.Line = f.Source.File, f.Source.Line
		}
		for i, line := range d.Summary {
			d.Summary[i] = r.run.plainText(line)
		}
		drifts = append(drifts, d)
	}
	return drifts
}
