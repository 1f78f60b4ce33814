package snapshot

import (
	"fmt"
	"os"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
)

// Prune removes the blobs that no record refers to, and returns their hashes, sorted. A record
// that is altered keeps every blob that it mentions.
func (s *Store) Prune() ([]canon.Hash, error) {
	var orphans []canon.Hash
	err := s.existing(func(root *os.Root) (err error) {
		if orphans, err = s.orphans(root); err != nil {
			return err
		}
		t := &transaction{root: root}
		for _, h := range orphans {
			t.remove(blobFile(h))
		}
		return t.apply()
	})
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	return orphans, nil
}

func (s *Store) orphans(root *os.Root) (orphans []canon.Hash, err error) {
	v := newVerifier(s, root)
	defer v.close()
	records, err := v.list()
	if err != nil {
		return nil, err
	}
	err = each(records, func(scratch *scratch, file string) error {
		if err := scratch.read(root, file); err != nil {
			return err
		}
		f, _ := scratch.facts(s.readBlob)
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, h := range f.blobs {
			delete(v.blobs, h)
		}
		return nil
	})
	for h := range v.blobs {
		orphans = append(orphans, h)
	}
	slices.Sort(orphans)
	return orphans, err
}
