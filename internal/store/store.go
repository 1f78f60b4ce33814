package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Store is a directory of documents, with the raw answers and media that they name.
//
// A Store is safe for concurrent use, within this process and with others. It keeps nothing open, so it need not be
// closed: reading opens only the files that it reads, without a lock, and [Store.Commit] excludes all other writers and
// [audit.Verify].
type Store struct {
	// Waiting is called with the holder of the store's lock after 2 seconds of waiting, unless it is nil. Set it before
	// the store is used. It is called on a separate goroutine, while the caller waits.
	Waiting func(holder string)

	// Trusting is set for a user who confirms that the journal and the pending answers are their own.
	Trusting bool

	dir      string // absolute, so that a change of the working directory does not matter
	name     string // as passed to Open, for messages
	maxBytes int64  // maximum size of a file that is read
	git      func(dir string, args ...string) (string, error)
	keys     func() keyFile // reads the key of this user
	lfs      bool           // writers make .gitattributes the content for Git LFS
	held     bool           // the caller holds the lock, so reads do not wait for it
}

const (
	maxBytesName    = "TRACEFORGE_MAX_BYTES"
	defaultMaxBytes = 64 << 20
)

// Open returns the store in dir, which need not exist: the first commit creates it. Open reads and writes no files. It
// fails if TRACEFORGE_MAX_BYTES, the limit on the size of files, is not a number.
func Open(dir string) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dir: abs, name: dir, maxBytes: defaultMaxBytes, git: runGit, keys: userKey}
	if text := os.Getenv(maxBytesName); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("open store: %s must be a number of bytes, is %q", maxBytesName, text)
		}
		s.maxBytes = n
	}
	return s, nil
}

// Dir returns the directory as passed to Open.
func (s *Store) Dir() string { return s.name }

// MaxBytes returns the maximum size of a file in the store in bytes: 64 MB unless TRACEFORGE_MAX_BYTES says otherwise
// (design R16).
func (s *Store) MaxBytes() int64 { return s.maxBytes }

// Path returns the path of a file of the store.
func (s *Store) Path(file string) string { return filepath.Join(s.dir, filepath.FromSlash(file)) }

// Read reads a file. A file that is not regular counts as missing, because another check reports it.
func (s *Store) Read(file string) ([]byte, error) {
	info, err := os.Lstat(s.Path(file))
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return s.ReadWhole(file)
}

// NewDoc returns d as a document of the store, which need not be written there.
func (s *Store) NewDoc(provider, name string, d *snapshot.Document) *Doc {
	return &Doc{Provider: provider, Name: name, Document: d, store: s}
}

// Shown returns the path of a file of the store as messages name it: within the directory passed to Open.
func (s *Store) Shown(file string) string { return path.Join(filepath.ToSlash(s.name), file) }

// failure returns an error with one violation.
func (s *Store) failure(file, pointer, rule string, err error, format string, args ...any) *snapshot.Error {
	violation := snapshot.Violation{Pointer: pointer, Rule: rule, Message: fmt.Sprintf(format, args...)}
	return &snapshot.Error{File: s.Shown(file), Violations: []snapshot.Violation{violation}, Err: err}
}

// The files of a store other than documents, raw answers and media.
const (
	AttributesName = ".gitattributes"
	IgnoreName     = ".gitignore"
	ConfigName     = "config.json"
	ManifestName   = "manifest.json"
	JournalName    = "commit.pending"
	HolderName     = "lock.tmp" // names the holder of the lock; git ignores it, like all *.tmp
	PendingName    = ".pending" // contains answers that were bought and not accepted (design R11)

	DocumentExt = ".json"
	TempExt     = ".tmp"
	ProbeNames  = ".traceforge-*" + TempExt // temporary files that test whether the store can be written
)

func DocumentFile(provider, name string) string { return provider + "/" + name + DocumentExt }

// ParseDocumentFile returns the provider and the name of the document in a file.
func ParseDocumentFile(file string) (provider, name string, ok bool) {
	provider, name, _ = strings.Cut(file, "/")
	name, ok = strings.CutSuffix(name, DocumentExt)
	return provider, name, ok && filename.Legal(provider) && filename.LegalDocument(name)
}

// DocumentOf returns the path of the document that a file contains or belongs to.
func DocumentOf(file string) string {
	provider, rest, _ := strings.Cut(file, "/")
	name, _, _ := strings.Cut(rest, "/")
	return DocumentFile(provider, strings.TrimSuffix(name, DocumentExt))
}

// ParseBesideFile returns the provider, the document and the file's own name of a raw answer or a
// medium.
func ParseBesideFile(file string) (provider, name, own string, ok bool) {
	provider, rest, _ := strings.Cut(file, "/")
	name, own, ok = strings.Cut(rest, "/")
	return provider, name, own, ok && filename.Legal(provider) && filename.LegalDocument(name) && IsBeside(own)
}

// IsBeside reports whether own may be the file name of a raw answer, the number of its call, or of a medium, its hash.
func IsBeside(own string) bool { return besideName.MatchString(own) }

var besideName = regexp.MustCompile(`^([1-9][0-9]{0,17}|[0-9a-f]{64})\.[a-z0-9]+$`)

// IsStoreFile reports whether commits write and remove files with this path: documents, files next to one, the manifest
// and logs.
func IsStoreFile(file string) bool {
	_, _, document := ParseDocumentFile(file)
	_, _, _, beside := ParseBesideFile(file)
	_, log := parseLogFile(file)
	return file == ManifestName || document || beside || log > 0
}

// List returns the files of all documents, sorted; none if the store does not exist.
func (s *Store) List() ([]string, error) {
	if s.isPending() {
		return logDir{s}.listLogs()
	}
	providers, err := s.Providers()
	if err != nil {
		return nil, err
	}
	var files []string
	for _, provider := range providers {
		entries, err := os.ReadDir(s.Path(provider))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("list store: %w", err)
		}
		for _, e := range entries {
			if _, _, ok := ParseDocumentFile(provider + "/" + e.Name()); ok && !e.IsDir() {
				files = append(files, provider+"/"+e.Name())
			}
		}
	}
	return files, nil
}

// Providers returns the names of the providers' directories, sorted.
func (s *Store) Providers() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list store: %w", err)
	}
	var providers []string
	for _, e := range entries {
		if filename.Legal(e.Name()) && !e.Type().IsRegular() {
			providers = append(providers, e.Name())
		}
	}
	return providers, nil
}
