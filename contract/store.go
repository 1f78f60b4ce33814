package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
)

// Blobs is content that can be read by its hash: a [CAS] such as a [*Store], or a [*Recorded].
type Blobs interface {
	Blob(ref canon.Hash) ([]byte, error)
}

// A CAS keeps content by its hash, for an [Adapter] to read and write. A [*Store] is one; a program may implement its
// own.
type CAS interface {
	Blobs
	PutBlob(blob []byte) (canon.Hash, error)
}

// A Store is a snapshot store (.ai-snapshots) as a CAS. It reads the recorded calls: their messages, tools, options,
// params, receipts, envelopes and raw answers. A blob that is put into it stays in memory as long as the Store and is
// not written anywhere: a recorder keeps the calls, from which every blob is derived, so that nothing is stored twice.
// A program that keeps blobs without a recorder needs its own [CAS]. A Store is safe for concurrent use.
type Store struct {
	store *store.Store
	mu    sync.Mutex
	given map[canon.Hash][]byte
	calls map[canon.Hash]place // nil until a blob is looked up in the documents
}

// A place is the recorded call from which a blob is derived.
type place struct {
	provider, name string
	call           int
}

// OpenStore opens the snapshot store in dir, which need not exist yet.
func OpenStore(dir string) (*Store, error) {
	s, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	return &Store{store: s, given: map[canon.Hash][]byte{}}, nil
}

// Blob returns a blob. It returns [ErrBlob] if the blob is missing, which is also [fs.ErrNotExist], or altered. The
// error also lists documents that cannot be read.
//
// A blob that was not put into s is looked up in all documents, which are read again if no known document contains it.
func (s *Store) Blob(ref canon.Hash) ([]byte, error) {
	if !ref.Valid() {
		return nil, fmt.Errorf("%w: %q is no hash", ErrBlob, string(ref))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if data, ok := s.given[ref]; ok {
		return bytes.Clone(data), nil
	}
	if at, ok := s.calls[ref]; ok {
		if data, err := s.derive(at, ref); err == nil {
			return data, nil
		}
	}
	err := s.noteBlobs()
	if at, ok := s.calls[ref]; ok {
		return s.derive(at, ref)
	}
	return nil, errors.Join(fmt.Errorf("%w: %s: %w", ErrBlob, ref, fs.ErrNotExist), err)
}

// Journal returns the journal of a test (LC "Determinism rule"): the params and the receipt of each call in its
// document, in order. provider is the directory in which the document is looked up first, and name its name, as
// returned by [snapshot.DocumentName]. Calls that are not generations are left out. A document that does not exist is
// [fs.ErrNotExist]; one that cannot be read is a [*snapshot.Error].
func (s *Store) Journal(provider, name string) (journal []*Recorded, err error) {
	doc, err := s.store.Load(name, provider)
	if err != nil {
		return nil, err
	}
	for i := range doc.Document.Snapshots {
		recorded, err := fromDocument(doc, i)
		switch {
		case errors.Is(err, ErrUnsupported):
		case err != nil:
			return nil, err
		default:
			journal = append(journal, recorded)
		}
	}
	return journal, nil
}

// fromDocument is [FromSnapshot] for the call at an index in a document, with its files from the store.
func fromDocument(doc *store.Doc, call int) (*Recorded, error) {
	raw, err := doc.Raw(call)
	if err != nil {
		return nil, err
	}
	return FromSnapshot(
		Record{Provider: doc.Provider, Snapshot: &doc.Document.Snapshots[call], Raw: raw, Media: doc.Media})
}

// derive returns a blob of the recorded call at a place.
func (s *Store) derive(at place, ref canon.Hash) ([]byte, error) {
	doc, err := s.store.Load(at.name, at.provider)
	if err != nil {
		return nil, err
	}
	recorded, err := fromDocument(doc, at.call)
	if err != nil {
		return nil, err
	}
	return recorded.Blob(ref)
}

// noteBlobs reads all documents, and notes the call from which each blob is derived. broken describes documents that
// could not be read.
func (s *Store) noteBlobs() (broken error) {
	files, err := s.store.List()
	if err != nil {
		return err
	}
	s.calls = map[canon.Hash]place{}
	for _, file := range files {
		provider, name := path.Split(strings.TrimSuffix(file, ".json"))
		at := place{path.Clean(provider), name, 0}
		doc, err := s.store.Load(at.name, at.provider)
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		for at.call = range doc.Document.Snapshots {
			recorded, err := fromDocument(doc, at.call)
			if err != nil && !errors.Is(err, ErrUnsupported) {
				broken = errors.Join(broken, err)
			} else if err == nil {
				for _, ref := range recorded.Refs() {
					s.calls[ref] = at
				}
			}
		}
	}
	return broken
}

// PutBlob keeps a blob in memory and returns its ref.
func (s *Store) PutBlob(blob []byte) (canon.Hash, error) {
	ref := canon.Sum(blob)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[ref] = bytes.Clone(blob)
	return ref, nil
}

// readBlob reads a blob and checks it against its hash.
func readBlob(blobs Blobs, ref canon.Hash) ([]byte, error) {
	data, err := blobs.Blob(ref)
	if err != nil {
		return nil, err
	}
	return data, checkBlob(ref, data)
}

func checkBlob(ref canon.Hash, data []byte) error {
	if got := canon.Sum(data); got != ref {
		return fmt.Errorf("%w: %s has the hash %s", ErrBlob, ref, got)
	}
	return nil
}

// PutJSON stores the canonical form of v, a value or a [json.RawMessage], and returns its ref. Numbers that do not fit
// a float64 are kept as in package canon (design R1).
func PutJSON(store CAS, v any) (canon.Hash, error) {
	blob, err := jsonBlob(v)
	if err != nil {
		return "", err
	}
	return store.PutBlob(blob)
}

func jsonBlob(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err == nil {
		text, err = canon.KeepNumbers(text)
	}
	if err != nil {
		return nil, fmt.Errorf("blob of %T: %w", v, err)
	}
	return text, nil
}

// ReadJSON reads a JSON blob into v, as [json.Unmarshal] does. A blob that is missing or altered is [ErrBlob]; a blob
// that is not in the canonical form of [PutJSON] is an error too.
func ReadJSON(blobs Blobs, ref canon.Hash, v any) error {
	data, err := readBlob(blobs, ref)
	if err != nil {
		return err
	}
	if !canon.Canonical(data) {
		return fmt.Errorf("blob %s is not canonical JSON: write it with PutJSON", ref)
	}
	text, err := canon.RestoreNumbers(data)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("blob %s: %w", ref, err)
	}
	return nil
}
