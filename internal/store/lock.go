package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/snapshot"
)

// The file .gitattributes tells git not to change the store's bytes, whatever the attributes of the repository are. It
// tells hosts to collapse files that nobody reads (design R4, R5). It is also the store's lock, because it is never
// replaced and so no extra file is needed in the repository.
const Attributes = `* -text -ident !working-tree-encoding
manifest.json -merge linguist-generated
*/*/* -merge linguist-generated
`

// The manifest is ignored because its times and its hash change with every recording, so that two recording branches
// would conflict.
const ignored = `manifest.json
commit.pending
*.tmp
.pending
`

// IgnoredText is the content of .gitignore. In the store of pending answers it ignores everything, because the store
// around it may not exist yet.
func (s *Store) IgnoredText() string {
	if s.isPending() {
		return "*\n"
	}
	return ignored
}

// Exclusively calls f while no other process writes to the store or verifies it. It creates the store if necessary, and
// finishes or undoes the commit of a killed process. f may also change files by other means, such as git, but must not
// call methods of s that write.
func (s *Store) Exclusively(f func(Writer) error) error {
	return s.Locked(func(w Writer) error {
		if _, err := s.Recover(w); err != nil {
			return err
		}
		return f(w)
	})
}

// Locked is Exclusively, except that an interrupted commit is left to f.
func (s *Store) Locked(f func(Writer) error) error {
	w, lock, err := lockFile{s}.lock()
	if err != nil {
		return fmt.Errorf("lock store %s: %w", s.name, err)
	}
	defer w.Root.Close()
	defer lock.Close()
	defer w.nameHolder()()
	defer w.leave()
	return f(w)
}

// Held returns s for a caller that holds its lock: it reads without waiting for anybody.
func (s *Store) Held() *Store {
	held := *s
	held.held = true
	return &held
}

// Writable returns an error if no file can be created in the store, or in its closest existing parent. It leaves
// nothing behind, and removes what a killed process left.
func (s *Store) Writable() error {
	if err := (logDir{s}).checkDir(); err != nil {
		return err
	}
	for dir := s.dir; ; dir = filepath.Dir(dir) {
		f, err := os.CreateTemp(dir, ProbeNames)
		if err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
			s.RemoveProbes()
			if errors.Is(err, fs.ErrNotExist) { // another process removed it as a leftover
				err = nil
			}
			return err
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return err
		}
	}
}

// RemoveProbes removes what processes left that were killed in Writable.
func (s *Store) RemoveProbes() {
	left, _ := fs.Glob(os.DirFS(s.dir), ProbeNames)
	for _, file := range left {
		_ = os.Remove(s.Path(file))
	}
}

// nameHolder tells waiting processes who holds the lock if it is held for a while, until unname. If that fails, they
// wait all the same.
func (w Writer) nameHolder() (unname func()) {
	if _, err := w.Root.Lstat(HolderName); err == nil {
		_ = w.Root.Remove(HolderName) // left by a killed process
	}
	named := make(chan bool)
	timer := time.AfterFunc(holdQuietly, func() {
		defer close(named)
		top := Writer{Root: w.Root} // without directories, which belong to another goroutine
		_ = top.create(HolderName, fmt.Appendf(nil, "%d %q\n", os.Getpid(), filepath.Base(os.Args[0])))
	})
	return func() {
		if !timer.Stop() {
			<-named
			_ = w.Root.Remove(HolderName)
		}
	}
}

// A lockFile is the file that locks a store, which is also its .gitattributes.
type lockFile struct{ store *Store }

const (
	waitQuietly = 2 * time.Second // time to wait for a lock before saying so
	holdQuietly = waitQuietly / 2 // time to hold it before leaving a name, so that most writers need not
)

// open opens the lock file, which waits for processes that have locked it, and calls s.Waiting.
func (l lockFile) open(flag int) (*lockedfile.File, error) {
	told := make(chan bool)
	timer := time.AfterFunc(waitQuietly, func() {
		defer close(told)
		if l.store.Waiting != nil {
			l.store.Waiting(l.holder())
		}
	})
	lock, err := lockedfile.OpenFile(l.store.Path(AttributesName), flag, 0)
	if !timer.Stop() {
		<-told
	}
	return lock, err
}

// holder names the process that holds the lock. Anybody may have written the file, so its content is escaped.
func (l lockFile) holder() string {
	var pid int
	var name string
	data, err := l.store.Read(HolderName)
	if n, _ := fmt.Sscanf(string(data), "%d %q", &pid, &name); err != nil || n < 2 {
		return "a process that verifies it, or several in turn"
	}
	return fmt.Sprintf("process %d, %.200s", pid, strconv.QuoteToASCII(name))
}

// lock locks the store for writing. The kernel releases the lock if the process dies.
func (l lockFile) lock() (Writer, *lockedfile.File, error) {
	if err := logDir(l).checkDir(); err != nil {
		return Writer{}, nil, err
	}
	for {
		root, err := os.OpenRoot(l.store.dir)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(l.store.dir, 0o777); err == nil {
				root, err = os.OpenRoot(l.store.dir)
			}
		}
		if err != nil {
			return Writer{}, nil, err
		}
		w := Writer{root, l.store.maxBytes, map[string]*os.Root{}}
		lock, err := l.tryLock(w)
		if lock != nil && err == nil {
			return w, lock, nil
		}
		root.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Writer{}, nil, err
		}
		// git has just replaced the file or the store: try again
	}
}

// checkDir refuses a store that is a link to another place, and pending answers that are a link. Git may bring both,
// and writing would change files elsewhere.
func (d logDir) checkDir() error {
	main := d.store.dir
	if d.store.isPending() {
		main = filepath.Dir(main)
	}
	if err := wrongLink(main); err != nil {
		return &fs.PathError{Op: "open", Path: filepath.Base(main), Err: err}
	}
	if !d.store.isPending() {
		return nil
	}
	if info, err := os.Lstat(d.store.dir); err != nil || info.IsDir() {
		return nil
	}
	return d.store.failure("", "", snapshot.RuleStray, nil,
		"is no directory: pending answers are written to a directory of the store only; remove it")
}

// tryLock returns no lock if the file that it locked was replaced in the meantime.
func (l lockFile) tryLock(w Writer) (*lockedfile.File, error) {
	_, err := w.touch(AttributesName)
	ignoring, err2 := w.touch(IgnoreName)
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	lock, err := l.open(os.O_RDWR)
	if err != nil {
		return nil, err
	}
	named, err := w.Root.Lstat(AttributesName)
	opened, err2 := lock.Stat()
	if err := errors.Join(err, err2); err != nil || !os.SameFile(named, opened) {
		return nil, errors.Join(err, lock.Close())
	}
	err = l.writeAttributes(lock.File)
	if ignoring != int64(len(l.store.IgnoredText())) { // checking the length is enough, because nobody relies on it
		err = errors.Join(err, w.Root.WriteFile(IgnoreName, []byte(l.store.IgnoredText()), 0o666))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// writeAttributes corrects the content of f, the locked file. On Windows no other handle can read it.
func (l lockFile) writeAttributes(f *os.File) error {
	got, err := io.ReadAll(io.LimitReader(f, maxAttributes))
	want := l.attributesFor(string(got))
	if err != nil || string(got) == want {
		return err
	}
	if _, err := f.WriteAt([]byte(want), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(want)))
}

// ReadLock keeps writers out. A store without a lock file is read without a lock, and unlock is nil. On a file system
// without locks, unlock does nothing.
func (s *Store) ReadLock() (unlock func(), err error) {
	info, err := os.Lstat(s.Path(AttributesName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return func() {}, err // reported as a finding
	}
	lock, err := lockFile{s}.open(os.O_RDONLY)
	if errors.Is(err, errors.ErrUnsupported) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	return func() { lock.Close() }, nil
}

// wrongLink returns an error if a store is a link that must not be written through. Such a link leads out of its
// repository, into a git directory, to a directory that contains it, or to one that is no store, whose files would be
// replaced and removed. Without a repository, the link must stay in its own directory.
func wrongLink(dir string) error {
	if _, err := os.Readlink(dir); err != nil {
		return nil // not a link
	}
	real, err := filepath.EvalSymlinks(dir)
	at, err2 := filepath.EvalSymlinks(filepath.Dir(dir))
	if err != nil || err2 != nil {
		return nil // nothing can be written there
	}
	within := at
	if r, err := git.Find(at); err == nil {
		within = r.Top
	}
	files, _ := os.ReadDir(real)
	ignoring, _ := os.ReadFile(filepath.Join(real, IgnoreName))
	switch {
	case git.Outside(within, real):
		return ErrLinked
	case !git.Outside(real, at), slices.ContainsFunc(files, isForeign) && !strings.Contains(string(ignoring), JournalName):
		return errNoStore
	}
	return nil
}

// isForeign reports whether a file is not one that a store has before its first commit.
func isForeign(f fs.DirEntry) bool {
	return !slices.Contains([]string{AttributesName, IgnoreName, HolderName, PendingName}, f.Name())
}

// touch creates the file unless it exists, and fails if it is not a regular file. It returns the length of the file.
func (w Writer) touch(file string) (size int64, err error) {
	info, err := w.Root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := w.Root.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return 0, err
		}
		return 0, f.Close()
	}
	switch {
	case err != nil:
		return 0, err
	case info.Mode().IsRegular():
		return info.Size(), nil
	case info.Mode().Type() == fs.ModeSymlink:
		return 0, &fs.PathError{Op: "open", Path: file, Err: ErrLinked}
	}
	return 0, &fs.PathError{Op: "open", Path: file, Err: fmt.Errorf("%w: remove it", errIrregular)}
}
