package contract

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path"

	"github.com/traceforge/traceforge-go/canon"
)

// Blobs is content by hash. A [*Store] has blobs, and so has a [*Recorded].
type Blobs interface {
	Blob(ref canon.Hash) ([]byte, error)
}

// A Store is a directory of blobs, each in a file of its hash's name. It is safe for concurrent use,
// also by several processes.
type Store struct{ root *os.Root }

// OpenStore opens the store in dir, which it makes if it is not there. It should be a directory of its
// own: what else is in it is not looked at.
func OpenStore(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{root}, nil
}

// Close closes the directory.
func (s *Store) Close() error { return s.root.Close() }

// blobFile returns the file of a blob. Each directory has a 256th of them.
func blobFile(ref canon.Hash) string { return path.Join("sha256", ref.Hex()[:2], ref.Hex()) }

// Blob returns a blob. It fails on one that is missing, which is [fs.ErrNotExist] too, or altered:
// both are [ErrBlob].
func (s *Store) Blob(ref canon.Hash) ([]byte, error) {
	if !ref.Valid() {
		return nil, fmt.Errorf("%w: %q is no hash", ErrBlob, string(ref))
	}
	data, err := s.root.ReadFile(blobFile(ref))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBlob, err)
	}
	return data, checkBlob(ref, data)
}

// PutBlob stores a blob and returns its ref. A reader sees all of it or nothing, and a blob that is
// there is not written again.
func (s *Store) PutBlob(blob []byte) (canon.Hash, error) {
	ref := canon.Sum(blob)
	if err := s.write(blobFile(ref), blob); err != nil {
		return "", fmt.Errorf("store blob %s: %w", ref, err)
	}
	return ref, nil
}

func (s *Store) write(name string, blob []byte) error {
	if old, err := s.root.ReadFile(name); err == nil && canon.Sum(old) == canon.Sum(blob) {
		return nil
	}
	if err := s.root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return err
	}
	temporary := name + "." + rand.Text()
	err := s.root.WriteFile(temporary, blob, 0o666)
	if err == nil {
		err = s.root.Rename(temporary, name)
	}
	if err != nil {
		_ = s.root.Remove(temporary) // may not be there
	}
	return err
}

// readBlob reads a blob and checks it against its name, whoever keeps it.
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

// PutJSON stores the canonical form of v, a value or a [json.RawMessage], and returns its ref.
// Numbers that a float64 does not hold are kept as package canon does (design R1).
func PutJSON(store *Store, v any) (canon.Hash, error) {
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

// ReadJSON reads a JSON blob into v, as [json.Unmarshal] does. It fails on a blob that is missing or
// altered, which is [ErrBlob], and on one that is not in the canonical form that [PutJSON] writes.
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
