package audit

import (
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A takeover takes records of one document over into another document of the same test.
type takeover struct {
	from, to *store.Doc // to is nil if the test has none
	checks   []store.Check
	named    bool // a record of from names an id, so the answers in from belong together

	old     []snapshot.Snapshot // records of to
	altered map[int]bool        // indexes of records of to for which checks find something; nil if not yet known
	last    int                 // the highest number in use
	beside  map[canon.Hash][]byte
}

// newTakeover returns a takeover that has taken nothing yet.
func newTakeover(from, to *store.Doc, checks []store.Check) *takeover {
	m := &takeover{from: from, to: to, checks: checks, beside: map[canon.Hash][]byte{}}
	m.named = slices.ContainsFunc(from.Document.Snapshots, func(s snapshot.Snapshot) bool { return len(s.Source.IDs) > 0 })
	if to != nil {
		m.old = to.Records()
	}
	m.last = max(store.LastNumber(m.old), store.LastNumber(from.Document.Snapshots))
	return m
}

func (m *takeover) index(n int) int {
	return slices.IndexFunc(m.old, func(s snapshot.Snapshot) bool { return s.Number() == n })
}

// take returns the outcome for the i-th record, and reads the files that belong to it. The record gets another number
// if a different call has its number by now.
func (m *takeover) take(i int, s *snapshot.Snapshot) (store.Outcome, error) {
	o := m.outcome(s)
	if o.Record == nil || o.Answered {
		return o, nil
	}
	return o, m.from.FetchAll(i, m.beside)
}

func (m *takeover) outcome(s *snapshot.Snapshot) store.Outcome {
	o := store.Outcome{Of: m.index(s.Number()), Record: s}
	if o.Of < 0 {
		return o
	}
	was := &m.old[o.Of]
	same := sameCall(was, s)
	if !same && was.Timestamp.After(s.Timestamp) { // another call has got the number since s was bought
		if o.Of = m.before(s); o.Of >= 0 {
			return store.Outcome{Of: o.Of}
		}
		m.last++
		s.ID = snapshot.ID(m.from.Name, m.last)
		return o
	}
	o.Answered = !m.named && (same || store.SameOptions(&was.Request, &s.Request)) &&
		s.Response.Confirms(&was.Response) && store.SameAnswer(&was.Response, &s.Response) && m.whole(o.Of)
	if o.Answered && same && was.Response.Stale == "" {
		o.Record = nil
	}
	return o
}

// withoutGone leaves out further polls of jobs that were started again: records with ids that taken ones had before.
func (m *takeover) withoutGone(next []snapshot.Snapshot, done []store.Outcome) []snapshot.Snapshot {
	gone := map[string]bool{}
	for _, o := range done {
		if o.Of >= 0 && o.Record != nil && !slices.Equal(m.old[o.Of].Source.IDs, o.Record.Source.IDs) {
			for _, id := range m.old[o.Of].Source.IDs {
				gone[id] = true
			}
		}
	}
	return slices.DeleteFunc(next, func(s snapshot.Snapshot) bool {
		return slices.ContainsFunc(s.Source.IDs, func(id string) bool { return gone[id] })
	})
}

// before returns the index of the record that an interrupted Accept already made from s, or -1.
func (m *takeover) before(s *snapshot.Snapshot) int {
	return slices.IndexFunc(m.old, func(r snapshot.Snapshot) bool {
		return sameCall(&r, s) && r.Timestamp.Equal(s.Timestamp) && r.Response.RawOutputRef == s.Response.RawOutputRef
	})
}

// whole reports whether the record at an index of old passes the checks.
func (m *takeover) whole(at int) bool {
	if m.to.FetchAll(at, map[canon.Hash][]byte{}) != nil {
		return false
	}
	if m.altered == nil {
		m.altered = map[int]bool{}
		for _, check := range m.checks {
			for _, wrong := range check(m.to) {
				m.altered[recordOf(wrong.Pointer)] = true
			}
		}
	}
	return !m.altered[at]
}

// sameCall reports whether two records are of the same call: they have the same identity (design R9).
func sameCall(a, b *snapshot.Snapshot) bool {
	sorted := func(s *snapshot.Snapshot) []string { return inorder.Strings(s.Source.Ignored) }
	return a.Provider == b.Provider && a.Source.Lane == b.Source.Lane && slices.Equal(sorted(a), sorted(b)) &&
		store.SameRequest(a, b)
}

// recordOf returns the index of the record that a pointer leads into, or -1.
func recordOf(pointer string) int {
	n := -1
	_, _ = fmt.Sscanf(pointer, "/snapshots/%d", &n) // stays -1 on failure
	return n
}
