package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A recordMerge merges the records of one document by their ids.
type recordMerge struct {
	name               string
	base, ours, theirs []*record // in the order of each side
	chosen             func(id string) bool

	merged  []*record
	broken  error           // a request that could not be merged
	numbers map[int]*record // what became of their records, by the number on their side
	next    int             // the next free number
	result  Merge
}

// A record is a record on one side of a merge. Its provider is never empty.
type record struct {
	*snapshot.Snapshot
	n       int        // its number in the merged document
	was     int        // its number on its side
	added   bool       // added only by us
	request canon.Hash // hash of the request
	core    []byte     // core of the request
	sense   canon.Hash // hash of request and answer, which a merge compares
}

// recordsOf returns the records of one side; none if the side has no document.
func recordsOf(d *store.Doc) []*record {
	if d == nil {
		return nil
	}
	all := d.Records()
	records := make([]*record, len(all))
	for i := range all {
		s := &all[i]
		asked, core, _ := coreOf(s) // a record that was read has cores
		answered, _ := snapshot.ResponseCore(&s.Response)
		sense := canon.Sum(fmt.Appendf(nil, "%s\n%s\n%d\n%s", asked, answered, s.Response.Status, s.Response.RawOutputRef))
		records[i] = &record{Snapshot: s, n: s.Number(), was: s.Number(), request: asked, core: core, sense: sense}
	}
	return records
}

// coreOf returns the hash that identifies a record's request, and the request's core.
func coreOf(s *snapshot.Snapshot) (canon.Hash, []byte, error) {
	core, err := snapshot.RequestCore(&s.Request, s.Source.Ignored)
	return canon.Sum(fmt.Appendf(nil, "%s\n%s", s.Provider, core)), core, err
}

// merge merges the sides.
func (m *recordMerge) merge() {
	m.numbers = map[int]*record{}
	for _, r := range slices.Concat(m.base, m.ours, m.theirs) {
		m.next = max(m.next, r.n+1)
	}
	for _, o := range m.ours {
		b, t := numbered(m.base, o.n), m.counterpart(o)
		o.added = b == nil && t == nil
		m.add(len(m.merged), b, o, t)
	}
	after := 0 // position after which the next of their records belongs
	for _, t := range m.theirs {
		if _, ok := m.numbers[t.was]; !ok {
			at := after
			for at < len(m.merged) && m.merged[at].added {
				at++ // our additions at the same place come first
			}
			m.add(at, numbered(m.base, t.n), nil, t)
		}
		if at := slices.Index(m.merged, m.numbers[t.was]); at >= 0 {
			after = at + 1
		}
	}
}

// counterpart returns their record for one of ours. It is the one with its number or, for a new record, the first new
// one with the same request that is not used yet.
func (m *recordMerge) counterpart(o *record) *record {
	if numbered(m.base, o.n) != nil {
		return numbered(m.theirs, o.n)
	}
	for _, t := range m.theirs {
		if _, taken := m.numbers[t.was]; !taken && t.request == o.request && numbered(m.base, t.n) == nil {
			return t
		}
	}
	return nil
}

// add adds the merged record, if there is one; any side may be nil.
func (m *recordMerge) add(at int, base, ours, theirs *record) {
	kept := m.choose(base, ours, theirs)
	if theirs != nil {
		m.numbers[theirs.was] = kept
	}
	switch {
	case kept == nil:
		return
	case ours != nil:
		kept.n = ours.n
	case base == nil && numbered(m.ours, kept.n) != nil:
		kept.n = m.next
		m.next++
		now := RenumberedRecord{snapshot.ID(m.name, kept.was), snapshot.ID(m.name, kept.n)}
		m.result.Renumbered = append(m.result.Renumbered, now)
	}
	m.merged = slices.Insert(m.merged, at, kept)
}

// choose returns the record of the side that changed it. If both did, it is a record with the merged request, or else
// ours; it is theirs if the user chose it or if we removed ours.
func (m *recordMerge) choose(base, ours, theirs *record) *record {
	b, o, t := base.meaning(), ours.meaning(), theirs.meaning()
	if o == t || t == b {
		return ours
	}
	if o == b {
		return theirs
	}
	choice := Choice{Reason: "both sides changed it", Taken: "ours"}
	switch {
	case ours == nil:
		choice.ID, choice.Reason = snapshot.ID(m.name, theirs.n), "ours removed it and theirs changed it"
	case theirs == nil:
		choice.Reason = "ours changed it and theirs removed it"
	case base == nil && store.SameAnswer(&ours.Response, &theirs.Response) &&
		ours.Response.Status == theirs.Response.Status:
		choice.Reason = "both sides recorded this call, and only the bytes of the answers differ"
	case base == nil:
		choice.Reason = "both sides recorded this call, and the answers differ"
	}
	kept := ours
	if ours != nil {
		choice.ID = snapshot.ID(m.name, ours.n)
	}
	switch {
	case ours == nil || m.chosen(choice.ID):
		choice.Taken, kept = "theirs", theirs
	case base != nil && theirs != nil:
		kept = m.requests(&choice, base, ours, theirs)
	}
	m.result.Choices = append(m.result.Choices, choice)
	return kept
}

// requests returns a record with the merged request. It is the record of a side that has this request, or else one with
// our answer, marked as stale.
func (m *recordMerge) requests(choice *Choice, base, ours, theirs *record) *record {
	request, left, err := mergeRequest(&base.Request, &ours.Request, &theirs.Request)
	if err != nil {
		m.broken = err
		return ours
	}
	merged := *ours.Snapshot
	merged.Request = *request
	is, _, err := coreOf(&merged)
	if err != nil {
		m.broken = err
		return ours
	}
	choice.Left = left
	switch is {
	case ours.request:
		return ours
	case theirs.request:
		choice.Reason, choice.Taken = "theirs changed what is asked, and ours the answer alone", "theirs"
		return theirs
	}
	merged.Response.Stale = cmp.Or(merged.Response.Stale, canon.Sum(ours.core))
	choice.Reason, choice.Taken = "both sides changed what is asked", "merged"
	kept := *ours
	kept.Snapshot = &merged
	return &kept
}

// meaning returns the hash that a merge compares; empty if the side does not have the record.
func (r *record) meaning() canon.Hash {
	if r == nil {
		return ""
	}
	return r.sense
}

// put returns the put of the merged document, and gives the records their ids. Seal chooses another record to continue
// where the present one is wrong.
func (m *recordMerge) put() store.Put {
	records := make([]snapshot.Snapshot, len(m.merged))
	for i, r := range m.merged {
		records[i] = *r.Snapshot
		records[i].ID = snapshot.ID(m.name, r.n)
	}
	return store.PutOf(m.name, records)
}

func numbered(records []*record, n int) *record {
	for _, r := range records {
		if r.n == n {
			return r
		}
	}
	return nil
}
