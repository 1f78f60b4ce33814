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
func (s *Store) Accept(ids []string, checks ...Check) ([]Accepted, error) {
	var all []Accepted
	waited := s.Pending().recordsOf(ids)
	err := s.decide("accept", ids, func(w Writer, d *decision) error {
		var puts []*target
		for _, name := range d.names() {
			put, accepted, err := d.accept(name, checks)
			if err != nil {
				return err
			}
			t, err := s.target(put)
			if err != nil {
				return err
			}
			puts, all = append(puts, t), append(all, accepted...)
		}
		return s.commit(w, puts, nil)
	})
	if errors.Is(err, fs.ErrNotExist) && len(s.Pending().recordsOf(ids)) == 0 {
		if taken := s.taken(waited); taken != nil {
			return taken, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// recordsOf returns the records that ids name, or documents that they name, as far as they can be read.
func (s *Store) recordsOf(ids []string) (all []snapshot.Snapshot) {
	for _, id := range ids {
		name, _, isRecord := snapshot.ParseID(id)
		doc, err := s.Load(id, unknownProvider)
		if err != nil && isRecord {
			doc, err = s.Load(name, unknownProvider)
		}
		if err != nil {
			continue
		}
		for _, r := range doc.Document.Snapshots {
			if doc.Name == id || r.ID == id {
				all = append(all, r)
			}
		}
	}
	return all
}

// taken returns as what each of some pending records is in s; nil means one of them is not, or there are none.
func (s *Store) taken(waited []snapshot.Snapshot) (all []Accepted) {
	for i := range waited {
		name, _, _ := snapshot.ParseID(waited[i].ID)
		doc, err := s.Load(name, unknownProvider)
		if err != nil {
			return nil
		}
		at := slices.IndexFunc(doc.Document.Snapshots, func(r snapshot.Snapshot) bool {
			return r.Response.RawOutputRef == waited[i].Response.RawOutputRef && r.Timestamp.Equal(waited[i].Timestamp)
		})
		if at < 0 { // an answer that said the same stayed
			at = slices.IndexFunc(doc.Document.Snapshots, func(r snapshot.Snapshot) bool { return r.ID == waited[i].ID })
		}
		if at < 0 {
			return nil
		}
		all = append(all, Accepted{waited[i].ID, doc.Document.Snapshots[at].ID})
	}
	return all
}

// Reject removes pending records: all of them, or after an error none. An id may be the name of a document, which
// goes with all its records, also where it cannot be read. An id that is not pending is an error that is
// [fs.ErrNotExist].
func (s *Store) Reject(ids ...string) error {
	return s.decide("reject", ids, func(Writer, *decision) error { return nil })
}

// decide calls use with the pending records that ids name, under the locks of both stores, and then
// removes them.
func (s *Store) decide(verb string, ids []string, use func(w Writer, d *decision) error) error {
	err := s.decided(ids, use)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

func (s *Store) decided(ids []string, use func(w Writer, d *decision) error) error {
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
			if err := d.clear(p); err != nil {
				return err
			}
			return nil
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
	chosen        map[string]map[int]bool // numbers by document; none means all of it
	files         map[string]string       // of pending documents, by name
}

func (d *decision) names() []string { return inorder.Names(d.chosen) }

// choose finds what ids name.
func (d *decision) choose(ids []string) error {
	files, err := d.pending.List()
	if err != nil {
		return err
	}
	d.chosen, d.files = map[string]map[int]bool{}, map[string]string{}
	for _, file := range files {
		_, name, _ := ParseDocumentFile(file)
		d.files[name] = file
	}
	for _, id := range ids {
		if d.files[id] != "" {
			d.chosen[id] = map[int]bool{}
		}
	}
	for _, id := range ids {
		name, n, ok := snapshot.ParseID(id)
		numbers, named := d.chosen[name]
		switch {
		case d.files[id] != "":
		case !ok || d.files[name] == "":
			return notPending(id)
		case named && len(numbers) == 0: // all of it
		case !named:
			d.chosen[name] = map[int]bool{n: true}
		default:
			numbers[n] = true
		}
	}
	return nil
}

// accept makes the document that pending records are taken over into.
func (d *decision) accept(name string, checks []Check) (put Put, accepted []Accepted, err error) {
	from, err := d.load(name)
	if err != nil {
		return put, nil, err
	}
	if err := d.verify(from, checks); err != nil {
		return put, nil, err
	}
	to, err := d.main.Load(name, from.Provider)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return put, nil, err
	}
	m := newTakeover(from, to, checks)
	var done []Outcome
	var ids []string // of the outcomes that were chosen; empty means it was not
	records := from.Records()
	for i := range records {
		s := &records[i]
		id := s.ID
		if numbers := d.chosen[name]; len(numbers) > 0 && !numbers[s.Number()] {
			if at := m.index(s.Number()); at >= 0 {
				done, ids = append(done, Outcome{Of: at}), append(ids, "")
			}
			continue
		}
		o, err := m.take(i, s)
		if err != nil {
			return put, nil, err
		}
		done, ids = append(done, o), append(ids, id)
	}
	next, places := Next(name, m.old, done, false)
	for n, id := range ids {
		if id != "" {
			accepted = append(accepted, Accepted{id, next[places[n]].ID})
		}
	}
	put = PutOf(name, next)
	put.Raw, put.Media = m.raw, m.media
	return put, accepted, nil
}

// load reads a pending document, which must have the chosen numbers.
func (d *decision) load(name string) (*Doc, error) {
	provider, _, _ := ParseDocumentFile(d.files[name])
	doc, err := d.pending.Load(name, provider)
	if err != nil {
		return nil, err
	}
	there := map[int]bool{}
	for i := range doc.Document.Snapshots {
		there[doc.Document.Snapshots[i].Number()] = true
	}
	for n := range d.chosen[name] {
		if !there[n] {
			return nil, notPending(snapshot.ID(name, n))
		}
	}
	return doc, nil
}

// verify holds a pending document to what Verify holds all documents to.
func (d *decision) verify(doc *Doc, checks []Check) error {
	for _, n := range Needs(doc.Document) {
		if _, err := doc.fetch(n); err != nil {
			return err
		}
	}
	var wrong []snapshot.Violation
	for _, check := range checks {
		wrong = append(wrong, check(doc)...)
	}
	if len(wrong) > 0 {
		logs, err := logDir{d.pending}.logsOf(doc.Name)
		return errors.Join(err, &snapshot.Error{File: d.pending.In(logs[0]), Violations: wrong})
	}
	return nil
}

// clear removes the chosen records.
func (d *decision) clear(w Writer) error {
	var puts []*target
	var remove []string
	for _, name := range d.names() {
		numbers := d.chosen[name]
		if len(numbers) == 0 {
			remove = append(remove, d.files[name])
			continue
		}
		doc, err := d.load(name)
		if err != nil {
			return err
		}
		t, err := doc.target(numbers)
		if err != nil {
			return err
		}
		puts = append(puts, t)
	}
	return d.pending.commit(w, puts, remove)
}

// Put returns the put of a document with what is beside it, without the records of some numbers.
func (d *Doc) Put(without map[int]bool) (put Put, err error) {
	var left []snapshot.Snapshot
	raw, media := map[int][]byte{}, map[canon.Hash][]byte{}
	for i, s := range d.Records() {
		if without[s.Number()] {
			continue
		}
		if raw[s.Number()], err = d.Raw(i); err != nil {
			return put, err
		}
		found, err := d.mediaOf(i)
		if err != nil {
			return put, err
		}
		maps.Copy(media, found)
		left = append(left, s)
	}
	put = PutOf(d.Name, left)
	put.Provider, put.Raw, put.Media = cmp.Or(put.Provider, d.Provider), raw, media
	return put, nil
}

// target is the target of Put, in the store of d.
func (d *Doc) target(without map[int]bool) (*target, error) {
	put, err := d.Put(without)
	if err != nil {
		return nil, err
	}
	return d.store.target(put)
}

// with returns the put of the records of both, of one test.
func (p Put) with(other Put) Put {
	put := PutOf(p.Name, slices.Concat(recordsIn(p.Provider, p.Document), recordsIn(other.Provider, other.Document)))
	put.Provider, put.Raw, put.Media = cmp.Or(put.Provider, p.Provider), maps.Clone(p.Raw), maps.Clone(p.Media)
	maps.Copy(put.Raw, other.Raw)
	maps.Copy(put.Media, other.Media)
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
	if _, err := fmt.Sscanf(strings.TrimPrefix(pointer, "/snapshots/"), "%d", &n); err != nil {
		return -1
	}
	return n
}
