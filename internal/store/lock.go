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

// The file .gitattributes tells git to leave the store's bytes alone, and hosts to collapse what
// nobody reads (design R4, R5). It is also the store's lock: the one file that is never replaced, so
// that no other file appears in the repository for it.
const Attributes = `* -text
manifest.json -merge linguist-generated
*/*/* -merge linguist-generated
`

// The manifest is ignored because its times and its hash change with every recording, so that two
// branches that both record would conflict.
const ignored = `manifest.json
commit.pending
*.tmp
.pending
`

// IgnoredText is what git is to leave alone: of pending answers all, since the store around them may not be there yet.
func (s *Store) IgnoredText() string {
	if s.isPending() {
		return "*\n"
	}
	return ignored
}

// Exclusively calls f while no other process writes to the store or verifies it. It makes the store
// if there is none, and finishes or undoes the commit of a process that died in it. f may also change files by other
// means, as by git, but must not call methods of s that write.
func (s *Store) Exclusively(f func(Writer) error) error {
	return s.Locked(func(w Writer) error {
		if _, err := s.Recover(w); err != nil {
			return err
		}
		return f(w)
	})
}

// Locked calls f as Exclusively does, but leaves a commit that was cut short to f.
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

// Held returns s for who holds its lock, and reads through it: it then waits for nobody.
func (s *Store) Held() *Store {
	held := *s
	held.held = true
	return &held
}

// Writable reports why no file can be made in the store, or where it would be made. It leaves nothing behind, and what
// a process left that died here goes.
func (s *Store) Writable() error {
	if err := (logDir{s}).checkDir(); err != nil {
		return err
	}
	for dir := s.dir; ; dir = filepath.Dir(dir) {
		f, err := os.CreateTemp(dir, ProbeNames)
		if err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
			left, _ := fs.Glob(os.DirFS(s.dir), ProbeNames)
			for _, file := range left {
				_ = os.Remove(s.Path(file))
			}
			if errors.Is(err, fs.ErrNotExist) { // another process took it for one that is left
				err = nil
			}
			return err
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return err
		}
	}
}

// nameHolder tells those who wait who holds the lock, once it is held for a while, until unname. Without it they
// wait all the same.
func (w Writer) nameHolder() (unname func()) {
	if _, err := w.Root.Lstat(HolderName); err == nil {
		_ = w.Root.Remove(HolderName) // of a process that died
	}
	named := make(chan bool)
	timer := time.AfterFunc(holdQuietly, func() {
		defer close(named)
		top := Writer{Root: w.Root} // whose directories are for another goroutine
		_ = top.create(HolderName, fmt.Appendf(nil, "%d %q\n", os.Getpid(), filepath.Base(os.Args[0])))
	})
	return func() {
		if !timer.Stop() {
			<-named
			_ = w.Root.Remove(HolderName)
		}
	}
}

// A lockFile is the file by which a store is locked, which is also its .gitattributes.
type lockFile struct{ *Store }

const (
	waitQuietly = 2 * time.Second // how long a lock is waited for without a word
	holdQuietly = waitQuietly / 2 // how long it is held without a name, as most that do write nothing else meanwhile
)

// open opens the lock file, which waits for those who have locked it. It tells s.Waiting of them.
func (l lockFile) open(flag int) (*lockedfile.File, error) {
	told := make(chan bool)
	timer := time.AfterFunc(waitQuietly, func() {
		defer close(told)
		if l.Waiting != nil {
			l.Waiting(l.holder())
		}
	})
	lock, err := lockedfile.OpenFile(l.Path(AttributesName), flag, 0)
	if !timer.Stop() {
		<-told
	}
	return lock, err
}

// holder names the process that holds the lock. Anybody may have written the file, so its words are not trusted.
func (l lockFile) holder() string {
	var pid int
	var name string
	data, err := l.Read(HolderName)
	if n, _ := fmt.Sscanf(string(data), "%d %q", &pid, &name); err != nil || n < 2 {
		return "a process that verifies it, or several in turn"
	}
	return fmt.Sprintf("process %d, %.200s", pid, strconv.QuoteToASCII(name))
}

// lock locks the store for writing. The kernel frees the lock if the process dies.
func (l lockFile) lock() (Writer, *lockedfile.File, error) {
	if err := logDir(l).checkDir(); err != nil {
		return Writer{}, nil, err
	}
	for {
		root, err := os.OpenRoot(l.dir)
		if errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(l.dir, 0o777); err == nil {
				root, err = os.OpenRoot(l.dir)
			}
		}
		if err != nil {
			return Writer{}, nil, err
		}
		w := Writer{root, l.maxBytes, map[string]*os.Root{}}
		lock, err := l.tryLock(w)
		if lock != nil && err == nil {
			return w, lock, nil
		}
		root.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Writer{}, nil, err
		}
		// git has just replaced the file, or the store: again
	}
}

// checkDir refuses a store that leads elsewhere, and pending answers that are a link. Git may bring both, and
// what is written there would be written elsewhere.
func (d logDir) checkDir() error {
	main := d.dir
	if d.isPending() {
		main = filepath.Dir(main)
	}
	if err := wrongLink(main); err != nil {
		return &fs.PathError{Op: "open", Path: filepath.Base(main), Err: err}
	}
	if !d.isPending() {
		return nil
	}
	if info, err := os.Lstat(d.dir); err != nil || info.IsDir() {
		return nil
	}
	return d.failure("", "", snapshot.RuleStray, nil,
		"is no directory: pending answers are written to a directory of the store only; remove it")
}

// tryLock returns no lock if the file that it locked is not the store's any more.
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
	if ignoring != int64(len(l.IgnoredText())) { // of what nobody relies on, the length is asked at each lock
		err = errors.Join(err, w.Root.WriteFile(IgnoreName, []byte(l.IgnoredText()), 0o666))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// writeAttributes gives f, the locked file, the content that it should have. Windows lets no other
// handle read it.
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

// ReadLock keeps writers out. A store without its lock file is read without one: unlock is nil. So is
// one on a file system without locks.
func (s *Store) ReadLock() (unlock func(), err error) {
	info, err := os.Lstat(s.Path(AttributesName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return func() {}, err // what it is, is a finding
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

// wrongLink says why a store that is a link is not written: it leads out of the repository that the link is in, into what git
// keeps there, to a directory that the link is in, or to another that is no store, whose files would be replaced and removed.
// Where there is no repository, it is the directory that the link is in.
func wrongLink(dir string) error {
	if _, err := os.Readlink(dir); err != nil {
		return nil // it is no link
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
		return errLinked
	case !git.Outside(real, at), slices.ContainsFunc(files, isForeign) && !strings.Contains(string(ignoring), JournalName):
		return errNoStore
	}
	return nil
}

// isForeign reports whether a file is none that a store has before its first commit.
func isForeign(f fs.DirEntry) bool {
	return !slices.Contains([]string{AttributesName, IgnoreName, HolderName, PendingName}, f.Name())
}

// touch makes the file unless it is there, and fails if it is no regular file. It returns how long the file is.
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
		return 0, &fs.PathError{Op: "open", Path: file, Err: errLinked}
	}
	return 0, &fs.PathError{Op: "open", Path: file, Err: errIrregular}
}
