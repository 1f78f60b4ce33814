package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An AcceptedRecord is a pending record that [Accept] took over.
type AcceptedRecord struct {
	ID string // its id while it was pending
	As string // its id in the document, which differs if another call has its number
}

// Accept takes pending records over into the documents of s, and removes them from [store.Store.Pending]: all of them
// or, after an error, none. A record replaces the document's record with the same number, whose answer is kept if the
// new one is equal. A new record follows the one before it in the pending document; if another call has its number by
// now, it gets the next one. Accept removes no record of s.
//
// Each pending document is verified, and must pass the checks; findings are returned as an [*snapshot.Error]. An id
// that is not pending is an error that is [fs.ErrNotExist]. If the process is killed, records are either still pending
// or taken over, and Accept may be called again. If that completes an earlier Accept, it returns the records that were
// taken over.
func Accept(s *store.Store, ids []string, checks ...store.Check) (all []AcceptedRecord, err error) {
	waited := &decision{main: s, pending: s.Pending()}
	unread := waited.choose(ids)
	err = decide(s, ids, func(w store.Writer, d *decision) error {
		puts, accepted, err := d.accept(checks)
		if err != nil {
			return err
		}
		all = accepted
		return s.CommitLocked(w, store.Change{Put: puts})
	})
	if errors.Is(err, fs.ErrNotExist) && unread == nil {
		if puts, taken, err := waited.accept(checks); err == nil && len(puts) == 0 {
			return taken, nil // the killed process had finished
		}
	}
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	return all, nil
}

// Reject removes pending records: all of them or, after an error, none. An id may be the name of a document, which is
// removed with all its records even if it cannot be read. An id that is not pending is an error that is
// [fs.ErrNotExist].
func Reject(s *store.Store, ids ...string) error {
	if err := decide(s, ids, func(store.Writer, *decision) error { return nil }); err != nil {
		return fmt.Errorf("reject: %w", err)
	}
	return nil
}

// decide calls use with the pending records that ids name, under the locks of both stores, and then removes these
// records.
func decide(s *store.Store, ids []string, use func(w store.Writer, d *decision) error) error {
	pending := s.Pending()
	if len(ids) == 0 {
		return nil
	}
	if _, err := os.Stat(pending.Path("")); errors.Is(err, fs.ErrNotExist) {
		return notPending(ids[0])
	} else if err != nil {
		return err
	}
	return s.Exclusively(func(w store.Writer) error {
		return pending.Exclusively(func(p store.Writer) error {
			for _, id := range ids {
				name, _, _ := snapshot.ParseID(id) // the name of a document may look like an id
				if err := errors.Join(pending.CloseLogs(id), pending.CloseLogs(name)); err != nil {
					return err
				}
			}
			d := &decision{main: s.Held(), pending: pending.Held()}
			if err := d.choose(ids); err != nil {
				return err
			}
			if err := use(w, d); err != nil {
				return err
			}
			return d.clear(p)
		})
	})
}

func notPending(id string) error { return fmt.Errorf("%q is not pending: %w", id, fs.ErrNotExist) }

// A decision accepts or rejects pending records.
type decision struct {
	main, pending *store.Store
	chosen        map[string]*selection // by document name
}

// A selection is the part of a pending document that a decision is about.
type selection struct {
	file    string
	all     bool         // all records of the document
	numbers map[int]bool // numbers of the selected records
	doc     *store.Doc
	unread  error // why doc cannot be read, which does not prevent rejecting all of it
}

func (c *selection) has(n int) bool { return c.all || c.numbers[n] }

// choose finds and reads the documents that ids name.
func (d *decision) choose(ids []string) error {
	files, err := d.pending.List()
	if err != nil {
		return err
	}
	waits := map[string]*selection{}
	for _, file := range files {
		_, name, _ := store.ParseDocumentFile(file)
		waits[name] = &selection{file: file, numbers: map[int]bool{}}
	}
	d.chosen = map[string]*selection{}
	for _, id := range ids {
		name, n, _ := snapshot.ParseID(id)
		if waits[id] != nil {
			waits[id].all, name = true, id
		} else if waits[name] == nil {
			return notPending(id)
		}
		waits[name].numbers[n], d.chosen[name] = true, waits[name]
	}
	for name, c := range d.chosen {
		if c.doc, c.unread = d.pending.Load(name, store.UnknownProvider); c.all {
			continue
		}
		if c.unread != nil {
			return c.unread
		}
		for n := range c.numbers {
			if !slices.ContainsFunc(c.doc.Document.Snapshots, func(s snapshot.Snapshot) bool { return s.Number() == n }) {
				return notPending(snapshot.ID(name, n))
			}
		}
	}
	return nil
}

// accept makes the documents that take over the selected records, except for those that would not change.
func (d *decision) accept(checks []store.Check) (puts []store.Put, all []AcceptedRecord, err error) {
	for _, name := range inorder.Names(d.chosen) {
		c := d.chosen[name]
		if c.unread != nil {
			return nil, nil, c.unread
		}
		if err := passes(c.doc, checks); err != nil {
			return nil, nil, err
		}
		to, err := d.main.Load(name, c.doc.Provider)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		put, accepted, changed, err := c.accept(newTakeover(c.doc, to, checks))
		if err != nil {
			return nil, nil, err
		}
		if all = append(all, accepted...); changed {
			puts = append(puts, put)
		}
	}
	return puts, all, nil
}

// accept returns the document that combines the selected records with those of another document, and whether it
// changes.
func (c *selection) accept(m *takeover) (put store.Put, accepted []AcceptedRecord, changed bool, err error) {
	var done []store.Outcome
	var ids []string // ids of the selected outcomes; empty for the others
	records := c.doc.Records()
	for i := range records {
		s := &records[i]
		id, o := s.ID, store.Outcome{Of: m.index(s.Number())}
		if !c.has(s.Number()) {
			if id = ""; o.Of < 0 {
				continue
			}
		} else if o, err = m.take(i, s); err != nil {
			return put, nil, false, err
		}
		done, ids, changed = append(done, o), append(ids, id), changed || o.Record != nil
	}
	next, places := store.Next(c.doc.Name, m.old, done, false)
	for n, id := range ids {
		if id != "" {
			accepted = append(accepted, AcceptedRecord{id, next[places[n]].ID})
		}
	}
	put = store.PutOf(c.doc.Name, m.withoutGone(next, done))
	put.Beside = m.beside
	return put, accepted, changed, nil
}

// passes applies the checks of Verify to a pending document.
func passes(d *store.Doc, checks []store.Check) error {
	for _, n := range store.Needs(d.Document) {
		if _, err := d.Fetch(n); err != nil {
			return err
		}
	}
	var wrong []snapshot.Violation
	for _, check := range checks {
		wrong = append(wrong, check(d)...)
	}
	if len(wrong) > 0 {
		return &snapshot.Error{File: d.Log, Violations: wrong}
	}
	return nil
}

// clear removes the selected records.
func (d *decision) clear(w store.Writer) error {
	var change store.Change
	for _, name := range inorder.Names(d.chosen) {
		c := d.chosen[name]
		if c.all ||
			!slices.ContainsFunc(c.doc.Document.Snapshots, func(s snapshot.Snapshot) bool { return !c.has(s.Number()) }) {
			change.Remove = append(change.Remove, c.file)
			continue
		}
		put, err := c.doc.Put(c.numbers)
		if err != nil {
			return err
		}
		change.Put = append(change.Put, put)
	}
	return d.pending.CommitLocked(w, change)
}
