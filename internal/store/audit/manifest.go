package audit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/conflict"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// WriteManifest derives the manifest from the documents. If any are broken, the error joins an [*snapshot.Error] for
// each, and the manifest is not changed. The error is [fs.ErrNotExist] if there is no store.
func WriteManifest(s *store.Store) error {
	return existing(s, "write manifest", func(w store.Writer) error { return writeManifest(s, w) })
}

// existing is [store.Store.Exclusively] for a store that must exist. It also removes what processes left that were
// killed before they had the lock.
func existing(s *store.Store, what string, f func(store.Writer) error) error {
	err := isThere(s)
	if err == nil {
		err = s.Exclusively(func(w store.Writer) error {
			s.RemoveProbes()
			return f(w)
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func writeManifest(s *store.Store, w store.Writer) error {
	was, _ := w.Read(store.ManifestName) // nil without a manifest
	if err := snapshot.CheckNewer(was); err != nil {
		return fmt.Errorf("%s: %w", s.Shown(store.ManifestName), err)
	}
	v := &verifier{store: s}
	if v.documents(); v.failed != nil {
		return v.failed
	}
	for _, f := range v.result.Findings {
		if _, _, ok := store.ParseDocumentFile(f.File); ok && f.Rule == snapshot.RuleStray {
			v.broken = append(v.broken, f) // a link to a document: its records would be left out
		}
	}
	if len(v.broken) > 0 {
		return errorsOf(s, v.broken)
	}
	m := &v.manifest
	m.Entries = slices.Collect(v.entries())
	t := s.Begin(w)
	if err := t.PutManifest(m, was); err != nil {
		return err
	}
	return t.Apply()
}

// isThere returns an error if there is no store, or if it is a link. A pull request may bring the link, together with
// files that make any directory look like a store, and files there would be removed that git does not have.
func isThere(s *store.Store) error {
	_, err := os.Stat(s.Path(""))
	if _, noLink := os.Readlink(s.Path("")); err == nil && noLink == nil {
		err = &fs.PathError{Op: "open", Path: s.Dir(), Err: store.ErrLinked}
	}
	return err
}

// errorsOf joins an error for each file with findings.
func errorsOf(s *store.Store, findings []snapshot.Finding) error {
	inorder.By(findings, snapshot.Finding.Compare)
	var errs []error
	var last *snapshot.Error
	for _, f := range findings {
		if file := s.Shown(f.File); last == nil || last.File != file {
			last = &snapshot.Error{File: file}
			errs = append(errs, last)
		}
		last.Violations = append(last.Violations, snapshot.Violation{Pointer: f.Pointer, Rule: f.Rule, Message: f.Message})
	}
	return errors.Join(errs...)
}

// checkManifest compares the manifest, if there is one, with the documents.
func (v *verifier) checkManifest() {
	data, err := v.store.Read(store.ManifestName)
	if errors.Is(err, fs.ErrNotExist) || !v.couldRead(store.ManifestName, err) {
		return
	}
	violation := v.manifestViolation(data)
	found := findingOf(store.ManifestName, violation)
	switch {
	case violation.Rule == "":
	case violation.Rule == snapshot.RuleBehind && (violation.Pointer != "" || !tracked(v.store, store.ManifestName)):
		if _, err := v.store.Git("check-ignore", "--quiet", store.ManifestName); err == nil {
			return // git ignores it: nobody else reads it
		}
		v.result.Notes = append(v.result.Notes, found)
	default:
		v.result.Findings = append(v.result.Findings, found)
	}
}

// wrongManifest returns a violation of the manifest.
func wrongManifest(rule, pointer, format string, args ...any) snapshot.Violation {
	message := fmt.Sprintf(format, args...) + ": traceforge repair --manifest writes it"
	return snapshot.Violation{Pointer: pointer, Rule: rule, Message: message}
}

// manifestViolation returns what is wrong with a manifest. It returns one of several violations, because one command
// fixes all.
func (v *verifier) manifestViolation(data []byte) snapshot.Violation {
	m, err := store.ParseManifest(data)
	var newer *snapshot.Error
	switch line, kinds := conflict.Line(data); {
	case err != nil && kinds == 3:
		return wrongManifest(snapshot.RuleConflict, "", "line %d is a conflict marker of a merge", line)
	case errors.As(err, &newer):
		return newer.Violations[0]
	case err != nil:
		return wrongManifest(snapshot.RuleManifest, "", "%v", err)
	case !bytes.Equal(data, m.Encode()) && !bytes.Equal(data, m.Indented()):
		return wrongManifest(snapshot.RuleManifest, "", "is not laid out as traceforge or SF write it")
	case len(v.broken) > 0:
		return snapshot.Violation{} // the correct content is unknown
	}
	if violation := v.behind(m); violation.Rule != "" {
		return violation
	}
	return cmp.Or(
		wrongTime("/created_at", "oldest", m.CreatedAt, v.manifest.CreatedAt, m.CreatedAt.Compare(v.manifest.CreatedAt)),
		wrongTime("/updated_at", "newest", m.UpdatedAt, v.manifest.UpdatedAt, v.manifest.UpdatedAt.Compare(m.UpdatedAt)),
	)
}

// wrongTime returns a violation for a time that differs from that of its record. If narrower is positive, a record is
// outside of the manifest's times; if it is negative, the manifest is out of date.
func wrongTime(pointer, which string, is, of time.Time, narrower int) snapshot.Violation {
	rule := snapshot.RuleManifest
	switch {
	case narrower == 0:
		return snapshot.Violation{}
	case narrower < 0:
		rule = snapshot.RuleBehind
	}
	return wrongManifest(rule, pointer, "is %s, but the %s record is of %s", jsontext.Time(is), which, jsontext.Time(of))
}

// behind returns a violation if the manifest lists other records than there are, with an empty rule if there is none. A
// record's hash covers its id, so a record with another id or in another file was altered.
func (v *verifier) behind(m *store.Manifest) (wrong snapshot.Violation) {
	places := make(map[canon.Hash]int, len(m.Entries)) // listed records that are still to be found
	for i, e := range m.Entries {
		places[e.Hash] = i
	}
	next, added := 0, 0
	for is := range v.entries() {
		if next < len(m.Entries) && m.Entries[next] == is { // in order so far
			next++
		}
		i, ok := places[is.Hash]
		if !ok {
			added++
			continue
		}
		delete(places, is.Hash)
		e := m.Entries[i]
		if wrong.Rule != "" || e == is {
			continue
		}
		switch pointer := jsontext.PointerTo("snapshots", strconv.Itoa(i)); {
		case e.ID != is.ID:
			wrong = wrongManifest(snapshot.RuleManifest, pointer, "has the id %q, but the record with that hash is %s",
				e.ID, is.ID)
		case e.File != is.File:
			wrong = wrongManifest(snapshot.RuleManifest, pointer+"/file", "is %q, but the record is in %s", e.File, is.File)
		default:
			wrong = wrongManifest(snapshot.RuleManifest, pointer+"/provider", "is %q, but the record's is %q", e.Provider,
				is.Provider)
		}
	}
	if wrong.Rule != "" || added == 0 && next == len(m.Entries) {
		return wrong
	}
	return wrongManifest(snapshot.RuleBehind, "",
		"records that it lists and that are not there any more or have changed: %d, new ones: %d", len(places), added)
}
