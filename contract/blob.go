package contract

import (
	"encoding/json"
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Blobs is content by hash. A [*snapshot.Store] has blobs, and so has a [*Recorded].
type Blobs interface {
	Blob(ref canon.Hash) ([]byte, error)
}

// readBlob reads a blob and checks it against its name, whoever keeps it.
func readBlob(blobs Blobs, ref canon.Hash) ([]byte, error) {
	data, err := blobs.Blob(ref)
	if err != nil {
		return nil, err
	}
	if got := canon.Sum(data); got != ref {
		return nil, fmt.Errorf("%w: %s has the hash %s", snapshot.ErrBlob, ref, got)
	}
	return data, nil
}

// PutJSON stores the canonical form of v, a value or a [json.RawMessage], and returns its ref.
// Numbers that a float64 does not hold are kept as package canon does (design R1).
//
// The store should be one of its own: in a store of snapshots a blob that no record names is
// a finding of Verify.
func PutJSON(store *snapshot.Store, v any) (canon.Hash, error) {
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
// altered, which is [snapshot.ErrBlob], and on one that is not in the canonical form that
// [PutJSON] writes.
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
