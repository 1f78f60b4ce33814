package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/traceforge/traceforge-go/canon"
)

// A tooLarge says that a file is longer than the limit.
type tooLarge struct {
	size, limit int64
}

func (e *tooLarge) Error() string {
	return fmt.Sprintf("has %d bytes, and at most %d are read: %s raises the limit", e.size, e.limit, maxBytesName)
}

var errIrregular = errors.New("is no regular file")

// errLinked refuses to write to a store such as Bazel lays out for a test.
var errLinked = errors.New("is a link, and a store is written only where its files are: " +
	"name that directory, for tests with TRACEFORGE_DIR")

// readAll reads a file of at most limit bytes, and closes it.
func readAll(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	size, err := sizeOf(f, limit)
	if err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead)) // room that ReadFrom wants before the end
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
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

// sumFile returns the hash of a file of at most limit bytes, read into piece again and again, and
// closes it.
func sumFile(f *os.File, limit int64, piece []byte) (canon.Hash, error) {
	defer f.Close()
	if _, err := sizeOf(f, limit); err != nil {
		return "", err
	}
	sum := sha256.New()
	for {
		n, err := f.Read(piece)
		sum.Write(piece[:n])
		if err == io.EOF {
			return hashOf(sum), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// pieceSize is how much of a file is hashed at once.
const pieceSize = 32 << 10

func hashOf(sum hash.Hash) canon.Hash {
	return canon.Hash("sha256:" + hex.EncodeToString(sum.Sum(nil)))
}

// within are the files of a store that is being written: no link leads out of it.
type within struct {
	root  *os.Root
	limit int64
}

// regular opens a file; it is fs.ErrNotExist too if it is a link or anything else that is no file,
// which a commit replaces.
func (w within) regular(file string) (*os.File, error) {
	info, err := w.root.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	return w.root.Open(file)
}

func (w within) read(file string) ([]byte, error) {
	f, err := w.regular(file)
	if err != nil {
		return nil, err
	}
	return readAll(f, w.limit)
}

func (w within) sum(file string) (canon.Hash, error) {
	f, err := w.regular(file)
	if err != nil {
		return "", err
	}
	return sumFile(f, math.MaxInt64, make([]byte, pieceSize))
}

// has reports whether a file has the given content.
func (w within) has(file string, data []byte) bool {
	info, err := w.root.Lstat(file)
	if err != nil || info.Size() != int64(len(data)) {
		return false
	}
	got, err := w.read(file)
	return err == nil && bytes.Equal(got, data)
}

// list returns what a directory holds; nothing if it is not there.
func (w within) list(dir string) ([]fs.DirEntry, error) {
	f, err := w.root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func (w within) remove(file string) error {
	if err := w.root.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// create writes a file that must not be there.
func (w within) create(file string, data []byte) error {
	f, err := w.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
