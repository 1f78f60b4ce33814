package recorder

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// Became says in a word what a test did with its calls. It costs less than a receipt: verbose tests each print it.
func (r *Recorder) Became() string {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	switch {
	case r.run.Mode == Check:
		return "checked"
	case r.run.Mode == Mixed:
		return "live"
	case slices.ContainsFunc(r.report.failures, (*Failure).Drifted):
		return "drifted"
	case modes[r.run.Mode].writes && (len(r.report.failures) > 0 || len(r.run.takes) > 0 && r.revision.written == nil):
		return "unrecorded"
	case r.revision.written != nil && len(r.revision.renewed) > 0:
		return "recorded"
	}
	return "replayed"
}

// Receipt says what a test that has ended did, as far as its calls show, as if it had passed.
func (r *Recorder) Receipt() usage.Receipt {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	left := usage.Receipt{
		Package: r.run.Package, Outcome: "pass", Mode: r.run.Mode.String(), Store: r.run.Shown,
		Test:   r.run.plainText(r.run.Test), // a subtest's name may contain a secret
		Drifts: r.report.drifts(), Update: r.revision.updated, Live: r.run.answeredLive(), Sent: r.run.sent,
	}
	if r.revision.updated != nil {
		r.revision.updated.Adopted = r.run.inherited
	}
	for _, in := range r.run.faults.injected() {
		left.Faults = append(left.Faults, in.String())
	}
	for _, ck := range r.checks.all {
		left.Checks = append(left.Checks, ck.Check)
	}
	for _, f := range r.report.failures {
		if f.isOfCall() {
			left.Missing++
		}
	}
	r.notePlayed(&left)
	return left
}

// notePlayed notes which records of its document a test used.
func (r *Recorder) notePlayed(left *usage.Receipt) {
	if r.run.openTape(anyProvider) != nil {
		return // the test's calls already show it
	}
	records := r.run.tape.records
	for _, faulty := range []bool{false, true} {
		for _, a := range r.run.answered {
			if a.take == nil && a.faulty == faulty && (!faulty || !slices.Contains(left.Played, records[a.record].ID)) {
				left.Played = append(left.Played, records[a.record].ID)
			}
		}
	}
	if r.run.tape.doc != nil {
		left.Document = string(r.run.tape.doc.Document.Hash)
	}
	if r.revision.written != nil {
		records, left.Recorded, left.Document = r.revision.written.Snapshots, r.revision.renewed,
			string(r.revision.written.Hash)
	}
	for i := range records {
		if id := records[i].ID; !slices.Contains(left.Played, id) && !slices.Contains(left.Recorded, id) {
			left.Unplayed = append(left.Unplayed, id)
		}
	}
}
