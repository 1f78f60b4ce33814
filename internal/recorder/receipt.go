package recorder

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// Became says in a word what a test did with its calls. It costs less than a receipt: verbose tests each print it.
func (r *Recorder) Became() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.Mode == Check:
		return "checked"
	case r.Mode == Mixed:
		return "live"
	case slices.ContainsFunc(r.failures, func(f *Failure) bool { return f.Missing || f.drift != nil }):
		return "drifted"
	case modes[r.Mode].writes && len(r.takes) > 0 && (r.written == nil || len(r.failures) > 0):
		return "unrecorded"
	case r.written != nil && len(r.renewed) > 0:
		return "recorded"
	}
	return "replayed"
}

// Receipt says what a test that has ended did, as far as its calls show, as if it had passed.
func (r *Recorder) Receipt() usage.Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := usage.Receipt{
		Package: r.Package, Outcome: "pass", Mode: r.Mode.String(), Store: r.Shown,
		Test:   r.Plain(r.Test), // a subtest's name may contain a secret
		Drifts: r.drifts(), Update: r.updated, Live: r.answeredLive(), Sent: r.sent,
	}
	if r.updated != nil {
		r.updated.Adopted = r.inherited
	}
	for _, in := range r.faults.injected() {
		left.Faults = append(left.Faults, in.String())
	}
	for _, ck := range r.checks.all {
		left.Checks = append(left.Checks, ck.Check)
	}
	for _, f := range r.failures {
		if f.Missing {
			left.Missing++
		}
	}
	r.notePlayed(&left)
	return left
}

// notePlayed notes which records of its document a test used.
func (r *Recorder) notePlayed(left *usage.Receipt) {
	if r.openTape(anyProvider) != nil {
		return // the test's calls already show it
	}
	records := r.tape.records
	for _, faulty := range []bool{false, true} {
		for _, a := range r.answered {
			if a.take == nil && a.faulty == faulty && (!faulty || !slices.Contains(left.Played, records[a.record].ID)) {
				left.Played = append(left.Played, records[a.record].ID)
			}
		}
	}
	if r.tape.doc != nil {
		left.Document = string(r.tape.doc.Document.Hash)
	}
	if r.written != nil {
		records, left.Recorded, left.Document = r.written.Snapshots, r.renewed, string(r.written.Hash)
	}
	for i := range records {
		if id := records[i].ID; !slices.Contains(left.Played, id) && !slices.Contains(left.Recorded, id) {
			left.Unplayed = append(left.Unplayed, id)
		}
	}
}
