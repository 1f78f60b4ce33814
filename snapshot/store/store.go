package store

import (
	"errors"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Store is a directory of documents, and of the raw answers and media that they name.
//
// A Store is safe for concurrent use, by this process and by others. It holds nothing open, so
// there is nothing to close: reading opens the files that it reads and nothing else, without a lock,
// and [Store.Commit] excludes all other writers and [Store.Verify].
type Store struct {
	dir  string // absolute, so that no change of the working directory matters
	name string // as given to Open, for messages
}

// Open returns the store in dir, which need not exist: the first commit makes it. It reads and
// writes nothing. The error is that TRACEFORGE_MAX_BYTES, the limit of what is read, is no number.
func Open(dir string) (*Store, error) { panic("stub") }

// Dir returns the directory as it was given to Open.
func (s *Store) Dir() string { return s.name }

// MaxBytes returns how long a file of the store may be: 64 MB unless TRACEFORGE_MAX_BYTES says
// otherwise (design R16).
func (s *Store) MaxBytes() int64 { panic("stub") }

// A Doc is a document of a store, as it was read.
type Doc struct {
	Provider string // the directory that it is in
	Name     string
	Document *snapshot.Document
	Data     []byte // the file

	store *Store
}

// File returns the path of the document in its store, with forward slashes.
func (d *Doc) File() string { return d.Provider + "/" + d.Name + ".json" }

// Load reads the document with the given name, which is under the given provider, and only if it is
// not, under another one, for which the directories are looked through. It checks the document as
// [snapshot.Parse] does, and that its records' ids are its name's. The error is an
// [*snapshot.Error], or [fs.ErrNotExist] if there is no such document.
func (s *Store) Load(name, provider string) (*Doc, error) { panic("stub") }

// Raw returns the provider's own bytes of the answer of Document.Snapshots[i], checked against its
// RawOutputRef; nil if it has none. If they disagree, Raw waits for the commit that may be under
// way and looks once more. The error is an [*snapshot.Error]; it is [ErrReplaced] too if the call was
// recorded again since d was loaded.
func (d *Doc) Raw(i int) ([]byte, error) { panic("stub") }

// Media returns the media with the given hash that the document's messages name, checked.
func (d *Doc) Media(h canon.Hash) ([]byte, error) { panic("stub") }

// A Change is what one commit does to a store.
type Change struct {
	Put    []Put    // new documents, and new content of documents
	Remove []string // documents' files, as [Doc.File] and [Store.List] name them: they go with their raw answers and media
}

// A Put is a document with what belongs to it. A document of that name under another provider goes.
type Put struct {
	Provider string // that of the first call
	Name     string
	Document *snapshot.Document    // Commit seals it
	Raw      map[int][]byte        // raw answers by the n of their call; those that the store has need not be given
	Media    map[canon.Hash][]byte // likewise
}

// Commit makes all of a change, or after an error none of it, under the store's lock: it waits for
// other processes. It seals the documents, and refuses one that names a raw answer or media that
// are neither in the change nor in the store. A file whose content would not change is not
// written. Raw answers and media that a document put does not name are removed.
//
// A process that is killed in a commit leaves it to the next one, or to [Store.Repair], to finish
// or to undo it. So an empty change is worth committing where a process updates: it does no more
// than that, and costs next to nothing where there is nothing to do.
func (s *Store) Commit(c Change) error { panic("stub") }

// List returns the files of all documents, sorted. Of a store that is not there it is empty.
func (s *Store) List() ([]string, error) { panic("stub") }

// A Result is what [Store.Verify] found.
type Result struct {
	Findings  []snapshot.Finding // what is wrong, sorted
	Notes     []snapshot.Finding // what is worth saying and no failure, sorted
	Documents int
	Calls     int
}

// A Check is one more question about a document: it returns what is wrong with it, for [Store.Verify].
// It is called on several goroutines at once, for documents that are whole, and must not keep d.
type Check func(d *Doc) []snapshot.Violation

// Verify looks at every file of the store and returns everything that is wrong. It changes nothing,
// and a writer waits for it. It works on all cores, and holds little of each document.
// The error is [fs.ErrNotExist] if there is no store.
func (s *Store) Verify(checks ...Check) (*Result, error) { panic("stub") }

// Prune removes the raw answers and media that no document names, and returns their files, sorted.
func (s *Store) Prune() ([]string, error) { panic("stub") }

// WriteManifest derives the manifest from the documents. All of them must be intact: an error joins
// an [*snapshot.Error] for each that is not, and leaves the manifest as it was.
func (s *Store) WriteManifest() error { panic("stub") }

// Repair finishes or undoes a commit that was cut short, and merges documents that a merge of git
// left in conflict, record by record. theirs names records, or documents, by id and name: where both
// sides changed one differently, theirs is taken for these, and ours for all others.
// It runs git, but stages nothing: until git add, a second Repair may choose otherwise.
func (s *Store) Repair(theirs ...string) (*Report, error) { panic("stub") }

// A Report is what [Store.Repair] did, and what is left to do.
type Report struct{}

// String returns the report as a command prints it.
func (r *Report) String() string { panic("stub") }

// ErrReplaced says that a call was recorded again by another process since it was loaded.
var ErrReplaced = errors.New("recorded again meanwhile")
