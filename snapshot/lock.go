package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// attributesName is the file that tells git to leave the store's bytes alone (design R4). It
// is also the store's lock: the one file that is never replaced, so that no other file
// appears in the repository for it.
const attributesName = ".gitattributes"

const attributes = `* -text
manifest.json linguist-generated
blobs/** -merge linguist-generated
`

// existing calls f as exclusively does, if there is a store.
func (s *Store) existing(f func(*os.Root) error) error {
	if _, err := s.open(); err != nil {
		return err
	}
	return s.exclusively(f)
}

// exclusively calls f while no other process writes to the store or verifies it. It makes the
// store if there is none, and mends what a process that died in a commit left.
func (s *Store) exclusively(f func(*os.Root) error) error {
	root, lock, err := s.lock()
	if err != nil {
		return fmt.Errorf("lock store %s: %w", s.name, err)
	}
	defer lock.Close()
	if err := s.recover(root); err != nil {
		return fmt.Errorf("recover from a commit that was cut short: %w", err)
	}
	return f(root)
}

// lock locks the store for writing. The kernel frees the lock if the process dies.
func (s *Store) lock() (*os.Root, *lockedfile.File, error) {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return nil, nil, err
	}
	for {
		root, err := s.current()
		if err != nil {
			return nil, nil, err
		}
		if err := create(root, attributesName); err != nil {
			return nil, nil, err
		}
		lock, err := lockedfile.OpenFile(filepath.Join(s.dir, attributesName), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // git has just replaced it
		}
		if err != nil {
			return nil, nil, err
		}
		if same, err := isFile(root, attributesName, lock.File); err != nil || !same {
			lock.Close()
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
			continue
		}
		if err := writeAttributes(lock.File); err != nil {
			lock.Close()
			return nil, nil, err
		}
		return root, lock, nil
	}
}

// readLock keeps writers out. A store without its lock file, or on a file system without
// locks, is read without one.
func (s *Store) readLock(root *os.Root) (unlock func(), err error) {
	info, err := root.Lstat(attributesName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return func() {}, err // a finding
	}
	lock, err := lockedfile.Open(filepath.Join(s.dir, attributesName))
	if errors.Is(err, errors.ErrUnsupported) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	return func() { lock.Close() }, nil
}

// current returns the store's directory, opened again if it was replaced.
func (s *Store) current() (*os.Root, error) {
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	kept, err := root.Stat(".")
	if err != nil {
		return nil, err
	}
	now, err := os.Stat(s.dir)
	if err != nil {
		return nil, err
	}
	if os.SameFile(kept, now) {
		return root, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == root {
		if s.root, err = os.OpenRoot(s.dir); err != nil {
			return nil, err
		}
	}
	return s.root, nil
}

// create makes the file unless it is there, and fails if it is no regular file.
func create(root *os.Root, file string) error {
	info, err := root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		f, err := root.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return err
		}
		return f.Close()
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: file, Err: errors.New("not a regular file")}
	}
	return nil
}

// isFile reports whether f is the named file in root.
func isFile(root *os.Root, file string, f *os.File) (bool, error) {
	named, err := root.Lstat(file)
	if err != nil {
		return false, err
	}
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(named, opened), nil
}

// writeAttributes gives f, the locked file, the content it should have.
func writeAttributes(f *os.File) error {
	got, err := io.ReadAll(f)
	if err != nil || string(got) == attributes {
		return err
	}
	if _, err := f.WriteAt([]byte(attributes), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(attributes)))
}
