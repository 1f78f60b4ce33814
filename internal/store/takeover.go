package store

import (
	"bytes"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A takeover takes records of one document over into another of the same test.
type takeover struct {
	from, to *Doc // to is nil where the test has none
	checks   []Check

	old     []snapshot.Snapshot // of to
	altered map[int]bool        // indexes of records of to in which checks find something; nil means not yet known
	last    int                 // the last number that is in use
	beside  map[canon.Hash][]byte
}

// newTakeover returns one that has taken nothing yet.
func newTakeover(from, to *Doc, checks []Check) *takeover {
	m := &takeover{from: from, to: to, checks: checks, beside: map[canon.Hash][]byte{}}
	if to != nil {
		m.old = to.Records()
	}
	m.last = max(LastNumber(m.old), LastNumber(from.Document.Snapshots))
	return m
}

func (m *takeover) index(n int) int {
	return slices.IndexFunc(m.old, func(s snapshot.Snapshot) bool { return s.Number() == n })
}

// take returns the outcome of the call of the i-th record, and reads what belongs to it. The record gets another
// number where a call of now has its own.
func (m *takeover) take(i int, s *snapshot.Snapshot) (Outcome, error) {
	o, err := m.outcome(s)
	if err != nil || o.Record == nil || o.Answered {
		return o, err
	}
	return o, m.from.fetchAll(i, m.beside)
}

func (m *takeover) outcome(s *snapshot.Snapshot) (o Outcome, err error) {
	o = Outcome{Of: m.index(s.Number()), Record: s}
	if o.Of < 0 {
		return o, nil
	}
	was := &m.old[o.Of]
	same, err := sameCall(was, s)
	if err != nil {
		return o, err
	}
	if !same && was.Timestamp.After(s.Timestamp) { // another call got the number since s was bought
		if o.Of = m.before(s); o.Of >= 0 {
			return Outcome{Of: o.Of}, nil
		}
		m.last++
		s.ID = snapshot.ID(m.from.Name, m.last)
		return o, nil
	}
	o.Answered, err = m.answered(o.Of, s)
	if o.Answered && same && was.Response.Stale == "" {
		o.Record = nil
	}
	return o, err
}

// before returns the index of the record that an interrupted Accept already made of s; -1 means none.
func (m *takeover) before(s *snapshot.Snapshot) int {
	return slices.IndexFunc(m.old, func(r snapshot.Snapshot) bool {
		same, err := sameCall(&r, s)
		return err == nil && same && r.Timestamp.Equal(s.Timestamp) && r.Response.RawOutputRef == s.Response.RawOutputRef
	})
}

// answered reports whether a record's answer says what that of the record at an index of old says, which is whole.
func (m *takeover) answered(at int, s *snapshot.Snapshot) (bool, error) {
	was := &m.old[at].Response
	if !s.Response.Confirms(was) || !m.whole(at) {
		return false, nil
	}
	before, err := snapshot.ResponseCore(was)
	if err != nil {
		return false, err
	}
	now, err := snapshot.ResponseCore(&s.Response)
	return bytes.Equal(before, now), err
}

// whole reports whether the record at an index of old proves itself.
func (m *takeover) whole(at int) bool {
	for _, n := range needsOf(m.to.Document, at, m.old[at].Media()) {
		if _, err := m.to.Fetch(n); err != nil {
			return false
		}
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

// sameCall reports whether two records are of the same call: whether they have the same identity (design R9).
func sameCall(a, b *snapshot.Snapshot) (bool, error) {
	sorted := func(s *snapshot.Snapshot) []string { return inorder.Strings(s.Source.Ignored) }
	if a.Provider != b.Provider || a.Source.Lane != b.Source.Lane || !slices.Equal(sorted(a), sorted(b)) {
		return false, nil
	}
	x, err := snapshot.RequestCore(&a.Request, a.Source.Ignored)
	if err != nil {
		return false, err
	}
	y, err := snapshot.RequestCore(&b.Request, b.Source.Ignored)
	return bytes.Equal(x, y), err
}
