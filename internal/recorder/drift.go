package recorder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// A cause is what changed in a call of the test that drifted, and how many calls drifted by it.
type cause struct {
	traces  []drift.Trace
	changes []usage.DriftChange
	later   []int // the n of the further calls
}

// causes are those of the calls of a test that drifted.
type causes []*cause

// drifted is the failure of a call that is held against the unplayed record of its provider and API that is most like
// it. It is nil if there is none.
func (r *report) drifted(c *call) *Failure {
	best, got := r.like(c)
	if best < 0 {
		return nil
	}
	r.tape.held[best] = true
	r.tellAsked(c, &r.tape.records[best])
	recorded := r.tape.parts[best]
	brief := fmt.Sprintf("%s drifted from %s", c.asking(), r.record(best))
	d := r.tape.driftOf(best)
	d.Scripted = c.step != nil
	traces := r.compare.Traces(recorded, got)
	if known := r.causes.find(traces); known != nil {
		known.later = append(known.later, d.Call)
		for _, change := range known.changes {
			change.Before, change.After = nil, nil
			d.Changes = append(d.Changes, change)
		}
		return (&Failure{brief: brief + ", as calls before it"}).withDrift(d)
	}
	changes := r.compare.Changes(recorded, got)
	r.scanner().Hide(&changes) // before they are cut to what is shown
	told := make([]*reporter, len(changes))
	for i, change := range changes {
		told[i] = r.toldBy(change.Key())
		d.Changes = append(d.Changes, driftChange(change, told[i] == nil))
	}
	r.causes = append(r.causes, &cause{traces: traces, changes: d.Changes})
	f := r.asTold(brief, d.Changes, told)
	if f == nil {
		f = failuref(brief+" (- recorded, + got)", difference(changes, told),
			r.remarks(best, d.Changes, r.compare.Differences(recorded, got)), r.wayOut("accept"),
			r.withoutKey(c, &r.tape.records[best]))
	}
	f.brief = brief + named(d.Changes)
	return f.withDrift(d)
}

// driftOf begins the drift of a call from a record, for the receipt.
func (t *tape) driftOf(i int) *usage.Drift {
	s := &t.records[i]
	return &usage.Drift{Kind: usage.Drifted, Record: s.ID, Call: s.Number(), Provider: t.providerOf(i), Tokens: amount.Of(s.Response.TokensUsed)}
}

// mostOfChange is how many bytes of both sides of a change a receipt holds.
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

// named returns the components that changed as the end of a line.
func named(changes []usage.DriftChange) string {
	if len(changes) == 0 {
		return ""
	}
	return ": " + strings.Join(atMost(3, componentsOf(changes)), ", ")
}

func componentsOf(changes []usage.DriftChange) (names []string) {
	for _, c := range changes {
		names = inorder.With(names, c.Component)
	}
	return names
}

// difference shows the changes that were not told before in this process, and names the test that told
// the others.
func difference(changes []drift.Change, told []*reporter) string {
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

// remarks says what changed in a word, and what explains it.
func (r *report) remarks(best int, changes []usage.DriftChange, differences []drift.Difference) string {
	if len(changes) == 0 {
		return fmt.Sprintf("changed: the ignored pointers, from [%s] to [%s]",
			strings.Join(r.tape.records[best].Source.Ignored, " "), strings.Join(r.Ignored, " "))
	}
	lines := []string{"changed: " + strings.Join(componentsOf(changes), ", ")}
	if len(r.Ignored) > 0 {
		lines = append(lines, "ignored: "+strings.Join(r.Ignored, " "))
	}
	if rule := r.explained(differences); rule != "" {
		lines = append(lines, rule)
	}
	return strings.Join(lines, "\n")
}

// find returns the cause of an earlier drift whose changes are among these. Further changes follow from that one as
// a rule: an agent goes on with other messages where it got no answer.
func (all causes) find(traces []drift.Trace) *cause {
	for _, known := range all {
		gone := func(trace drift.Trace) bool { return !slices.Contains(traces, trace) }
		if (known.traces == nil) == (traces == nil) && !slices.ContainsFunc(known.traces, gone) {
			return known
		}
	}
	return nil
}
