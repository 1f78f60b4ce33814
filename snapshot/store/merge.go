package store

import (
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A merging merges the records of one document by their ids.
type merging struct {
	name               string
	base, ours, theirs []*record // by the order of each side
	chosen             func(id string) bool

	merged  []*record
	numbers map[int]*record // by the number on their side: what became of theirs
	next    int             // the number of the next record that needs a new one
	result  Merge
}

// A record is a record of one side of a merge. Its provider is never empty.
type record struct {
	*snapshot.Snapshot
	n       int        // its number in the merged document
	was     int        // its number on its side
	added   bool       // by ours alone
	request canon.Hash // of what was asked
	sense   canon.Hash // of what was asked and answered: what a merge is about
}

// recordsOf returns the records of one side; none of a side that has no document.
func recordsOf(d *Doc) ([]*record, error) {
	if d == nil {
		return nil, nil
	}
	records := make([]*record, len(d.Document.Snapshots))
	for i := range d.Document.Snapshots {
		s := d.Document.Snapshots[i]
		if s.Provider == "" {
			s.Provider = d.Provider
		}
		asked, err := snapshot.RequestCore(&s.Request, s.Source.Ignored)
		if err != nil {
			return nil, err
		}
		answered, err := snapshot.ResponseCore(&s.Response)
		if err != nil {
			return nil, err
		}
		r := &record{Snapshot: &s, n: s.Number(), was: s.Number()}
		r.request = canon.Sum(fmt.Appendf(nil, "%s\n%s", s.Provider, asked))
		r.sense = canon.Sum(fmt.Appendf(nil, "%s\n%s\n%d\n%s",
			r.request, answered, s.Response.Status, s.Response.RawOutputRef))
		records[i] = r
	}
	return records, nil
}

// merge merges the sides.
func (m *merging) merge() {
	m.numbers = map[int]*record{}
	for _, r := range slices.Concat(m.base, m.ours, m.theirs) {
		m.next = max(m.next, r.n+1)
	}
	for _, o := range m.ours {
		if kept := m.mergeOurs(o); kept != nil {
			m.merged = append(m.merged, kept)
		}
	}
	after := 0 // where the next of theirs stands
	for _, t := range m.theirs {
		if _, ok := m.numbers[t.was]; !ok {
			m.mergeTheirs(t, after)
		}
		if at := slices.Index(m.merged, m.numbers[t.was]); at >= 0 {
			after = at + 1
		}
	}
	m.rename()
}

// mergeOurs returns what the merge has in the place of a record of ours; nil if that goes.
func (m *merging) mergeOurs(o *record) *record {
	b := numbered(m.base, o.n)
	t := numbered(m.theirs, o.n)
	if b == nil {
		if t = m.sameCall(o); t == nil {
			o.added = true
			return o
		}
	}
	switch {
	case t == nil && o.sense == b.sense:
		return nil // theirs removed it
	case t == nil:
		return m.choose(o, nil, "ours changed it and theirs removed it")
	case b != nil && t.sense == b.sense, t.sense == o.sense:
		m.numbers[t.was] = o
		return o
	case b != nil && o.sense == b.sense:
		m.numbers[t.was] = t
		return t
	}
	reason := "both sides changed it"
	if b == nil {
		reason = "both sides recorded this call, and the answers differ"
	}
	kept := m.choose(o, t, reason)
	kept.n = o.n
	m.numbers[t.was] = kept
	return kept
}

// sameCall returns the new record of theirs that is of the same call as a new one of ours: the first
// that asks the same and is not taken yet.
func (m *merging) sameCall(o *record) *record {
	for _, t := range m.theirs {
		if _, taken := m.numbers[t.was]; !taken && t.request == o.request && numbered(m.base, t.n) == nil {
			return t
		}
	}
	return nil
}

// choose takes theirs if the user chose so, and else ours.
func (m *merging) choose(o, t *record, reason string) *record {
	choice := Choice{ID: snapshot.ID(m.name, o.n), Reason: reason, Taken: "ours"}
	kept := o
	if m.chosen(choice.ID) {
		choice.Taken, kept = "theirs", t
	}
	m.result.Choices = append(m.result.Choices, choice)
	return kept
}

// mergeTheirs adds a record that ours has not, unless ours removed it.
func (m *merging) mergeTheirs(t *record, after int) {
	b := numbered(m.base, t.n)
	switch {
	case b != nil && b.sense == t.sense:
		return
	case b != nil:
		choice := Choice{snapshot.ID(m.name, t.n), "ours removed it and theirs changed it", "theirs"}
		m.result.Choices = append(m.result.Choices, choice)
	case numbered(m.ours, t.n) != nil:
		t.n = m.next
		m.next++
		m.result.Renumbered = append(m.result.Renumbered, Renumbered{snapshot.ID(m.name, t.was), snapshot.ID(m.name, t.n)})
	}
	for after < len(m.merged) && m.merged[after].added {
		after++ // what ours added at the same place comes first
	}
	m.numbers[t.was] = t
	m.merged = slices.Insert(m.merged, after, t)
}

// rename gives the records of theirs their new ids, also where others continue them. Whether
// they still do, is for Seal to see.
func (m *merging) rename() {
	for _, r := range m.merged {
		r.ID = snapshot.ID(m.name, r.n)
		if c := r.Continues; c != nil && slices.Contains(m.theirs, r) {
			if to := m.numbers[c.Call]; to != nil {
				moved := *c
				moved.Call = to.n
				r.Continues = &moved
			}
		}
	}
}

// document returns the merged document, and the provider in whose directory it is.
func (m *merging) document() (d *snapshot.Document, provider string) {
	d = &snapshot.Document{Version: snapshot.Version}
	for _, r := range m.merged {
		d.Snapshots = append(d.Snapshots, *r.Snapshot)
	}
	provider = d.Snapshots[0].Provider
	for i := range d.Snapshots {
		if d.Snapshots[i].Provider == provider {
			d.Snapshots[i].Provider = ""
		}
	}
	return d, provider
}

func numbered(records []*record, n int) *record {
	for _, r := range records {
		if r.n == n {
			return r
		}
	}
	return nil
}
