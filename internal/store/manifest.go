package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Manifest lists the records of a store (SF "Manifest File"). It is derived from the documents:
// commits keep one that is there up to date, and nothing but verify goes by it (design R4).
type Manifest struct {
	CreatedAt time.Time `json:"created_at"` // of the oldest record; earlier if a commit replaced that
	UpdatedAt time.Time `json:"updated_at"` // of the newest record; later if a commit removed that
	Entries   []Entry   `json:"snapshots"`  // sorted by file, and in the document's order
}

// An Entry is a record in a manifest.
type Entry struct {
	ID       string     `json:"id"`
	Provider string     `json:"provider"`
	File     string     `json:"file"` // path in the store, with forward slashes
	Hash     canon.Hash `json:"hash"`
}

// manifestDocuments is how many documents a store has at most whose manifest is kept up to date by
// commits: each writes it whole.
const manifestDocuments = 100

// Encode returns the manifest with a line for each entry.
func (m *Manifest) Encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"version\": %q,\n  \"created_at\": %q,\n  \"updated_at\": %q,\n  \"snapshots\": [\n",
		snapshot.Version, jsontext.Time(m.CreatedAt), jsontext.Time(m.UpdatedAt))
	for i, e := range m.Entries {
		if i > 0 {
			b.WriteString(",\n")
		}
		// Names need no escapes.
		fmt.Fprintf(&b, `    {"id":"%s","provider":"%s","file":"%s","hash":"%s"}`, e.ID, e.Provider, e.File, e.Hash)
	}
	fmt.Fprintf(&b, "\n  ],\n  \"hash\": %q\n}\n", m.combinedHash())
	return b.Bytes()
}

// Indented returns the manifest as JSON.stringify with two spaces prints it.
func (m *Manifest) Indented() []byte { return jsontext.Indented(m.Encode()) }

// combinedHash returns the hash that the manifest must have (SF "Combined Hash").
func (m *Manifest) combinedHash() canon.Hash {
	seals := make(snapshot.Seals, len(m.Entries))
	for i, e := range m.Entries {
		seals[i] = e.Hash
	}
	return seals.Combined(snapshot.Version)
}

// ParseManifest reads a manifest of any layout. It checks the manifest itself, and not what it says
// of documents.
func ParseManifest(data []byte) (*Manifest, error) {
	text, err := jsontext.ParseStrict(data)
	if err != nil {
		return nil, err
	}
	if err := snapshot.CheckNewer(data); err != nil {
		return nil, err
	}
	if version, ok := text.Root().Member("version").Text(); ok && version != snapshot.Version {
		return nil, fmt.Errorf("is of version %q, must be %q", version, snapshot.Version)
	}
	var said struct {
		Version string `json:"version"`
		Manifest
		Hash canon.Hash `json:"hash"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	err, m := decoder.Decode(&said), &said.Manifest
	if err != nil || said.Version == "" || m.Entries == nil || m.CreatedAt.IsZero() || m.UpdatedAt.IsZero() ||
		slices.ContainsFunc(m.Entries, func(e Entry) bool { return !e.plain() }) {
		return nil, errors.New("must have the members that SF has, and nothing else")
	}
	if want := m.combinedHash(); said.Hash != want {
		return nil, fmt.Errorf("has the hash %q, but its entries have %s", said.Hash, want)
	}
	return m, nil
}

// entriesOf returns the entries of a document.
func entriesOf(provider, name string, d *snapshot.Document) []Entry {
	entries := make([]Entry, len(d.Snapshots))
	file := DocumentFile(provider, name)
	for i := range d.Snapshots {
		record := &d.Snapshots[i]
		entries[i] = Entry{snapshot.ID(name, record.Number()), cmp.Or(record.Provider, provider), file, record.Hash}
	}
	return entries
}

// replace puts the entries of a document in the place of those that it had.
func (m *Manifest) replace(t *target) {
	next := entriesOf(t.Provider, t.Name, t.Document)
	others := slices.DeleteFunc(m.Entries, func(e Entry) bool { return e.File == next[0].File })
	byFile := func(e Entry, file string) int { return cmp.Compare(e.File, file) }
	at, _ := slices.BinarySearchFunc(others, next[0].File, byFile)
	if len(others) == 0 {
		m.CreatedAt, m.UpdatedAt = time.Time{}, time.Time{} // they were those of this document
	}
	m.Entries = slices.Insert(others, at, next...)
	m.Span(t.Document)
}

// Span widens the manifest's times to hold those of a document's records.
func (m *Manifest) Span(d *snapshot.Document) {
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
func (e Entry) plain() bool {
	_, _, ok := ParseDocumentFile(e.File)
	_, _, isID := snapshot.ParseID(e.ID)
	return ok && isID && filename.Legal(e.Provider) && e.Hash.Valid()
}
