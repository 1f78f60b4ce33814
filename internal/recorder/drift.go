package recorder

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A cause is a change in a call that drifted, and the number of calls that drifted with it.
type cause struct {
	traces  []drift.Trace
	changes []usage.DriftChange
	later   []int  // numbers of the further calls
	accept  string // how an update accepts it
}

// causes are the causes of a test's drift.
type causes []*cause

// driftFailure is the failure of a call that differs from the most similar record: one of its provider and API that was
// not played. It is nil if no record is similar.
func (r *report) driftFailure(c *call) *Failure {
	best, got := r.run.like(c, nil)
	if best < 0 {
		return nil
	}
	r.run.tape.plays[best].compared = true
	r.run.tellMiss(c, &r.run.tape.records[best])
	recorded := r.run.tape.plays[best].parts
	if unknown := r.run.tape.records[best].Source.Unknown; len(unknown) > 0 { // the call's own are no change
		got, _ = r.run.compare.Request(provider.WithoutHeaders(c.request, unknown))
	}
	brief := fmt.Sprintf("%s drifted from %s", c.title(), r.run.recordName(best))
	d := r.run.tape.driftOf(best)
	d.Scripted = c.step != nil
	traces := r.run.compare.Traces(recorded, got)
	if known := r.run.causes.find(traces); known != nil {
		known.later = append(known.later, d.Call)
		for _, change := range known.changes {
			change.Before, change.After = nil, nil
			d.Changes = append(d.Changes, change)
		}
		return (&Failure{brief: brief + ", as calls before it"}).withDrift(d)
	}
	changes := r.run.compare.Changes(recorded, got)
	r.run.scanner().Hide(&changes) // must come before the changes are cut for display
	told := make([]*reporter, len(changes))
	for i, change := range changes {
		told[i] = r.run.toldBy(change.Key())
		d.Changes = append(d.Changes, driftChange(change, told[i] == nil))
	}
	rule, once := r.run.explained(r.run.compare.Differences(recorded, got))
	obstacle, accept, keyless := r.obstacle(c), r.wayOutFor(c, "accept"), r.withoutKey(c, &r.run.tape.records[best])
	switch {
	case r.run.faults.givenUp() != nil:
		obstacle = "" // no update accepts it
	case once:
		obstacle, accept, keyless = "", "", "" // these help for one run only
	case c.codec.Session != nil && isReply(c.request): // an update's reply to the store's question, which no server asked
		accept = "accept: " + r.run.with("all")
	}
	r.run.causes = append(r.run.causes, &cause{traces: traces, changes: d.Changes, accept: accept})
	f := r.toldFailure(brief, d.Changes, told, accept)
	if f == nil {
		f = failuref(brief+" (- recorded, + got)", newChanges(changes, told), r.remarks(best, d.Changes, rule), obstacle,
			accept, keyless)
	}
	f.brief = brief + named(d.Changes)
	return f.withDrift(d)
}

// isTold reports whether a request has the error of a tool, as an agent tells the model that its tool failed.
func (r *report) isTold(c *call) bool {
	core, _ := snapshot.RequestCore(c.request, nil) // the call has a key
	for _, f := range r.failed {
		if !f.ofModel && bytes.Contains(core, bytes.Trim(jsontext.Text("traceforge: "+f.brief), `"`)) {
			return true
		}
	}
	return false
}

// driftOf begins the receipt's drift of a call from a record.
func (t *tape) driftOf(i int) *usage.Drift {
	s := &t.records[i]
	return &usage.Drift{Kind: usage.Drifted, Record: s.ID, Call: s.Number(), Provider: s.Provider,
		Tokens: amount.Of(s.Response.TokensUsed)}
}

// mostOfChange is the most bytes of both sides of a change that a receipt holds.
const mostOfChange = 64 << 10

func driftChange(c drift.Change, inFull bool) usage.DriftChange {
	removed, added := c.Lines()
	d := usage.DriftChange{Key: c.Key(), Component: c.String(), Kind: c.Kind, Removed: removed, Added: added}
	if inFull {
		c = c.Around(mostOfChange)
		d.Before, d.After = c.Before, c.After
	}
	return d
}

// named returns the changed components as the end of a line.
func named(changes []usage.DriftChange) string {
	if len(changes) == 0 {
		return ""
	}
	return ": " + strings.Join(atMost(3, componentsOf(changes), ""), ", ")
}

func componentsOf(changes []usage.DriftChange) (names []string) {
	for _, c := range changes {
		names = inorder.With(names, c.Component)
	}
	return names
}

// newChanges shows the changes that this process has not shown before, and names the test that showed the others.
func newChanges(changes []drift.Change, told []*reporter) string {
	var fresh []drift.Change
	var lines []string
	for i, c := range changes {
		if told[i] == nil {
			fresh = append(fresh, c)
		} else {
			lines = append(lines, fmt.Sprintf("  %s: the same change as in %s", c, told[i].test))
		}
	}
	return drift.Plain.Text(fresh) + strings.Join(lines, "\n")
}

// remarks names the change in a word, and what explains it.
func (r *report) remarks(best int, changes []usage.DriftChange, rule string) string {
	if len(changes) == 0 {
		return fmt.Sprintf("changed: the ignored pointers, from [%s] to [%s]",
			strings.Join(r.run.tape.records[best].Source.Ignored, " "), strings.Join(r.run.Ignored, " "))
	}
	lines := []string{"changed: " + strings.Join(componentsOf(changes), ", ")}
	if len(r.run.Ignored) > 0 {
		lines = append(lines, "ignored: "+strings.Join(r.run.Ignored, " "))
	}
	if rule != "" {
		lines = append(lines, rule)
	}
	return strings.Join(lines, "\n")
}

// find returns the cause of an earlier drift whose changes are all among these, or nil. Such changes usually follow
// from that drift: an agent that got no answer goes on with other messages.
func (all causes) find(traces []drift.Trace) *cause {
	for _, known := range all {
		gone := func(trace drift.Trace) bool { return !slices.Contains(traces, trace) }
		if (known.traces == nil) == (traces == nil) && !slices.ContainsFunc(known.traces, gone) {
			return known
		}
	}
	return nil
}

// like returns the index of the record that a call is compared with, or -1, and the call's request, taken apart.
// Records that are taken belong to other calls; nil if none are.
func (r *run) like(c *call, taken []bool) (best int, got *drift.Request) {
	got, _ = r.comparer().Request(c.request) // the call has a key, so this cannot fail
	return r.nearest(c, got, taken), got
}

// comparer returns the test's comparer. It is made for the first call that drifts, so most tests have none.
func (r *run) comparer() *drift.Comparer {
	if r.compare == nil {
		r.compare = drift.NewComparer(r.Ignored)
	}
	return r.compare
}

// comparable reports whether a call may have drifted from the i-th record: provider, API, tool and lane must agree.
func (t *tape) comparable(i int, c *call) bool {
	s := &t.records[i]
	return s.Provider == c.provider && s.Source.Lane == c.lane &&
		s.Request.API == c.request.API && sameTool(&s.Request, c.request)
}

// sameTool reports whether two requests are for one tool. The inputs of two tools have nothing in common.
func sameTool(a, b *modelio.Request) bool {
	return a.Tool() == b.Tool() && methodOf(a) == methodOf(b) && (a.Tool() == "" || a.API == b.API)
}

// nearest returns the record that a call is compared with, or -1. It shares most with the call and, of several such
// records, differs least. A record that differs only by a known change, and has as many messages, comes first, unless
// one before it shares something with the call.
func (r *run) nearest(c *call, got *drift.Request, taken []bool) int {
	best, likeness, plays := -1, 0.0, r.tape.plays
	var left []int
	for i := range plays {
		if !plays[i].played && !plays[i].compared && (taken == nil || !taken[i]) && r.tape.comparable(i, c) {
			left = append(left, i)
		}
	}
	for _, i := range left {
		if plays[i].parts == nil {
			plays[i].parts, _ = r.compare.Request(r.tape.request(i)) // a record has a key, so this cannot fail
		}
		recorded, bonus := plays[i].parts, 0.0
		if best < 0 && len(r.causes) > 0 && len(recorded.Messages) == len(got.Messages) &&
			r.causes.find(r.compare.Traces(recorded, got)) != nil {
			return i
		}
		if bytes.Equal(r.tape.request(i).Options["$url"], c.request.Options["$url"]) {
			bonus = 1 // the same endpoint, of several that take like bodies
		}
		if drift.MostAlike(recorded, got)+bonus < likeness {
			continue
		}
		like := r.compare.Likeness(recorded, got)
		if like > 0 && (like+bonus > likeness || like+bonus == likeness &&
			r.compare.Distance(recorded, got) < r.compare.Distance(plays[best].parts, got)) {
			best, likeness = i, like+bonus
		}
	}
	if best < 0 && r.Mode != UpdateNew { // a call that shares nothing with a record is made in this mode
		return r.nearestOther(left, got)
	}
	return best
}

// nearestOther chooses among records that share nothing with a call. Of the first few, it is the one that differs only
// in values that change in every run, or a sole record that differs little. It returns -1 otherwise: the call is new,
// and a comparison would tell nothing.
func (r *run) nearestOther(records []int, got *drift.Request) int {
	const most, few = 1000, 8 // bytes that differ, and records
	for _, i := range records[:min(few, len(records))] {
		recorded := r.tape.plays[i].parts
		if len(records) == 1 && r.compare.Distance(recorded, got) <= most {
			return i
		}
		if len(recorded.Messages) != len(got.Messages) {
			continue
		}
		if rule, _ := r.explained(r.compare.Differences(recorded, got)); rule != "" {
			return i
		}
	}
	return -1
}
