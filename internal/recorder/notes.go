package recorder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/internal/store"
)

// notes are the last lines of a test's log, besides the failures.
type notes struct {
	run    *run
	report *report
	lines  []string
}

func (n *notes) say(format string, args ...any) {
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

// sayLosses notes what the replay of a test will lack (design R10).
func (n *notes) sayLosses(o TestEnd) {
	switch {
	case o.Skipped && len(n.run.takes) > 0:
		n.say("replay has no answers for a test that skips itself after a call: skip before the first call")
	case o.Skipped && slices.ContainsFunc(n.report.failures, (*Failure).isOfCall):
		n.say("the test skipped itself after a call that has no snapshot, and nothing is recorded of a test that " +
			"skips itself: skip before the first call")
	case o.Skipped || o.Failed || len(n.report.failures) > 0 || !modes[n.run.Mode].writes:
	default:
		n.sayLossesOfRecording()
	}
}

// sayLossesOfRecording notes what the replay of a recorded test will lack.
func (n *notes) sayLossesOfRecording() {
	if equal := n.overlappingTakes(); len(equal) > 0 {
		n.say("%s, of %s, were made at once and got different answers: replay gives them to who asks first, "+
			"which may be another caller. %s", count(len(equal), "equal request"),
			n.run.words(fmt.Sprintf("%s line %d", equal[0].source.File, equal[0].source.Line), "the program"), n.run.lanes())
	}
	if statuses := n.retriedStatuses(); len(statuses) > 0 {
		n.say("answers of status %s are not recorded, as a later try did better: replay begins with that. "+
			"To record them too: %s", strings.Join(statuses, ", "), n.run.allow("RetryableErrors"))
	}
	for _, tk := range n.run.takes {
		if n.run.transient(tk) || tk.record == nil {
			continue
		}
		if tk.note != "" {
			n.say("an answer of %s does not fit its API, and is recorded as it is, with a note: %s", tk.provider,
				n.run.plainText(tk.note))
		}
		for _, line := range reading.Sentences(tk.record.Response.Readings, tk.record.Response.ReadingsMore) {
			n.say("of an answer of %s some programs read %s, and others do not: its record has the readings", tk.provider,
				n.run.plainText(line))
		}
	}
	if names := strings.Join(n.droppedHeaders(), ", "); names != "" && n.run.saysFirst("headers "+names) {
		n.say("headers of answers that are not recorded, and not there in replay: %s. "+
			"Those that the code under test reads: %s", names, n.run.keepHeaders())
	}
}

// overlappingTakes returns takes of equal requests in one lane that overlapped and got different answers, in the order
// of the calls. In replay the first to ask gets the first answer. Requests that name different ids are not equal.
func (n *notes) overlappingTakes() (equal []*take) {
	for _, tk := range n.run.takes {
		other := func(o *take) bool {
			return o != tk && o.began < tk.heard && tk.began < o.heard && o.key == tk.key && !n.run.transient(o) &&
				slices.Equal(o.stable, tk.stable) && n.run.makeRecord(o) == nil && n.run.makeRecord(tk) == nil &&
				!store.SameAnswer(&o.record.Response, &tk.record.Response)
		}
		if slices.ContainsFunc(n.run.takes, other) {
			equal = append(equal, tk)
		}
	}
	return equal
}

// retriedStatuses returns the distinct statuses of answers that asked for another try, if the try succeeded.
func (n *notes) retriedStatuses() (statuses []string) {
	final := n.run.finalKeys()
	for _, tk := range n.run.takes {
		if tk.how != failed && n.run.transient(tk) && final[tk.key] {
			statuses = inorder.With(statuses, statusText(tk.status)+tk.retry)
		}
	}
	return statuses
}
