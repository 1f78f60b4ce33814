package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Store is a directory of records, the blobs that they refer to, and their manifest (SF
// "Storage Format", design R4). All file access is within the directory: no path in a
// manifest and no symbolic link leads out of it.
//
// A Store is safe for concurrent use, by this process and by others: [Store.Commit] excludes all
// other writers and [Store.Verify]. The other methods read without a lock; where a record and the
// manifest disagree, they wait for the commit that may be under way and look again. A blob of a
// record that was replaced or removed since it was loaded may be gone.
type Store struct {
	dir  string // absolute, so that no change of the working directory matters
	name string // as given to Open, for messages

	mu     sync.Mutex
	root   *os.Root // nil until the directory exists
	closed bool
}

// Open returns the store in dir, which need not exist: the first commit makes it. Nothing is
// written before.
func Open(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dir: abs, name: dir}
	if _, err := s.open(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return s, nil
}

// Close frees what s holds open. All methods fail afterwards with [fs.ErrClosed].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.root == nil {
		return nil
	}
	defer func() { s.root = nil }()
	return s.root.Close()
}

// open returns the store's directory; the error is fs.ErrNotExist if there is none yet.
func (s *Store) open() (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, &fs.PathError{Op: "open", Path: s.name, Err: fs.ErrClosed}
	}
	if s.root == nil {
		root, err := os.OpenRoot(s.dir)
		if err != nil {
			return nil, err
		}
		s.root = root
	}
	return s.root, nil
}

// in returns the path of a file of the store for messages.
func (s *Store) in(file string) string {
	return path.Join(filepath.ToSlash(s.name), file)
}

// about names the file that err, an [*Error] without one, is about.
func (s *Store) about(file string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.File == "" {
		e.File = s.in(file)
	}
	return err
}

// search opens the manifest; nil if there is neither a manifest nor a record.
func (s *Store) search() (*os.Root, *search, error) {
	root, err := s.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var search *search
	found, err := s.readManifest(root, func() (err error) {
		search, err = openSearch(root)
		return err
	})
	if err != nil {
		return nil, nil, s.about(manifestName, diagnose(root, err))
	}
	if !found {
		return root, nil, nil
	}
	return root, search, nil
}

// readManifest calls read, which opens the manifest. That there is none is right in a store
// without records, also when a first commit is under way.
func (s *Store) readManifest(root *os.Root, read func() error) (found bool, err error) {
	for again := false; ; again = true {
		err := read()
		if !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
		if _, err := root.Lstat(journalName); err == nil {
			return false, nil
		}
		provider, err := anyRecord(root)
		if provider == "" || err != nil {
			return false, err
		}
		if again { // a first commit may have ended since read looked
			err := newError(s.in(manifestName), "", ruleManifest, "is missing, though there are records of %s", provider)
			err.Err = fs.ErrNotExist
			return false, err
		}
	}
}

// anyRecord names a provider that the store has files of; empty if there is none.
func anyRecord(root *os.Root) (provider string, err error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if !e.IsDir() || checkProvider(e.Name()) != "" {
			continue
		}
		files, err := fs.ReadDir(root.FS(), e.Name())
		if err != nil || len(files) > 0 {
			return e.Name(), err
		}
	}
	return "", nil
}

// Test returns the entries of the records of one test, in the order of their ordinals. It
// reads only the lines of the manifest that it needs, and fails if these are malformed, not
// sorted, or hold conflict markers, with an [*Error].
func (s *Store) Test(pkg, test string) ([]Entry, error) {
	root, search, err := s.search()
	if err != nil || search == nil {
		return nil, err
	}
	defer search.close()

	type numbered struct {
		n int
		Entry
	}
	var found []numbered
	err = search.providers(func(provider string) error {
		slug := provider + "/" + slugOf(test) + "-"
		// After the slug comes a digit other than 0, and ":" follows "9".
		return search.between(slug+"1", slug+":", func(e Entry) {
			digits, _, _ := strings.Cut(e.File[len(slug):], "-")
			if n, err := strconv.Atoi(digits); err == nil && e.ID == ID(pkg, test, n) {
				found = append(found, numbered{n, e.clone()})
			}
		})
	})
	if err != nil {
		return nil, s.about(manifestName, diagnose(root, err))
	}
	slices.SortStableFunc(found, func(a, b numbered) int { return a.n - b.n })
	entries := make([]Entry, len(found))
	for i, e := range found {
		if i > 0 && e.n == found[i-1].n {
			return nil, newError(s.in(manifestName), "", ruleManifest, "has the id %s twice: %s and %s", e.ID, found[i-1].File, e.File)
		}
		entries[i] = e.Entry
	}
	return entries, nil
}

// All returns the entries of all records, sorted by file, from the manifest. An error ends it;
// it is an [*Error] if the manifest is malformed.
func (s *Store) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		m, err := s.manifest()
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for _, e := range m.Snapshots {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// manifest reads the manifest. Of a store without records it is empty.
func (s *Store) manifest() (*Manifest, error) {
	root, err := s.open()
	if errors.Is(err, fs.ErrNotExist) {
		return &Manifest{}, nil
	}
	if err != nil {
		return nil, err
	}
	var data []byte
	found, err := s.readManifest(root, func() (err error) {
		data, err = root.ReadFile(manifestName)
		return err
	})
	if err != nil || !found {
		return &Manifest{}, err
	}
	m, err := parseManifest(data)
	return m, s.about(manifestName, err)
}

// Get returns the record with the given id, whatever its provider. It is checked as by
// [Store.Load] and [Parse]. If there is none, the error is [fs.ErrNotExist].
func (s *Store) Get(id string) (*Snapshot, error) {
	e, err := s.entry(id)
	if err != nil {
		return nil, err
	}
	sealed, err := s.Load(e)
	if err != nil {
		return nil, err
	}
	return sealed.Snapshot()
}

// entry returns the entry of the record with the given id.
func (s *Store) entry(id string) (Entry, error) {
	var found, other Entry
	root, search, err := s.search()
	if err != nil {
		return found, err
	}
	if search != nil {
		defer search.close()
		err = search.providers(func(provider string) error {
			file := entryFileOf(provider, id)
			return search.between(file, file+"\x00", func(e Entry) {
				other, found = found, e.clone()
			})
		})
		if err != nil {
			return found, s.about(manifestName, diagnose(root, err))
		}
	}
	if other.ID != "" {
		return found, newError(s.in(manifestName), "", ruleManifest, "has the id %s twice: %s and %s", id, other.File, found.File)
	}
	if found.ID == "" {
		return found, &fs.PathError{Op: "find snapshot", Path: id, Err: fs.ErrNotExist}
	}
	return found, nil
}
