package recorder

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// Used says which records of the test's document a test used, by their ids.
type Used struct {
	Document string   // its combined hash; empty means the test has none
	Played   []string // answered a call
	Recorded []string // recorded in this run, or confirmed
	Unplayed []string // in the store, and not used
	Missing  int      // calls that no record answered
	Sent     []usage.Sent
}

// Used says what a test that has ended used.
func (r *Recorder) Used() (u Used) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u.Sent = r.sent
	for _, f := range r.failures {
		if f.Missing {
			u.Missing++
		}
	}
	if r.tape == nil {
		if err := r.openTape(anyProvider); err != nil {
			return u // the test's calls have told
		}
	}
	records := r.tape.records
	for _, faulty := range []bool{false, true} {
		for _, a := range r.answered {
			if a.take == nil && a.faulty == faulty && (!faulty || !slices.Contains(u.Played, records[a.record].ID)) {
				u.Played = append(u.Played, records[a.record].ID)
			}
		}
	}
	if r.tape.doc != nil {
		u.Document = string(r.tape.doc.Document.Hash)
	}
	if r.written != nil {
		records, u.Recorded, u.Document = r.written.Snapshots, r.renewed, string(r.written.Hash)
	}
	for i := range records {
		if id := records[i].ID; !slices.Contains(u.Played, id) && !slices.Contains(u.Recorded, id) {
			u.Unplayed = append(u.Unplayed, id)
		}
	}
	return u
}

// Updated says what a test that has ended did to its document; nil means it does nothing to one.
func (r *Recorder) Updated() *usage.Update {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.updated != nil {
		r.updated.Adopted = r.lineage.inherited
	}
	return r.updated
}
