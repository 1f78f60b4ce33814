package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/traceforge/traceforge-go/canon"
)

// Blobs are in blobs/sha256/<64 hex> (design R5), all in one directory. Were they spread over
// directories by their first digits, git would take a new blob that is like the one it replaces,
// as answers are, for the renaming of a directory that held no other, and then move what another
// branch added to it: a conflict of branches that have nothing to do with each other.
const (
	blobDir    = "blobs"
	blobSubdir = blobDir + "/sha256"
)

func blobFile(h canon.Hash) string { return blobSubdir + "/" + h.Hex() }

// Blob returns the content of the blob with the given hash, checked against it. An error is
// [ErrBlob] if there is no such blob, which is [fs.ErrNotExist] too, or if it was altered.
func (s *Store) Blob(h canon.Hash) ([]byte, error) {
	if !h.Valid() {
		return nil, fmt.Errorf("%w: %q is no hash", ErrBlob, string(h))
	}
	root, err := s.open()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	scratch := scratches.Get().(*scratch)
	defer scratches.Put(scratch)
	var got canon.Hash
	for _, read := range []func(*os.Root, string) error{scratch.glance, scratch.read} {
		if err == nil {
			err = read(root, blobFile(h))
		}
		if errors.Is(err, fs.ErrNotExist) {
			e := newError(s.in(blobFile(h)), "", ruleBlob, "is missing")
			e.Err = fs.ErrNotExist
			return nil, e
		}
		if err != nil {
			return nil, fmt.Errorf("read blob: %w", err)
		}
		if got = canon.Sum(scratch.file); got == h {
			return bytes.Clone(scratch.file), nil
		}
	}
	return nil, newError(s.in(blobFile(h)), "", ruleBlob, "has the hash %s, which is not its name", got)
}

// readBlob reads a blob, whatever it holds.
func (s *Store) readBlob(h canon.Hash) ([]byte, error) {
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	return root.ReadFile(blobFile(h))
}

// blobOf returns the hash of the blob whose file has the given path.
func blobOf(file string) (canon.Hash, bool) {
	h := canon.Hash("sha256:" + path.Base(file))
	return h, h.Valid() && blobFile(h) == file
}

// PutBlob adds a blob, in a commit of its own, and returns its hash. A blob that no record
// refers to is a finding of [Store.Verify]; [Change] has blobs and records committed together.
func (s *Store) PutBlob(data []byte) (canon.Hash, error) {
	if err := s.Commit(Change{Blobs: [][]byte{data}}); err != nil {
		return "", err
	}
	return canon.Sum(data), nil
}
