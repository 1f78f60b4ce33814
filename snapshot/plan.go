package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/canon"
)

// plan adds to t what the change needs. What others refer to is written first: a record after its
// blobs, and the manifest last.
func (s *Store) plan(t *transaction, m *Manifest, p *plan) error {
	records := &transaction{root: t.root}
	kept, old, err := s.planRecords(records, m, p)
	if err != nil {
		return err
	}
	if err := s.planBlobs(t, p, kept, old); err != nil {
		return err
	}
	t.writes = append(t.writes, records.writes...)
	t.removes = append(records.removes, t.removes...)
	return s.planManifest(t, m, p, kept, old)
}

// planRecords adds to t what the records need. It returns the entries that the change leaves
// alone and the facts of the records that it replaces or removes.
func (s *Store) planRecords(t *transaction, m *Manifest, p *plan) (kept []Entry, old []facts, err error) {
	touched, ids := map[string]bool{}, map[string]bool{}
	for _, put := range p.puts {
		touched[put.entry.File], ids[put.entry.ID] = true, true
		_, listed := slices.BinarySearchFunc(m.Snapshots, put.entry, compareEntries)
		replaced, same, err := s.replaced(t.root, put, listed)
		if err != nil {
			return nil, nil, err
		}
		if same {
			continue
		}
		t.write(put.entry.File, put.data)
		old = append(old, replaced...)
	}
	for _, e := range p.remove {
		touched[e.File] = true
		f, err := s.factsOf(t.root, e)
		// An entry whose file was deleted by hand can go.
		if _, listed := slices.BinarySearchFunc(m.Snapshots, e, compareEntries); err != nil && !(listed && errors.Is(err, fs.ErrNotExist)) {
			return nil, nil, fmt.Errorf("remove %s: %w", e.File, err)
		}
		t.remove(e.File)
		old = append(old, f)
	}
	kept = make([]Entry, 0, len(m.Snapshots))
	for _, e := range m.Snapshots {
		if touched[e.File] {
			continue
		}
		if ids[e.ID] {
			return nil, nil, fmt.Errorf("id %s is that of %s too", e.ID, e.File)
		}
		kept = append(kept, e)
	}
	return kept, old, nil
}

// replaced returns the facts of the record that is in the place of put, if any, and whether
// it is the same. Of one that is listed, but was deleted by hand, nothing is known.
func (s *Store) replaced(root *os.Root, put put, listed bool) (old []facts, same bool, err error) {
	scratch := scratches.Get().(*scratch)
	defer scratches.Put(scratch)
	switch err := scratch.read(root, put.entry.File); {
	case errors.Is(err, fs.ErrNotExist) && listed:
		return []facts{{}}, false, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case bytes.Equal(scratch.file, put.data):
		return nil, true, nil
	}
	f, _ := scratch.facts(s.readBlob)
	return []facts{f}, false, nil
}

// planBlobs adds to t the new blobs, and removes those that only old records referred to.
func (s *Store) planBlobs(t *transaction, p *plan, kept []Entry, old []facts) error {
	readBlob := func(h canon.Hash) ([]byte, error) {
		if data, ok := p.blobs[h]; ok {
			return data, nil
		}
		return s.readBlob(h)
	}
	used := map[canon.Hash]bool{}
	for h, data := range p.blobs {
		used[h] = true
		if there, err := s.readBlob(h); err == nil && bytes.Equal(there, data) {
			continue
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		t.write(blobFile(h), data)
	}
	for _, put := range p.puts {
		for _, ref := range put.direct() {
			if _, err := readBlob(ref); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w: snapshot %s refers to %s, which is neither in the change nor in the store", ErrBlob, put.entry.ID, ref)
			} else if err != nil {
				return err
			}
		}
		for _, h := range put.reachable(readBlob) {
			used[h] = true
		}
	}
	orphans := map[canon.Hash]bool{}
	for _, f := range old {
		for _, h := range f.blobs {
			if !used[h] {
				orphans[h] = true
			}
		}
	}
	for _, e := range kept {
		if len(orphans) == 0 {
			return nil
		}
		f, err := s.factsOf(t.root, e)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, h := range f.blobs {
			delete(orphans, h)
		}
	}
	for h := range orphans {
		t.remove(blobFile(h))
	}
	return nil
}

// planManifest adds to t the manifest of the entries kept and put.
func (s *Store) planManifest(t *transaction, m *Manifest, p *plan, kept []Entry, old []facts) error {
	entries := slices.Clone(kept)
	for _, put := range p.puts {
		entries = append(entries, put.entry)
	}
	if len(entries) == 0 {
		if len(m.Snapshots) > 0 {
			t.remove(manifestName)
		}
		return nil
	}
	slices.SortFunc(entries, compareEntries)
	next := &Manifest{Version: Version, Snapshots: entries}
	span := timeSpan{m.CreatedAt, m.UpdatedAt}
	if slices.ContainsFunc(old, func(f facts) bool { return span.endsAt(f.timestamp) }) {
		span = timeSpan{}
		for _, e := range kept {
			f, err := s.factsOf(t.root, e)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			span.add(f.timestamp)
		}
	}
	for _, put := range p.puts {
		span.add(put.timestamp)
	}
	next.CreatedAt, next.UpdatedAt = span.oldest, span.newest
	if slices.Equal(next.Snapshots, m.Snapshots) && next.CreatedAt.Equal(m.CreatedAt) && next.UpdatedAt.Equal(m.UpdatedAt) {
		return nil
	}
	next.Hash = next.combinedHash()
	t.write(manifestName, next.encode())
	return nil
}

// A timeSpan is the time from the oldest to the newest record.
type timeSpan struct{ oldest, newest time.Time }

// add widens the span to hold t, if that is known.
func (s *timeSpan) add(t time.Time) {
	if t.IsZero() {
		return
	}
	if s.oldest.IsZero() || t.Before(s.oldest) {
		s.oldest = t
	}
	if t.After(s.newest) {
		s.newest = t
	}
}

// endsAt reports whether the span may be shorter without t.
func (s *timeSpan) endsAt(t time.Time) bool {
	return t.IsZero() || t.Equal(s.oldest) || t.Equal(s.newest)
}
