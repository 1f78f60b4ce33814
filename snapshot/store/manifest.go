package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/internal/filename"
)

// A manifest lists the records of a store (SF "Manifest File"). It is derived from the documents,
// and nothing but verify reads it (design R4).
type manifest struct {
	CreatedAt time.Time // of the oldest record; earlier if a commit replaced that
	UpdatedAt time.Time // of the newest record; later if a commit removed that
	Entries   []entry   // sorted by file, and in the document's order
	Hash      canon.Hash
}

// An entry is a record in a manifest.
type entry struct {
	ID       string
	Provider string
	File     string // path in the store, with forward slashes
	Hash     canon.Hash
}

// manifestDocuments is how many documents a store has at most whose manifest is kept up to date by
// commits: each writes it whole.
const manifestDocuments = 1000

// A layout is one of the two in which a manifest is written: by this package, a line for each entry,
// and as JSON.stringify with two spaces prints it.
type layout struct{ open, next, close string }

var (
	lines    = layout{`    {`, `,`, `}`}
	indented = layout{"    {\n      ", ",\n      ", "\n    }"}
)

func (m *manifest) encode() []byte { return m.encodeAs(lines) }

func (m *manifest) encodeAs(l layout) []byte {
	colon := `:`
	if l == indented {
		colon = `: `
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"version\": %q,\n  \"created_at\": %q,\n  \"updated_at\": %q,\n  \"snapshots\": [\n",
		snapshot.Version, formatTime(m.CreatedAt), formatTime(m.UpdatedAt))
	for i, e := range m.Entries {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(l.open)
		members := [...][2]string{{"id", e.ID}, {"provider", e.Provider}, {"file", e.File}, {"hash", string(e.Hash)}}
		for j, member := range members {
			if j > 0 {
				b.WriteString(l.next)
			}
			b.WriteString(`"` + member[0] + `"` + colon + `"` + member[1] + `"`) // names need no escapes
		}
		b.WriteString(l.close)
	}
	fmt.Fprintf(&b, "\n  ],\n  \"hash\": %q\n}\n", m.combinedHash())
	return []byte(b.String())
}

// formatTime returns t as documents have it.
func formatTime(t time.Time) string {
	if t.Nanosecond() < int(time.Millisecond) {
		return t.UTC().Format("2006-01-02T15:04:05Z")
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// combinedHash returns the hash that the manifest must have (SF "Combined Hash").
func (m *manifest) combinedHash() canon.Hash {
	seals := make(snapshot.Seals, len(m.Entries))
	for i, e := range m.Entries {
		seals[i] = e.Hash
	}
	return seals.Combined()
}

// parseManifest reads a manifest of any layout. It checks the manifest itself, and not what it says
// of documents.
func parseManifest(data []byte) (*manifest, error) {
	text, err := jsontext.ParseStrict(data)
	if err != nil {
		return nil, err
	}
	root := text.Root()
	version, ok := root.Member("version").Text()
	if ok && version != snapshot.Version {
		return nil, fmt.Errorf("is of version %q, must be %q", version, snapshot.Version)
	}
	m := &manifest{}
	ok = ok && root.Len() == 5 && root.Member("snapshots").IsArray() && scanText(root.Member("hash"), &m.Hash) &&
		scanTime(root.Member("created_at"), &m.CreatedAt) && scanTime(root.Member("updated_at"), &m.UpdatedAt)
	for _, element := range root.Member("snapshots").Elements() {
		var e entry
		ok = ok && element.Len() == 4 &&
			scanText(element.Member("id"), &e.ID) && scanText(element.Member("provider"), &e.Provider) &&
			scanText(element.Member("file"), &e.File) && scanText(element.Member("hash"), &e.Hash) && e.plain()
		m.Entries = append(m.Entries, e)
	}
	if !ok {
		return nil, errors.New("must have the members that SF has, and nothing else")
	}
	if want := m.combinedHash(); m.Hash != want {
		return nil, fmt.Errorf("has the hash %q, but its entries have %s", m.Hash, want)
	}
	return m, nil
}

func scanText[T ~string](v jsontext.Value, to *T) bool {
	text, ok := v.Text()
	*to = T(strings.Clone(text))
	return ok
}

func scanTime(v jsontext.Value, to *time.Time) bool {
	text, _ := v.Text()
	at, err := time.Parse(time.RFC3339Nano, text)
	*to = at
	return err == nil
}

// entriesOf returns the entries of a document.
func entriesOf(provider, name string, d *snapshot.Document) []entry {
	entries := make([]entry, len(d.Snapshots))
	file := documentFile(provider, name)
	for i := range d.Snapshots {
		record := &d.Snapshots[i]
		entries[i] = entry{snapshot.ID(name, record.Number()), provider, file, record.Hash}
	}
	return entries
}

// replace puts the entries of a document in the place of those that it had.
func (m *manifest) replace(t *target) {
	next := entriesOf(t.Provider, t.Name, t.Document)
	others := slices.DeleteFunc(m.Entries, func(e entry) bool { return e.File == next[0].File })
	byFile := func(e entry, file string) int { return cmp.Compare(e.File, file) }
	at, _ := slices.BinarySearchFunc(others, next[0].File, byFile)
	if len(others) == 0 {
		m.CreatedAt, m.UpdatedAt = time.Time{}, time.Time{} // they were those of this document
	}
	m.Entries = slices.Insert(others, at, next...)
	m.span(t.Document)
}

// span widens the manifest's times to hold those of a document's records.
func (m *manifest) span(d *snapshot.Document) {
	for i := range d.Snapshots {
		at := d.Snapshots[i].Timestamp.UTC().Truncate(time.Millisecond)
		if m.CreatedAt.IsZero() || at.Before(m.CreatedAt) {
			m.CreatedAt = at
		}
		if at.After(m.UpdatedAt) {
			m.UpdatedAt = at
		}
	}
}

// plain reports whether e has nothing that JSON would escape.
func (e entry) plain() bool {
	_, _, ok := parseDocumentFile(e.File)
	return ok && filename.Legal(e.ID) && filename.Legal(e.Provider) && e.Hash.Valid()
}

// documents returns how many documents the manifest lists.
func (m *manifest) documents() int {
	n := 0
	for i := range m.Entries {
		if i == 0 || m.Entries[i].File != m.Entries[i-1].File {
			n++
		}
	}
	return n
}

// WriteManifest derives the manifest from the documents. All of them must be intact: an error joins
// an [*snapshot.Error] for each that is not, and leaves the manifest as it was. The error is
// [fs.ErrNotExist] if there is no store.
func (s *Store) WriteManifest() error {
	return s.existing("write manifest", func(w within) error { return s.writeManifest(w) })
}

// existing calls f as exclusively does, if there is a store.
func (s *Store) existing(what string, f func(within) error) error {
	_, err := os.Stat(s.dir)
	if err == nil {
		err = s.exclusively(f)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

func (s *Store) writeManifest(w within) error {
	v := &verifier{store: s}
	if err := v.documents(); err != nil {
		return err
	}
	if len(v.broken) > 0 {
		return s.errorsOf(v.broken)
	}
	m := &v.manifest
	t := &transaction{within: w}
	if data := m.encode(); len(m.Entries) > 0 && !w.has(manifestName, data) {
		t.write(manifestName, data)
	} else if len(m.Entries) == 0 {
		if _, err := w.root.Lstat(manifestName); err == nil {
			if err := t.remove(manifestName); err != nil {
				return err
			}
		}
	}
	return t.apply()
}

// errorsOf joins an error for each file that has findings.
func (s *Store) errorsOf(findings []snapshot.Finding) error {
	slices.SortFunc(findings, snapshot.Finding.Compare)
	var errs []error
	var last *snapshot.Error
	for _, f := range findings {
		if file := s.in(f.File); last == nil || last.File != file {
			last = &snapshot.Error{File: file}
			errs = append(errs, last)
		}
		last.Violations = append(last.Violations, snapshot.Violation{Pointer: f.Pointer, Rule: f.Rule, Message: f.Message})
	}
	return errors.Join(errs...)
}
