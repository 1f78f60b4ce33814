package recorder

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/reading"
)

// told are the lists of dropped headers that a log of this process has named. The tests of a suite get the same ones,
// and one line says it.
var told sync.Map

// misses adds to a note for the log of a test what its replay will miss of what was just seen (design R10).
func (r *Recorder) misses(note string, o Outcome) string {
	lines := []string{note}
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch {
	case o.Skipped && len(r.takes) > 0:
		say("replay has no answers for a test that skips itself after a call: skip before the first call")
	case o.Skipped && slices.ContainsFunc(r.failures, func(f *Failure) bool { return f.Missing }):
		say("the test skipped itself after a call that has no snapshot, and nothing is recorded of a test that " +
			"skips itself: skip before the first call")
	case o.Skipped || o.Failed || len(r.failures) > 0 || !modes[r.Mode].writes:
	default:
		r.missed(say)
	}
	return strings.TrimPrefix(strings.Join(lines, "\n"), "\n")
}

// missed says what replay will miss of what a test recorded.
func (r *Recorder) missed(say func(format string, args ...any)) {
	if equal := r.overlapped(); len(equal) > 0 {
		say("%s, of %s line %d, were made at once and got different answers: replay gives them to who asks first, "+
			"which may be another caller. %s",
			count(len(equal), "equal request"), equal[0].source.File, equal[0].source.Line, r.lanes())
	}
	if statuses := r.tried(); len(statuses) > 0 {
		say("answers of status %s are not recorded, as a later try did better: replay begins with that. "+
			"To record them too: %s", strings.Join(statuses, ", "), r.allow("RetryableErrors"))
	}
	for _, tk := range r.takes {
		if r.transient(tk) {
			continue
		}
		if tk.note != "" {
			say("an answer of %s does not fit its API, and is recorded as it is, with a note: %s", tk.provider, r.Plain(tk.note))
		}
		for _, line := range reading.Sentences(reading.Told(tk.readings)) {
			say("of an answer of %s some programs read %s, and others do not: its record has the readings", tk.provider, r.Plain(line))
		}
	}
	if names := strings.Join(r.dropped(), ", "); names != "" {
		if _, said := told.LoadOrStore(names, true); !said {
			say("headers of answers that are not recorded, and not there in replay: %s. "+
				"Those that the code under test reads: %s", names, r.keepHeaders())
		}
	}
}

// overlapped returns the takes of equal requests, of one lane, that were under way at once and got different
// answers, in the order of the calls: which of them gets which answer in replay depends on who asks first.
func (r *Recorder) overlapped() (equal []*take) {
	byKey := map[key][]*take{}
	for _, tk := range r.takes {
		if !r.transient(tk) {
			byKey[tk.key] = append(byKey[tk.key], tk)
		}
	}
	cores := map[*take][sha256.Size]byte{}
	coreOf := func(tk *take) [sha256.Size]byte {
		if _, known := cores[tk]; !known {
			if g, f := r.golden(tk); f == nil {
				cores[tk] = g.said()
			}
		}
		return cores[tk]
	}
	for _, tk := range r.takes {
		other := func(o *take) bool {
			return o != tk && o.began < tk.heard && tk.began < o.heard && coreOf(o) != coreOf(tk)
		}
		if slices.ContainsFunc(byKey[tk.key], other) {
			equal = append(equal, tk)
		}
	}
	return equal
}

// tried returns the statuses of answers that asked to try again, and were followed by one that stood.
func (r *Recorder) tried() (statuses []string) {
	stood := map[key]bool{}
	for _, tk := range r.takes {
		if !r.transient(tk) {
			stood[tk.key] = true
		}
	}
	for _, tk := range r.takes {
		if tk.outcome == retryable && stood[tk.key] {
			statuses = append(statuses, strconv.Itoa(tk.status)+" "+http.StatusText(tk.status))
		}
	}
	return statuses
}
