// Package foreign turns recordings of other programs into documents of a store. It reads documents in the layout of
// the Snapshot Format Specification itself, and TraceForge's cassettes.
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

// A Call is one call that a file of another layout has.
type Call struct {
	File     string // that has it
	Snapshot snapshot.Snapshot
	Beside   map[canon.Hash][]byte // the answer's bytes, without which replay has nothing to serve, and media
}

// A Document is one that was made of such calls.
type Document struct {
	store.Put
	Files []string // that its calls are from, sorted
}

// Documents makes documents of calls: one of each test, and of each function where no test is named. The calls are in
// the order of their times, and each says in its source what it was migrated from, which is why nobody asks whether
// it is deterministic (design R7).
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

// documentName returns the name of the document of a test, or of a function of a file.
func documentName(s *snapshot.Source) string {
	if s.Test != "" {
		return snapshot.DocumentName(s.Package, s.Test)
	}
	return snapshot.DocumentName(s.File, s.Function)
}

// File returns the path of the document in a store.
func (d *Document) File() string { return path.Join(d.Provider, d.Name+".json") }

// documentOf makes the document of calls, which are its records in their order.
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
