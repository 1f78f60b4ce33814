package snapshot

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/traceforge/traceforge-go/canon"
)

// A Change is what one commit does to a store.
type Change struct {
	Put    []Record // new records, and new content of records
	Remove []Entry  // records to remove
	Blobs  [][]byte // blobs to add; those that are there already are left alone
}

// A Record is a snapshot and the provider in whose directory it is kept.
type Record struct {
	Provider string
	Snapshot *Snapshot
}

// Commit makes all of a change, or after an error none of it, under the store's lock: it waits
// for other processes. It seals the records (the snapshots passed are not touched), checks
// them as [Parse] does, and refuses one that refers to a blob that is neither in the change
// nor in the store. A file whose content would not change is not written. Blobs that only
// replaced or removed records referred to are removed.
//
// A process that is killed in a commit leaves it to the next one, or to
// [Store.RebuildManifest], to finish it or to undo it.
func (s *Store) Commit(c Change) error {
	if len(c.Put) == 0 && len(c.Remove) == 0 && len(c.Blobs) == 0 {
		return nil
	}
	p, err := newPlan(c)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := s.exclusively(func(root *os.Root) error { return s.commit(root, p) }); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Put adds or replaces one record, in a commit of its own.
func (s *Store) Put(provider string, snap *Snapshot) error {
	return s.Commit(Change{Put: []Record{{provider, snap}}})
}

// Remove removes the record with the given id, in a commit of its own. If there is none, the
// error is [fs.ErrNotExist].
func (s *Store) Remove(id string) error {
	e, err := s.entry(id)
	if err != nil {
		return err
	}
	return s.Commit(Change{Remove: []Entry{e}})
}

// A plan is a change ready to be made.
type plan struct {
	puts   []put
	remove []Entry
	blobs  map[canon.Hash][]byte
}

type put struct {
	entry     Entry
	data      []byte
	timestamp time.Time
	refs
}

func newPlan(c Change) (*plan, error) {
	p := &plan{remove: c.Remove, blobs: map[canon.Hash][]byte{}}
	for _, data := range c.Blobs {
		p.blobs[canon.Sum(data)] = data
	}
	touched, ids := map[string]bool{}, map[string]bool{}
	for _, r := range c.Put {
		one, err := newPut(r)
		if err != nil {
			return nil, err
		}
		if ids[one.entry.ID] {
			return nil, fmt.Errorf("snapshot %s is put twice", one.entry.ID)
		}
		touched[one.entry.File], ids[one.entry.ID] = true, true
		p.puts = append(p.puts, one)
	}
	for _, e := range c.Remove {
		if wrong := e.check(); wrong != "" {
			return nil, fmt.Errorf("remove: %s", wrong)
		}
		if touched[e.File] {
			return nil, fmt.Errorf("snapshot %s of %s is removed and put or removed twice", e.ID, e.Provider)
		}
		touched[e.File] = true
	}
	return p, nil
}

func newPut(r Record) (put, error) {
	if must := checkProvider(r.Provider); must != "" {
		return put{}, fmt.Errorf("provider %q must be %s", r.Provider, must)
	}
	if r.Snapshot == nil {
		return put{}, errors.New("a record without a snapshot")
	}
	doc := Document{Version: Version, Snapshots: []Snapshot{*r.Snapshot}}
	if err := doc.Seal(); err != nil {
		return put{}, err
	}
	data, err := doc.Encode()
	if err != nil {
		return put{}, fmt.Errorf("snapshot %s: %w", r.Snapshot.ID, err)
	}
	snap := &doc.Snapshots[0]
	if must := mustBeNamed(snap.ID, snap.Source); must != "" {
		return put{}, fmt.Errorf("id %q must be %s", snap.ID, must)
	}
	return put{
		entry:     Entry{snap.ID, r.Provider, entryFileOf(r.Provider, snap.ID), snap.Hash},
		data:      data,
		timestamp: snap.Timestamp.UTC().Truncate(time.Millisecond),
		refs:      refsOf(snap),
	}, nil
}

// mustBeNamed says what the id of a record in a store must be, or nothing if it is that.
func mustBeNamed(id string, from Source) string {
	if must := checkID(id); must != "" {
		return must
	}
	if from.Test == "" {
		return ""
	}
	if want := ID(from.Package, from.Test, from.Ordinal); id != want {
		return want + ", as its source says"
	}
	return ""
}

// commit makes the change, under the lock.
func (s *Store) commit(root *os.Root, p *plan) error {
	m, err := s.manifest()
	if err != nil {
		return err
	}
	t := &transaction{root: root}
	if err := s.plan(t, m, p); err != nil {
		return err
	}
	return t.apply()
}
