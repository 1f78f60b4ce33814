package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Manifest lists the records of a store (SF "Manifest File"). It is derived from the documents: commits keep an
// existing one up to date, and only verify reads it (design R4).
type Manifest struct {
	CreatedAt time.Time `json:"created_at"` // time of the oldest record; earlier if a commit replaced that record
	UpdatedAt time.Time `json:"updated_at"` // time of the newest record; later if a commit removed that record
	Entries   []Entry   `json:"snapshots"`  // sorted by file and then in the document's order
}

// An Entry is a record's entry in a manifest.
type Entry struct {
	ID       string     `json:"id"`
	Provider string     `json:"provider"`
	File     string     `json:"file"` // path in the store, with forward slashes
	Hash     canon.Hash `json:"hash"`
}

// manifestDocuments is the maximum number of documents for which commits keep the manifest up to date, because each
// commit writes all of it.
const manifestDocuments = 100

// Encode returns the manifest with one line per entry.
func (m *Manifest) Encode() []byte {
	var b bytes.Buffer
	b.Grow(300 * (1 + len(m.Entries)))
	fmt.Fprintf(&b, "{\n  \"version\": %q,\n  \"created_at\": %q,\n  \"updated_at\": %q,\n  \"snapshots\": [\n",
		snapshot.Version, jsontext.Time(m.CreatedAt), jsontext.Time(m.UpdatedAt))
	for i, e := range m.Entries {
		if i > 0 {
			b.WriteString(",\n")
		}
		for _, text := range []string{
			`    {"id":"`, e.ID, `","provider":"`, e.Provider, `","file":"`, e.File, `","hash":"`, string(e.Hash), `"}`,
		} {
			b.WriteString(text) // names need no escaping
		}
	}
	fmt.Fprintf(&b, "\n  ],\n  \"hash\": %q\n}\n", m.combinedHash())
	return b.Bytes()
}

// Indented returns the manifest as printed by JSON.stringify with two spaces.
func (m *Manifest) Indented() []byte { return jsontext.Indented(m.Encode()) }

// combinedHash returns the correct hash of the manifest (SF "Combined Hash").
func (m *Manifest) combinedHash() canon.Hash {
	return snapshot.CombinedHash(snapshot.Version, len(m.Entries), func(i int) canon.Hash { return m.Entries[i].Hash })
}

// ParseManifest reads a manifest of any layout. It checks the manifest itself, not whether it matches the documents.
func ParseManifest(data []byte) (*Manifest, error) {
	text, err := jsontext.ParseStrict(data)
	if err != nil {
		return nil, err
	}
	said := text.Root()
	version, _ := said.Member("version").Text()
	if version != "" && version != snapshot.Version {
		return nil, cmp.Or(snapshot.CheckNewer(data), fmt.Errorf("is of version %q, must be %q", version, snapshot.Version))
	}
	m, records := &Manifest{}, said.Member("snapshots")
	created, updated := said.Member("created_at").Word(), said.Member("updated_at").Word()
	err = errors.Join(m.CreatedAt.UnmarshalText([]byte(created)), m.UpdatedAt.UnmarshalText([]byte(updated)))
	whole := err == nil && !m.CreatedAt.IsZero() && !m.UpdatedAt.IsZero()
	whole = whole && said.Len() == 5 && version != "" && said.Member("hash").IsString() && records.IsArray()
	for _, r := range records.Elements() {
		e := Entry{r.Member("id").Word(), r.Member("provider").Word(), r.Member("file").Word(),
			canon.Hash(r.Member("hash").Word())}
		whole = whole && r.Len() == 4 && e.plain()
		m.Entries = append(m.Entries, e)
	}
	if !whole {
		return nil, errors.New("must have the members that SF has, and nothing else")
	}
	if hash, want := said.Member("hash").Word(), m.combinedHash(); hash != string(want) {
		return nil, fmt.Errorf("has the hash %q, but its entries have %s", hash, want)
	}
	return m, nil
}

// replace replaces the entries of a document.
func (m *Manifest) replace(t *target) {
	next, file := make([]Entry, len(t.Document.Snapshots)), DocumentFile(t.Provider, t.Name)
	for i := range next {
		record := &t.Document.Snapshots[i]
		next[i] = Entry{snapshot.ID(t.Name, record.Number()), cmp.Or(record.Provider, t.Provider), file, record.Hash}
	}
	others := slices.DeleteFunc(m.Entries, func(e Entry) bool { return e.File == file })
	byFile := func(e Entry, file string) int { return cmp.Compare(e.File, file) }
	at, _ := slices.BinarySearchFunc(others, file, byFile)
	if len(others) == 0 {
		m.CreatedAt, m.UpdatedAt = time.Time{}, time.Time{} // they came from this document
	}
	m.Entries = slices.Insert(others, at, next...)
	m.Span(t.Document)
}

// Span extends the manifest's times to include those of a document's records.
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

// plain reports whether e contains nothing that JSON would escape.
func (e Entry) plain() bool {
	_, _, ok := ParseDocumentFile(e.File)
	_, _, isID := snapshot.ParseID(e.ID)
	return ok && isID && filename.Legal(e.Provider) && e.Hash.Valid()
}
