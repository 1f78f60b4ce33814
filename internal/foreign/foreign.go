// Package foreign turns recordings of other programs into documents of a store. It reads documents in the layout of the
// Snapshot Format Specification, and TraceForge's cassettes.
package foreign

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Call is a call from a file of another layout.
type Call struct {
	File     string // the file that contains it
	Snapshot snapshot.Snapshot
	Beside   map[canon.Hash][]byte // the answer's bytes, which replay serves, and media
}

// A Document is a document made from such calls.
type Document struct {
	store.Put
	Files []string // the files of its calls, sorted
}

// Documents makes documents from calls: one for each test, and one for each function if no test is named. The calls are
// in the order of their times. The source of each names what it was migrated from, so no determinism rule applies to it
// (design R7).
func Documents(calls []Call) []Document {
	calls = slices.Clone(calls)
	slices.SortStableFunc(calls, func(a, b Call) int {
		return cmp.Or(a.Snapshot.Timestamp.Compare(b.Snapshot.Timestamp), cmp.Compare(a.File, b.File))
	})
	byName := map[string][]Call{}
	for _, c := range calls {
		name := documentName(&c.Snapshot.Source)
		byName[name] = append(byName[name], c)
	}
	var all []Document
	for name, of := range byName {
		all = append(all, documentOf(name, of))
	}
	slices.SortFunc(all, func(a, b Document) int { return cmp.Compare(a.File(), b.File()) })
	return all
}

// documentName returns the name of the document for a test, or for a function of a file.
func documentName(s *snapshot.Source) string {
	if s.Test != "" {
		return snapshot.DocumentName(s.Package, s.Test)
	}
	return snapshot.DocumentName(s.File, s.Function)
}

// File returns the document's path in a store.
func (d *Document) File() string { return path.Join(d.Provider, d.Name+".json") }

// documentOf makes a document from calls, which become its records in order.
func documentOf(name string, calls []Call) (d Document) {
	var records []snapshot.Snapshot
	beside := map[canon.Hash][]byte{}
	for i, c := range calls {
		s, n := c.Snapshot, i+1
		from := recorder.MigratedFrom + c.File
		if s.ID != "" {
			from += ", record " + s.ID
		}
		s.Source.Origin = cmp.Or(s.Source.Origin, from)
		s.ID, s.Continues, s.Hash = snapshot.ID(name, n), nil, ""
		records = append(records, s)
		maps.Copy(beside, c.Beside)
		d.Files = append(d.Files, c.File)
	}
	d.Put = store.PutOf(name, records)
	d.Beside = beside
	slices.Sort(d.Files)
	d.Files = slices.Compact(d.Files)
	return d
}
