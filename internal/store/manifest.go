package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Manifest lists the records of a store (SF "Manifest File"). It is derived from the documents:
// commits keep one that is there up to date, and nothing but verify goes by it (design R4).
type Manifest struct {
	CreatedAt time.Time // of the oldest record; earlier if a commit replaced that
	UpdatedAt time.Time // of the newest record; later if a commit removed that
	Entries   []Entry   // sorted by file, and in the document's order
}

// An Entry is a record in a manifest.
type Entry struct {
	ID       string
	Provider string
	File     string // path in the store, with forward slashes
	Hash     canon.Hash
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
	root := text.Root()
	if err := snapshot.CheckNewer(data); err != nil {
		return nil, err
	}
	version, ok := root.Member("version").Text()
	if ok && version != snapshot.Version {
		return nil, fmt.Errorf("is of version %q, must be %q", version, snapshot.Version)
	}
	m := &Manifest{}
	var created, updated, hash string
	ok = ok && root.Member("snapshots").IsArray() && scan(root, map[string]*string{
		"version": &version, "created_at": &created, "updated_at": &updated, "snapshots": nil, "hash": &hash,
	})
	for _, element := range root.Member("snapshots").Elements() {
		var e Entry
		var seal string
		ok = ok && scan(element, map[string]*string{"id": &e.ID, "provider": &e.Provider, "file": &e.File, "hash": &seal})
		e.Hash = canon.Hash(seal)
		ok = ok && e.plain()
		m.Entries = append(m.Entries, e)
	}
	var wrong [2]error
	m.CreatedAt, wrong[0] = time.Parse(time.RFC3339Nano, created)
	m.UpdatedAt, wrong[1] = time.Parse(time.RFC3339Nano, updated)
	if !ok || errors.Join(wrong[:]...) != nil {
		return nil, errors.New("must have the members that SF has, and nothing else")
	}
	if want := m.combinedHash(); canon.Hash(hash) != want {
		return nil, fmt.Errorf("has the hash %q, but its entries have %s", hash, want)
	}
	return m, nil
}

// scan reads the strings of an object that has these members, and no others; nil means one that is no string.
func scan(object jsontext.Value, members map[string]*string) bool {
	ok := object.Len() == len(members)
	for name, to := range members {
		if to != nil {
			text, isText := object.Member(name).Text()
			*to, ok = strings.Clone(text), ok && isText
		}
	}
	return ok
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
