package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// RebuildManifest derives the manifest from the records' files alone, also where it is missing,
// malformed, or holds the conflict markers of a merge. All records must be intact: an error
// joins an [*Error] for each that is not, and leaves the manifest as it was. It is
// [fs.ErrNotExist] if there is no store.
func (s *Store) RebuildManifest() error {
	err := s.existing(func(root *os.Root) error {
		data, err := s.deriveManifest(root)
		if err != nil {
			return err
		}
		t := &transaction{root: root}
		switch old, err := root.ReadFile(manifestName); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case data == nil && err == nil:
			t.remove(manifestName)
		case data != nil && !bytes.Equal(old, data):
			t.write(manifestName, data)
		}
		return t.apply()
	})
	if err != nil {
		return fmt.Errorf("rebuild manifest: %w", err)
	}
	return nil
}

// rebuildManifest replaces the manifest by what deriveManifest returns, without a journal.
func (s *Store) rebuildManifest(root *os.Root) error {
	data, err := s.deriveManifest(root)
	if err != nil {
		return err
	}
	if data == nil {
		return removeIfAny(root, manifestName)
	}
	if err := root.WriteFile(manifestName+tempSuffix, data, 0o666); err != nil {
		return err
	}
	return root.Rename(manifestName+tempSuffix, manifestName)
}

// deriveManifest returns the bytes of the manifest that the records' files ask for; nil if
// there are no records.
func (s *Store) deriveManifest(root *os.Root) ([]byte, error) {
	v := newVerifier(s, root)
	defer v.close()
	var entries []Entry
	records, err := v.list()
	if err != nil {
		return nil, err
	}
	v.findings = nil // what does not belong in the store does not matter here
	err = each(records, func(scratch *scratch, file string) error {
		e, _ := entryOf(file)
		if err := scratch.read(v.dirs[e.Provider], path.Base(file)); err != nil {
			return err
		}
		got, found := scratch.examine()
		if found == nil && got.id != e.ID {
			found = []Violation{{"/snapshots/0/id", ruleName, "must be " + e.ID + " as the file's name says"}}
		}
		v.report(file, found...)
		v.mu.Lock()
		defer v.mu.Unlock()
		e.Hash = got.seal
		entries = append(entries, e)
		v.span.add(got.timestamp)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(v.findings) > 0 {
		return nil, s.errorsOf(v.findings)
	}
	if len(entries) == 0 {
		return nil, nil
	}
	slices.SortFunc(entries, compareEntries)
	m := Manifest{Version: Version, CreatedAt: v.span.oldest, UpdatedAt: v.span.newest, Snapshots: entries}
	m.Hash = m.combinedHash()
	return m.encode(), nil
}

// errorsOf joins an *Error for each file that has findings.
func (s *Store) errorsOf(findings []Finding) error {
	slices.SortFunc(findings, compareFindings)
	var errs []error
	var last *Error
	for _, f := range findings {
		if file := s.in(f.File); last == nil || last.File != file {
			last = &Error{File: file}
			errs = append(errs, last)
		}
		last.Violations = append(last.Violations, Violation{f.Pointer, f.Rule, f.Message})
	}
	return errors.Join(errs...)
}
