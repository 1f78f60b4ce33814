package page

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unique"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Test names a test, where it is known.
type Test struct {
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
}

// TestOf returns the test whose calls a document holds. It shares no memory with the document.
func TestOf(doc *snapshot.Document) Test {
	from := &doc.Snapshots[0].Source
	return Test{unique.Make(from.Package).Value(), strings.Clone(from.Test)}
}

// Compare orders tests by package and name.
func (t Test) Compare(other Test) int {
	return cmp.Or(strings.Compare(t.Package, other.Package), strings.Compare(t.Test, other.Test))
}

// A Seal tells whether a document and its calls are what they were, without holding them.
type Seal struct {
	File  string // path in the store
	Test  Test
	Hash  canon.Hash
	Calls map[int]canon.Hash // by number

	Altered bool // what is beside the document is another than in the other state, though the document is the same
}

// SealOf returns the seal of the document in a file.
func SealOf(file string, doc *snapshot.Document) Seal {
	s := Seal{File: file, Test: TestOf(doc), Hash: doc.Hash, Calls: map[int]canon.Hash{}}
	for i := range doc.Snapshots {
		s.Calls[doc.Snapshots[i].Number()] = doc.Snapshots[i].Hash
	}
	return s
}

// The fate of a document, or of a call.
const (
	added   = "added"
	changed = "changed"
	removed = "removed"
	moved   = "moved"
)

var kinds = []string{added, changed, removed}

// A Change is what became of a document between two states of a store.
type Change struct {
	Change string `json:"change"` // added, changed or removed
	File   string `json:"file"`
	Name   string `json:"-"` // of the document
	Test
	Calls Calls `json:"calls"`

	from    string // the directory before, where both states have the document
	Altered []int  `json:"-"` // the changed calls whose records are the same, and what is beside them is not
}

// Calls are the numbers of calls by what became of their records: added, changed or removed. A call that continues another says
// what that says, and has a record that stays where only that changed.
type Calls map[string][]int

// String returns the change as a line.
func (c Change) String() string {
	var text strings.Builder
	text.WriteString(c.Change + " " + c.File)
	if c.Test.Test != "" {
		text.WriteString("  " + c.Test.Test + " in " + c.Package)
	}
	for _, kind := range kinds {
		if n := len(c.Calls[kind]); n > 0 && c.Change == changed {
			text.WriteString(", " + Count(n, "record", "records") + " " + kind)
		}
	}
	return text.String()
}

// Changes compares two states of a store, whose seals it takes by the documents' names, and returns
// what differs, in the order of the names.
func Changes(before, after map[string]Seal) []Change {
	changes := []Change{}
	both(before, after, func(name string, kind string) {
		b, a := before[name], after[name]
		if kind == changed && b.Hash == a.Hash && b.File == a.File && !b.Altered {
			return
		}
		c := Change{Change: kind, File: cmp.Or(a.File, b.File), Name: name, Test: cmp.Or(a.Test, b.Test), Calls: Calls{}}
		if kind == changed {
			c.from = path.Dir(b.File)
		}
		both(b.Calls, a.Calls, func(n int, kind string) {
			if kind != changed || b.Calls[n] != a.Calls[n] {
				c.Calls[kind] = append(c.Calls[kind], n)
			}
		})
		changes = append(changes, c)
	})
	return changes
}

// providers returns who a call of the document asked, and asks; empty is the provider of a directory that has not changed.
func (c Change) providers(was, now *snapshot.Snapshot) (string, string) {
	if to := path.Dir(c.File); c.from != "" && c.from != to {
		return cmp.Or(was.Provider, c.from), cmp.Or(now.Provider, to)
	}
	return was.Provider, now.Provider
}

// both calls f for each key of two states, in order: those that both have may have changed.
func both[K cmp.Ordered, V any](before, after map[K]V, f func(key K, kind string)) {
	all := map[K]V{}
	maps.Copy(all, before)
	maps.Copy(all, after)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		_, was := before[key]
		_, is := after[key]
		switch {
		case !was:
			f(key, added)
		case !is:
			f(key, removed)
		default:
			f(key, changed)
		}
	}
}

// Tally spells how many changes there are of each kind.
func Tally(changes []Change) string {
	n := map[string]int{}
	for _, c := range changes {
		n[c.Change]++
	}
	return cmp.Or(strings.Join(Counts(kinds, n), ", "), "no document changed")
}
