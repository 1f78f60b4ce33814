package recorder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// A cause is what changed in a call that drifted, and how many calls drifted by it.
type cause struct {
	changes []drift.Trace
	later   []int // the n of the further calls
}

// drifted is the failure of a call that is held against the recorded call of the same provider and
// API that differs least and was not played; nil if there is none.
func (r *Recorder) drifted(c *call) *Failure {
	if r.compare == nil {
		r.compare = drift.NewComparer(r.Ignored)
	}
	got, err := r.compare.Request(c.request)
	if err != nil {
		return nil // unreachable: the request has a key
	}
	best := r.nearest(c, got)
	if best < 0 {
		return nil
	}
	r.tape.played[best] = true
	recorded := r.tape.parts[best]
	brief := fmt.Sprintf("%s request drifted from %s", c.provider, r.record(best))
	changes := r.compare.Traces(recorded, got)
	if known := r.knownCause(changes); known != nil {
		known.later = append(known.later, r.tape.records[best].Number())
		return &Failure{brief: brief + ", as calls before it", Missing: true}
	}
	r.causes = append(r.causes, &cause{changes: changes})

	differences := r.compare.Differences(recorded, got)
	changed := "changed: " + strings.Join(drift.Named(differences, recorded.Request, c.request), ", ")
	if len(differences) == 0 {
		changed = fmt.Sprintf("changed: the ignored pointers, from [%s] to [%s]",
			strings.Join(r.tape.records[best].Source.Ignored, " "), strings.Join(r.Ignored, " "))
	}
	if len(r.Ignored) > 0 && len(differences) > 0 {
		changed += "\nignored: " + strings.Join(r.Ignored, " ")
	}
	if rule := r.explained(differences); rule != "" {
		changed += "\n" + rule
	}
	pointers := make([]string, 0, len(differences))
	for _, d := range differences {
		pointers = append(pointers, d.Pointer)
	}
	if len(pointers) > 3 {
		pointers = append(pointers[:3], fmt.Sprintf("and %d more", len(pointers)-3))
	}
	r.hide(differences)
	f := failuref(brief+" (- recorded, + got)", drift.Text(differences), changed, "accept: "+r.Accept)
	f.brief, f.Missing = brief+": "+strings.Join(pointers, ", "), true
	return f
}

// nearest returns the record that a call is held against, or -1. After a first drift that is the next
// record, if it has as many messages and differs by what is known to have changed.
func (r *Recorder) nearest(c *call, got *drift.Request) int {
	best, size := -1, 0
	for i := range r.tape.records {
		if r.tape.played[i] || r.tape.providerOf(i) != c.provider || r.tape.records[i].Request.API != c.request.API ||
			r.tape.records[i].Source.Lane != c.lane {
			continue
		}
		if r.tape.parts[i] == nil {
			taken, err := r.compare.Request(r.tape.request(i))
			if err != nil {
				continue // unreachable: the record has a key
			}
			r.tape.parts[i] = taken
		}
		recorded := r.tape.parts[i]
		if best < 0 && len(recorded.Messages) == len(got.Messages) && r.knownCause(r.compare.Traces(recorded, got)) != nil {
			return i
		}
		distance := r.compare.Distance(recorded, got)
		if best < 0 || distance < size {
			best, size = i, distance
		}
	}
	return best
}

// knownCause returns the cause of an earlier drift whose changes are among these. What has changed
// besides follows from it as a rule: an agent goes on with other messages where it got no answer.
func (r *Recorder) knownCause(changes []drift.Trace) *cause {
	for _, known := range r.causes {
		gone := func(change drift.Trace) bool { return !slices.Contains(changes, change) }
		if (known.changes == nil) == (changes == nil) && !slices.ContainsFunc(known.changes, gone) {
			return known
		}
	}
	return nil
}

// wholeFailures is how many failures of a test are told in full, and briefFailures how many more in a line each.
const (
	wholeFailures = 5
	briefFailures = 10
)

// tellRest tells what was not told when it happened: of the failures of one cause how many they are, and
// of many other ones the first.
func (r *Recorder) tellRest() {
	for _, cause := range r.causes {
		if n := len(cause.later); n > 0 {
			brief := fmt.Sprintf("%s more drifted in the same way: %s, %s", count(n, "request"), r.file(), calls(cause.later))
			r.Tell(r.plain(failuref(brief, "accept: "+r.Accept)))
		}
	}
	rest := slices.DeleteFunc(slices.Clone(r.failures), func(f *Failure) bool { return f.Text == "" })[r.told:]
	if len(rest) == 0 {
		return
	}
	var lines []string
	for _, f := range rest[:min(len(rest), briefFailures)] {
		lines = append(lines, "  "+f.brief)
	}
	if left := len(rest) - len(lines); left > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more", left))
	}
	r.Tell(r.plain(failuref(count(len(rest), "more failure"), append(lines, "accept: "+r.Accept)...)))
}

// calls names calls by their numbers: "calls 2-5, 7".
func calls(numbers []int) string {
	slices.Sort(numbers)
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
