package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/traceforge/traceforge-go/canon"
)

// A Sealed is a record whose seal was checked, and of which only that is decoded which
// replay needs.
type Sealed struct {
	Entry Entry

	// As in the record's [Request] and [Response].
	PromptHash   canon.Hash
	WireHash     canon.Hash
	Status       int
	Headers      map[string][]string
	RawOutputRef canon.Hash
	Incomplete   string

	store *Store
	file  []byte
}

// Load reads a record's file, once, and checks its id, its seal, the hash of its document, and
// that the seal is the one in the entry. What the record says is otherwise checked only where it
// is decoded; [Sealed.Snapshot] checks all of it. An error is an [*Error]; of a record that is
// gone it is [fs.ErrNotExist] too.
//
// A record that was replaced since the entry was read is loaded as it is now, and so is its
// [Sealed.Entry]. Where that is being done just now, Load waits for the commit.
func (s *Store) Load(e Entry) (*Sealed, error) {
	if wrong := e.check(); wrong != "" {
		return nil, newError(s.in(manifestName), "", ruleManifest, "%s", wrong)
	}
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	sealed, err := s.load(root, e)
	if err != nil {
		return s.reload(root, e, err)
	}
	return sealed, nil
}

// reload loads a record again while no commit is under way, as the one that made an earlier try
// fail may have been: what disagrees then is broken.
func (s *Store) reload(root *os.Root, e Entry, err error) (*Sealed, error) {
	unlock, failed := s.readLock(root)
	if failed != nil || unlock == nil {
		return nil, err
	}
	defer unlock()
	now, failed := s.entry(e.ID)
	switch {
	case errors.Is(failed, fs.ErrNotExist):
		gone := newError(s.in(e.File), "", ruleManifest, "is not in the manifest any more")
		gone.Err = fs.ErrNotExist
		return nil, gone
	case failed != nil:
		return nil, failed
	}
	sealed, failed := s.load(root, now)
	if _, none := root.Lstat(journalName); failed != nil && none == nil {
		failed = fmt.Errorf("%w\na commit was cut short: the next one, or traceforge manifest, finishes it or undoes it", failed)
	}
	return sealed, failed
}

// load is Load without a second try.
func (s *Store) load(root *os.Root, e Entry) (*Sealed, error) {
	scratch := scratches.Get().(*scratch)
	defer scratches.Put(scratch)
	sealed := &Sealed{Entry: e, store: s}
	for _, read := range []func(*os.Root, string) error{scratch.glance, scratch.read} {
		if err := read(root, e.File); err != nil {
			return nil, s.missing(e, err)
		}
		if scratch.load(sealed) {
			sealed.file = bytes.Clone(scratch.file)
			return sealed, nil
		}
	}
	sealed.file = bytes.Clone(scratch.file)
	return nil, sealed.whyNot()
}

// missing says that the file of an entry cannot be read.
func (s *Store) missing(e Entry, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("load snapshot: %w", err)
	}
	missing := newError(s.in(e.File), "", ruleManifest, "is in the manifest, but missing")
	missing.Err = fs.ErrNotExist
	return missing
}

// load decodes the file, and reports whether it is what the entry says.
func (s *scratch) load(sealed *Sealed) bool {
	s.scan(s.file)
	r, ok := s.sealed()
	if !ok || string(r.seal) != string(sealed.Entry.Hash) {
		return false
	}
	id := s.text[r.members[0].start:r.members[0].end]
	if len(id) < 2 || string(id[1:len(id)-1]) != sealed.Entry.ID { // an entry's id needs no escapes
		return false
	}
	request, response := r.members[requestText], r.members[responseText]
	return decodeMember(s, request, "prompt_hash", hash, &sealed.PromptHash) &&
		decodeMember(s, request, "wire_hash", hash, &sealed.WireHash) &&
		decodeMember(s, response, "status", integer[int](0), &sealed.Status) &&
		decodeMember(s, response, "headers", headers, &sealed.Headers) &&
		decodeMember(s, response, "raw_output_ref", hash, &sealed.RawOutputRef) &&
		decodeMember(s, response, "incomplete", text, &sealed.Incomplete)
}

var headers = mapOf(list(text))

// decodeMember decodes a member of an object in the record, if it has one.
func decodeMember[V any](s *scratch, object span, name string, codec codec[V], v *V) bool {
	value := s.member(object, name)
	if value == nil {
		return true
	}
	return canon.Canonical(value) && codec.decode(newCursor(value), v)
}

// path returns the path of the file for messages.
func (s *Sealed) path() string { return s.store.in(s.Entry.File) }

// whyNot says why the file is not what the entry says.
func (s *Sealed) whyNot() error {
	doc, err := s.parse()
	if err != nil {
		return err
	}
	if seal := doc.Snapshots[0].Hash; seal != s.Entry.Hash {
		return newError(s.path(), "/snapshots/0/hash", ruleManifest, "is %s, but the manifest has %s", seal, s.Entry.Hash)
	}
	return newError(s.path(), "", ruleCanonical, "is not written as traceforge writes files")
}

// parse parses the file, which must have one record, with the id of the entry.
func (s *Sealed) parse() (*Document, error) {
	doc, err := Parse(s.file)
	var e *Error
	if errors.As(err, &e) {
		e.File = s.path()
		return nil, e
	}
	if n := len(doc.Snapshots); n != 1 {
		return nil, newError(s.path(), "/snapshots", ruleName, "must have one record, has %d", n)
	}
	if id := doc.Snapshots[0].ID; id != s.Entry.ID {
		return nil, newError(s.path(), "/snapshots/0/id", ruleName, "must be %s as the file's name says, is %q", s.Entry.ID, id)
	}
	return doc, nil
}

// Canonical reports whether the file is, to the byte, what traceforge writes. One that is not, such as
// one with other line ends, replays all the same.
func (s *Sealed) Canonical() bool {
	scratch := scratches.Get().(*scratch)
	defer scratches.Put(scratch)
	scratch.file = append(scratch.file[:0], s.file...)
	_, found := scratch.examine()
	return len(found) == 0
}

// Snapshot returns the whole record, checked as by [Parse].
func (s *Sealed) Snapshot() (*Snapshot, error) {
	doc, err := s.parse()
	if err != nil {
		return nil, err
	}
	return &doc.Snapshots[0], nil
}
