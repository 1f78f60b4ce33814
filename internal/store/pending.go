package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Pending returns the store of the answers that were bought by tests that did not pass, and wait for a
// decision (design R11). It is in the directory .pending of s, and its documents have the names of those of s: a Commit
// there writes a document as a log, see [Log].
// A record that has the id of one of s is to replace that.
func (s *Store) Pending() *Store {
	p := *s
	p.dir, p.name = filepath.Join(s.dir, PendingName), filepath.Join(s.name, PendingName)
	return &p
}

// isPending reports whether s is the store of another one's pending answers. It has no manifest.
func (s *Store) isPending() bool { return filepath.Base(s.dir) == PendingName }

// An Accepted is a pending record that [Store.Accept] took over.
type Accepted struct {
	ID string // as it was pending
	As string // its id in the document; another one where another call had got its number
}

// A Check is one more question about a document: it returns what is wrong with it, for package audit and for [Store.Accept].
// It is called on several goroutines at once, for documents that are whole, and must not keep d.
type Check func(d *Doc) []snapshot.Violation

// Accept takes pending records over into the documents of s, and removes them from [Store.Pending]: all of
// them, or after an error none. A record whose number the document has replaces that one, of which the answer
// stays where it said the same. A new one follows the record that is in front of it in the pending document; where
// another call got its number since it was bought, it gets the next one. Accept removes no record of s.
//
// Each pending document is verified, and passes the checks: their findings are the error, an [*snapshot.Error]. An id
// that is not pending is an error that is [fs.ErrNotExist]. A process that is killed on the way leaves the records
// pending, or taken over: Accept may be called again. Where that finishes what was cut short, it returns what was
// taken over.
func (s *Store) Accept(ids []string, checks ...Check) (all []Accepted, err error) {
	waited := &decision{main: s, pending: s.Pending()}
	unread := waited.choose(ids)
	err = s.decide(ids, func(w Writer, d *decision) error {
		puts, accepted, err := d.accept(checks)
		if err != nil {
			return err
		}
		all = accepted
		return s.CommitLocked(w, Change{Put: puts})
	})
	if errors.Is(err, fs.ErrNotExist) && unread == nil {
		if puts, taken, err := waited.accept(checks); err == nil && len(puts) == 0 {
			return taken, nil // who was killed had done it all
		}
	}
	if err != nil {
		return nil, fmt.Errorf("accept: %w", err)
	}
	return all, nil
}

// Reject removes pending records: all of them, or after an error none. An id may be the name of a document, which
// goes with all its records, also where it cannot be read. An id that is not pending is an error that is
// [fs.ErrNotExist].
func (s *Store) Reject(ids ...string) error {
	if err := s.decide(ids, func(Writer, *decision) error { return nil }); err != nil {
		return fmt.Errorf("reject: %w", err)
	}
	return nil
}

// decide calls use with the pending records that ids name, under the locks of both stores, and then removes them.
func (s *Store) decide(ids []string, use func(w Writer, d *decision) error) error {
	pending := s.Pending()
	if len(ids) == 0 {
		return nil
	}
	if _, err := os.Stat(pending.dir); errors.Is(err, fs.ErrNotExist) {
		return notPending(ids[0])
	} else if err != nil {
		return err
	}
	return s.Exclusively(func(w Writer) error {
		return pending.Exclusively(func(p Writer) error {
			for _, id := range ids {
				name, _, _ := snapshot.ParseID(id) // which the name of a document may look like too
				if err := errors.Join(logDir{pending}.closeLogs(id), logDir{pending}.closeLogs(name)); err != nil {
					return err
				}
			}
			d := &decision{main: s.locking(), pending: pending.locking()}
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

// locking returns s for a caller that holds its lock.
func (s *Store) locking() *Store {
	held := *s
	held.held = true
	return &held
}

// A decision is about pending records.
type decision struct {
	main, pending *Store
	chosen        map[string]*choice // by the name of the document
}

// A choice is what a decision is about in one pending document.
type choice struct {
	file    string
	all     bool         // the whole document is chosen
	numbers map[int]bool // of the records that are chosen
	doc     *Doc
	unread  error // why doc cannot be read, which does not matter to who rejects all of it
}

func (c *choice) has(n int) bool { return c.all || c.numbers[n] }

// choose finds and reads what ids name.
func (d *decision) choose(ids []string) error {
	files, err := d.pending.List()
	if err != nil {
		return err
	}
	waits := map[string]*choice{}
	for _, file := range files {
		_, name, _ := ParseDocumentFile(file)
		waits[name] = &choice{file: file, numbers: map[int]bool{}}
	}
	d.chosen = map[string]*choice{}
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
		if c.doc, c.unread = d.pending.Load(name, unknownProvider); c.all {
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

// accept makes the documents that the chosen records are taken over into, but those that would not change.
func (d *decision) accept(checks []Check) (puts []Put, all []Accepted, err error) {
	for _, name := range inorder.Names(d.chosen) {
		c := d.chosen[name]
		if c.unread != nil {
			return nil, nil, c.unread
		}
		if err := c.doc.verify(checks); err != nil {
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

// accept returns the document that the chosen records make with those of another, and whether it changes.
func (c *choice) accept(m *takeover) (put Put, accepted []Accepted, changed bool, err error) {
	var done []Outcome
	var ids []string // of the outcomes that were chosen; empty means it was not
	records := c.doc.Records()
	for i := range records {
		s := &records[i]
		id, o := s.ID, Outcome{Of: m.index(s.Number())}
		if !c.has(s.Number()) {
			if id = ""; o.Of < 0 {
				continue
			}
		} else if o, err = m.take(i, s); err != nil {
			return put, nil, false, err
		}
		done, ids, changed = append(done, o), append(ids, id), changed || o.Record != nil
	}
	next, places := Next(c.doc.Name, m.old, done, false)
	for n, id := range ids {
		if id != "" {
			accepted = append(accepted, Accepted{id, next[places[n]].ID})
		}
	}
	put = PutOf(c.doc.Name, next)
	put.Beside = m.beside
	return put, accepted, changed, nil
}

// verify holds a pending document to what Verify holds all documents to.
func (d *Doc) verify(checks []Check) error {
	for _, n := range Needs(d.Document) {
		if _, err := d.Fetch(n); err != nil {
			return err
		}
	}
	var wrong []snapshot.Violation
	for _, check := range checks {
		wrong = append(wrong, check(d)...)
	}
	if len(wrong) > 0 {
		return &snapshot.Error{File: d.store.In(d.log), Violations: wrong}
	}
	return nil
}

// clear removes the chosen records.
func (d *decision) clear(w Writer) error {
	var change Change
	for _, name := range inorder.Names(d.chosen) {
		c := d.chosen[name]
		if c.all || !slices.ContainsFunc(c.doc.Document.Snapshots, func(s snapshot.Snapshot) bool { return !c.has(s.Number()) }) {
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

// Put returns the put of a document with what is beside it, without the records of some numbers.
func (d *Doc) Put(without map[int]bool) (put Put, err error) {
	var left []snapshot.Snapshot
	beside := map[canon.Hash][]byte{}
	for i, s := range d.Records() {
		if without[s.Number()] {
			continue
		}
		if err := d.fetchAll(i, beside); err != nil {
			return put, err
		}
		left = append(left, s)
	}
	put = PutOf(d.Name, left)
	put.Provider, put.Beside = cmp.Or(put.Provider, d.Provider), beside
	return put, nil
}

// fetchAll reads what the i-th record names.
func (d *Doc) fetchAll(i int, beside map[canon.Hash][]byte) error {
	for _, need := range needsOf(d.Document, i, d.Document.Snapshots[i].Media()) {
		data, err := d.Fetch(need)
		if err != nil {
			return err
		}
		beside[need.Hash] = data
	}
	return nil
}

// with returns the put of the records of both, of one test.
func (p Put) with(other Put) Put {
	put := PutOf(p.Name, slices.Concat(recordsIn(p.Provider, p.Document), recordsIn(other.Provider, other.Document)))
	put.Provider, put.Beside = cmp.Or(put.Provider, p.Provider), maps.Clone(p.Beside)
	maps.Copy(put.Beside, other.Beside)
	return put
}

// Records returns the records of a document, each with its provider.
func (d *Doc) Records() []snapshot.Snapshot { return recordsIn(d.Provider, d.Document) }

func recordsIn(provider string, d *snapshot.Document) []snapshot.Snapshot {
	records := slices.Clone(d.Snapshots)
	for i := range records {
		records[i].Provider = cmp.Or(records[i].Provider, provider)
	}
	return records
}

// PutOf returns the put of a document of the given records. It is in the directory of the provider that the first
// record names.
func PutOf(name string, records []snapshot.Snapshot) Put {
	provider := ""
	if len(records) > 0 {
		provider = records[0].Provider
	}
	for i := range records {
		if records[i].Provider == provider {
			records[i].Provider = ""
		}
	}
	return Put{Provider: provider, Name: name, Document: &snapshot.Document{Version: snapshot.Version, Snapshots: records}}
}

// recordOf returns the index of the record that a pointer leads into, or -1.
func recordOf(pointer string) int {
	n := -1
	_, _ = fmt.Sscanf(strings.TrimPrefix(pointer, "/snapshots/"), "%d", &n) // else -1 stays
	return n
}
