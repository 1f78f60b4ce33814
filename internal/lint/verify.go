package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Deterministic is a [store.Check] for design R7, based on the record alone. If a model generated the answer, the
// temperature must be 0 and, if the API has one, there must be a seed, or the record must give a reason. A parameter
// that the model does not accept is such a reason. The recorder writes it, because a codec's facts about models change
// with its version.
func Deterministic(d *store.Doc) (wrong []snapshot.Violation) {
	for i := range d.Document.Snapshots {
		s := &d.Document.Snapshots[i]
		codec := recorder.CodecNamed(s.Request.API, s.Provider)
		if codec != nil && codec.Generates && finished(s) && !s.Source.IsLifted() {
			wrong = append(wrong, unfixed(i, s, codec.Seeded, ", or source.nondeterministic say why it is not: record again")...)
		}
	}
	return wrong
}

// unfixed returns what the i-th record lacks to make its answer repeatable.
func unfixed(i int, s *snapshot.Snapshot, seeded bool, what string) (wrong []snapshot.Violation) {
	report := func(name, is string) {
		wrong = append(wrong, recorder.ViolationAt(i, snapshot.RuleDeterministic, is+what, "request", name))
	}
	if is := recorder.NotZero(s.Request.Temperature); is != "" {
		report("temperature", is+", must be 0")
	}
	if seeded && s.Request.Seed == nil {
		report("seed", "is not set, must be any fixed number")
	}
	return wrong
}

// finished reports whether a model answered, from the finish reason or from how the answer was cut.
func finished(s *snapshot.Snapshot) bool {
	return s.Response.Incomplete != "" ||
		slices.ContainsFunc(s.Response.Candidates, func(c modelio.Candidate) bool { return c.FinishReasonRaw != "" })
}

// ruleIgnored is the rule of notes about recorded parts that nothing compares.
const ruleIgnored = "ignored"

// wholeMessages names the messages of the i-th record that a rule replaced completely: any text in their place would be
// no drift. Values of Volatile are excluded, since each has a form of its own. Messages of a call that the record
// continues belong to that call: a conversation repeats its messages as often as it has calls.
func wholeMessages(i int, s *snapshot.Snapshot) (notes []snapshot.Violation) {
	look := func(text string, path ...string) {
		if name := scrub.Whole(text); name != "" {
			notes = append(notes, recorder.ViolationAt(i, snapshot.RuleRules, "is nothing but a placeholder of "+name+
				", a rule that takes a whole message: a request that has another text here is served this answer too", path...))
		}
	}
	if s.Request.Prompt != nil {
		look(*s.Request.Prompt, "request", "prompt")
	}
	n := 0
	if s.Continues != nil {
		n = s.Continues.Messages - 1 // the last one may be that call's answer
	}
	for ; n < len(s.Request.Messages); n++ {
		if content := s.Request.Messages[n].Content; len(content) == 1 && content[0].Text != nil {
			look(*content[0].Text, "request", "messages", strconv.Itoa(n))
		}
	}
	return notes
}

// Notes returns what reviewers of a document should know although it is no fault.
func Notes(d *store.Doc) (notes []snapshot.Violation) {
	for i := range d.Document.Snapshots {
		s := &d.Document.Snapshots[i]
		for n, pointer := range s.Source.Ignored {
			name, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
			if slices.Contains([]string{"messages", "model", "prompt", "tools"}, name) {
				what := ""
				if name != "model" && name != "tools" && !strings.Contains(rest, "/") {
					what = ", a rule that takes a whole message"
				}
				message := "leaves " + pointer + " of the request out" + what +
					": a request that has another is served this answer too"
				notes = append(notes, recorder.ViolationAt(i, ruleIgnored, message, "source", "ignored", strconv.Itoa(n)))
			}
		}
		notes = append(notes, wholeMessages(i, s)...)
		// SF requires both for every call
		if strings.HasPrefix(s.Source.Origin, recorder.MigratedFrom) && s.Response.RawOutputRef == "" {
			notes = append(notes,
				unfixed(i, s, true, " once the call is made: nobody asked for it where it was "+s.Source.Origin)...)
		}
	}
	return notes
}
