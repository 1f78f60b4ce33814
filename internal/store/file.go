package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/traceforge/traceforge-go/canon"
)

// A tooLarge reports a file that is longer than the limit.
type tooLarge struct {
	size, limit int64
}

func (e *tooLarge) Error() string {
	return fmt.Sprintf("has %d bytes, and at most %d are read: %s raises the limit", e.size, e.limit, maxBytesName)
}

var errIrregular = errors.New("is no regular file")

// ErrLinked means that a store is not written because it is a link, or consists of links, such as Bazel makes for a
// test.
var ErrLinked = errors.New("is a link, and a store is written only where its files are: " +
	"name that directory, for tests with TRACEFORGE_DIR")

// errNoStore refuses to write through a link that may have come from git.
var errNoStore = errors.New("is a link to a directory that is no store, and nothing is written there: remove the link")

// ReadFile reads a file outside of stores, such as a receipt, with the size limit of a store.
func ReadFile(name string) ([]byte, error) {
	s, err := Open(".") // which reads the limit
	if err != nil {
		return nil, err
	}
	f, err := openToRead(name)
	if err != nil {
		return nil, err
	}
	data, err := readAll(f, s.maxBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// readAll reads a file of at most limit bytes, and closes it.
func readAll(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	size, err := sizeOf(f, limit)
	if err != nil {
		return nil, err
	}
	room := make([]byte, size+1)
	read, err := f.Read(room)
	if err == nil && int64(read) == size {
		return room[:read], nil // complete, because more was requested
	}
	data := bytes.NewBuffer(room[:read])
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1-int64(read))); err != nil {
		return nil, err
	}
	if n := int64(data.Len()); n > limit {
		return nil, &tooLarge{n, limit} // it grew
	}
	return data.Bytes(), nil
}

func sizeOf(f *os.File, limit int64) (int64, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, &fs.PathError{Op: "read", Path: f.Name(), Err: errIrregular}
	case info.Size() > limit:
		return 0, &tooLarge{info.Size(), limit}
	}
	return info.Size(), nil
}

// A Writer gives access to the files of a store that is being written. No link leads out of it.
type Writer struct {
	Root  *os.Root
	limit int64
	dirs  map[string]*os.Root // open directories, by path; see in
}

// dirsMost is the maximum number of open directories.
const dirsMost = 8

// in returns the directory of a file, and the file's name in it. A directory is opened once per commit, until leave.
func (w Writer) in(file string) (dir *os.Root, name string, err error) {
	at, name := path.Split(file)
	if at == "" || w.dirs == nil {
		return w.Root, file, nil
	}
	if dir := w.dirs[at]; dir != nil {
		return dir, name, nil
	}
	parent, base, err := w.in(path.Clean(at))
	if err == nil {
		dir, err = parent.OpenRoot(base)
	}
	if err != nil {
		return nil, "", err
	}
	if len(w.dirs) == dirsMost {
		w.leave()
	}
	w.dirs[at] = dir
	return dir, name, nil
}

// leave closes the directories, because some systems cannot remove an open directory.
func (w Writer) leave() {
	for _, dir := range w.dirs {
		dir.Close()
	}
	clear(w.dirs)
}

// Lstat, openFile and the others are like those of [os.Root].
func (w Writer) Lstat(file string) (fs.FileInfo, error) {
	dir, name, err := w.in(file)
	if err != nil {
		return nil, err
	}
	info, err := dir.Lstat(name)
	return info, named(err, file)
}

func (w Writer) openFile(file string, flag int) (*os.File, error) {
	dir, name, err := w.in(file)
	if err != nil {
		return nil, err
	}
	if flag&os.O_EXCL != 0 {
		flag |= unpolled
	}
	f, err := dir.OpenFile(name, flag, 0o666)
	return f, named(err, file)
}

// rename renames a file to another in the same directory, which it replaces.
func (w Writer) rename(from, to string) error {
	dir, name, err := w.in(from)
	if err != nil {
		return err
	}
	return dir.Rename(name, path.Base(to))
}

// named sets the path in an error to the file's path in the store.
func named(err error, file string) error {
	if failed, ok := err.(*fs.PathError); ok {
		failed.Path = file
	}
	return err
}

// regular opens a file. It returns fs.ErrNotExist also for a link or anything else that is not a regular file, which a
// commit replaces.
func (w Writer) regular(file string) (*os.File, error) {
	info, err := w.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	return w.openFile(file, os.O_RDONLY)
}

func (w Writer) Read(file string) ([]byte, error) {
	f, err := w.regular(file)
	if err != nil {
		return nil, err
	}
	return readAll(f, w.limit)
}

func (w Writer) sum(file string) (canon.Hash, error) {
	f, err := w.regular(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return canon.Hash("sha256:" + hex.EncodeToString(sum.Sum(nil))), err
}

// has reports whether a file has the given content.
func (w Writer) has(file string, data []byte) bool {
	got, err := w.Read(file)
	return err == nil && bytes.Equal(got, data)
}

// List returns the entries of a directory; none if it does not exist.
func (w Writer) List(dir string) ([]fs.DirEntry, error) {
	f, err := w.openFile(dir, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (w Writer) Remove(file string) error {
	dir, name, err := w.in(file)
	if err == nil {
		err = named(dir.Remove(name), file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// create writes a new file, replacing anything that a killed process left in its place.
func (w Writer) create(file string, data []byte) error {
	f, err := w.openFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if errors.Is(err, fs.ErrExist) {
		if err = w.Remove(file); err == nil {
			f, err = w.openFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// createIn is create, but it also makes the directory.
func (w Writer) createIn(file string, data []byte) error {
	err := w.create(file, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = w.Root.MkdirAll(path.Dir(file), 0o777); err == nil {
			err = w.create(file, data)
		}
	}
	return err
}
