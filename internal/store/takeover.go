package store

import (
	"bytes"
	"maps"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A takeover takes records of one document over into another of the same test.
type takeover struct {
	from, to *Doc // to is nil where the test has none
	checks   []Check

	records []snapshot.Snapshot // of the document that is made
	altered map[int]bool        // records of to, by number, that do not prove themselves; nil: not yet known
	place   int                 // where the next new record goes
	begun   bool
	waiting []snapshot.Snapshot // new records in front of which no other was
	raw     map[int][]byte
	media   map[canon.Hash][]byte
}

func (m *takeover) begin() {
	if !m.begun && m.to != nil {
		m.records = m.to.Records()
	}
	m.begun = true
}

// skip passes a record that is not taken over.
func (m *takeover) skip(s *snapshot.Snapshot) {
	m.begin()
	if at := m.index(s.Number()); at >= 0 {
		m.follow(at)
	}
}

// follow has new records follow the one at an index, and puts those that waited in front of it.
func (m *takeover) follow(at int) {
	m.records = slices.Insert(m.records, at, m.waiting...)
	m.place, m.waiting = at+len(m.waiting)+1, nil
}

func (m *takeover) index(n int) int {
	return slices.IndexFunc(m.records, func(s snapshot.Snapshot) bool { return s.Number() == n })
}

// take takes over the i-th record, and returns its id.
func (m *takeover) take(i int) (id string, err error) {
	m.begin()
	s := m.from.Document.Snapshots[i]
	if s.Provider == "" {
		s.Provider = m.from.Provider
	}
	at := m.index(s.Number())
	if at >= 0 {
		if same, err := sameCall(&m.records[at], &s); err != nil || !same && m.records[at].Timestamp.After(s.Timestamp) {
			at = -1 // another call got the number since s was bought
			if err != nil {
				return "", err
			}
			if before := m.before(&s); before >= 0 {
				m.follow(before)
				return m.records[before].ID, nil
			}
			s.ID = snapshot.ID(m.from.Name, m.next())
		}
	}
	if at < 0 {
		s.Continues = nil // Seal chooses it
		m.add(s)
		return s.ID, m.bring(i, s.Number())
	}
	was := m.records[at]
	answered, err := m.answered(&was, &s)
	if err != nil {
		return "", err
	}
	same, err := sameCall(&was, &s)
	if err != nil {
		return "", err
	}
	if !answered || !same || was.Response.Stale != "" {
		s.Succeed(&was, answered)
		m.records[at] = s
	}
	m.follow(at)
	if answered {
		return was.ID, nil
	}
	return s.ID, m.bring(i, s.Number())
}

// add adds a new record.
func (m *takeover) add(s snapshot.Snapshot) {
	if m.place == 0 {
		m.waiting = append(m.waiting, s)
		return
	}
	m.records = slices.Insert(m.records, m.place, s)
	m.place++
}

// settled returns the records of the document that is made. New ones that stand next to none are its end.
func (m *takeover) settled() []snapshot.Snapshot { return append(m.records, m.waiting...) }

// next returns a number that no record has, here or there.
func (m *takeover) next() int {
	last := 0
	for _, s := range slices.Concat(m.records, m.waiting, m.from.Document.Snapshots) {
		last = max(last, s.Number())
	}
	return last + 1
}

// before returns the index of the record that s was taken over into by a process that died then; -1: none.
func (m *takeover) before(s *snapshot.Snapshot) int {
	return slices.IndexFunc(m.records, func(r snapshot.Snapshot) bool {
		same, err := sameCall(&r, s)
		return err == nil && same && r.Timestamp.Equal(s.Timestamp) && r.Response.RawOutputRef == s.Response.RawOutputRef
	})
}

// answered reports whether the answer of a record says what that of another, of the same call, said before, which is
// whole.
func (m *takeover) answered(was, s *snapshot.Snapshot) (bool, error) {
	if !s.Response.Confirms(&was.Response) || !m.whole(was) {
		return false, nil
	}
	before, err := snapshot.ResponseCore(&was.Response)
	if err != nil {
		return false, err
	}
	now, err := snapshot.ResponseCore(&s.Response)
	return bytes.Equal(before, now), err
}

// whole reports whether a record of to proves itself.
func (m *takeover) whole(was *snapshot.Snapshot) bool {
	if m.altered == nil {
		m.altered = map[int]bool{}
		of := func(i int) int { return m.to.Document.Snapshots[i].Number() }
		for i := range m.to.Document.Snapshots {
			for _, n := range needsOf(m.to.Document, i, m.to.Document.Snapshots[i].Media()) {
				if _, err := m.to.fetch(n); err != nil {
					m.altered[of(i)] = true
				}
			}
		}
		for _, check := range m.checks {
			for _, wrong := range check(m.to) {
				if i := recordOf(wrong.Pointer); i >= 0 && i < len(m.to.Document.Snapshots) {
					m.altered[of(i)] = true
				}
			}
		}
	}
	return !m.altered[was.Number()]
}

// bring reads what belongs to the i-th record, which gets the number n.
func (m *takeover) bring(i, n int) error {
	raw, err := m.from.Raw(i)
	if err != nil {
		return err
	}
	if raw != nil {
		m.raw[n] = raw
	}
	media, err := m.from.mediaOf(i)
	maps.Copy(m.media, media)
	return err
}

// mediaOf reads the media that the i-th record names.
func (d *Doc) mediaOf(i int) (map[canon.Hash][]byte, error) {
	media := map[canon.Hash][]byte{}
	for _, medium := range d.Document.Snapshots[i].Media() {
		data, err := d.Media(medium.Hash)
		if err != nil {
			return nil, err
		}
		media[medium.Hash] = data
	}
	return media, nil
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
