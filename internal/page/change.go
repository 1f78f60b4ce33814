package page

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unique"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Test names a test, where it is known.
type Test struct {
	Package string `json:"package,omitempty"`
	Name    string `json:"test,omitempty"`
}

// TestOf returns the test whose calls a document holds. It shares no memory with the document.
func TestOf(doc *snapshot.Document) Test {
	from := &doc.Snapshots[0].Source
	return Test{unique.Make(from.Package).Value(), strings.Clone(from.Test)}
}

// Compare orders tests by package and name.
func (t Test) Compare(other Test) int {
	return cmp.Or(strings.Compare(t.Package, other.Package), strings.Compare(t.Name, other.Name))
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

// Moved is the fate of a document that is the same calls under another name. Others are those of package drift.
const Moved = "moved"

var fates = []string{drift.Added, drift.Changed, drift.Removed}

// A Change is what became of a document between two states of a store.
type Change struct {
	Fate     string `json:"change"` // added, changed or removed; in diff and review also moved
	File     string `json:"file"`
	Document string `json:"-"` // its name
	Test
	Calls Calls `json:"calls"`

	from    string // the directory before, where both states have the document
	Altered []int  `json:"-"` // the changed calls whose records are the same, and what is beside them is not
}

// Calls are the numbers of calls by the fate of their records: added, changed or removed. A call that continues another says
// what that says, and has a record that stays where only that changed.
type Calls map[string][]int

// String returns the change as a line.
func (c Change) String() string {
	var text strings.Builder
	text.WriteString(c.Fate + " " + c.File)
	if c.Test.Name != "" {
		text.WriteString("  " + c.Test.Name + " in " + c.Package)
	}
	for _, fate := range fates {
		if n := len(c.Calls[fate]); n > 0 && c.Fate == drift.Changed {
			text.WriteString(", " + Count(n, "record", "records") + " " + fate)
		}
	}
	return text.String()
}

// Changes compares two states of a store, whose seals it takes by the documents' names, and returns
// what differs, in the order of the names.
func Changes(before, after map[string]Seal) []Change {
	changes := []Change{}
	both(before, after, func(name, fate string) {
		b, a := before[name], after[name]
		if fate == drift.Changed && b.Hash == a.Hash && b.File == a.File && !b.Altered {
			return
		}
		c := Change{Fate: fate, File: cmp.Or(a.File, b.File), Document: name, Test: cmp.Or(a.Test, b.Test), Calls: Calls{}}
		if fate == drift.Changed {
			c.from = path.Dir(b.File)
		}
		both(b.Calls, a.Calls, func(n int, fate string) {
			if fate != drift.Changed || b.Calls[n] != a.Calls[n] {
				c.Calls[fate] = append(c.Calls[fate], n)
			}
		})
		changes = append(changes, c)
	})
	return changes
}

// providers returns who a call of the document asked, and asks; empty is the provider of a directory that has not
// changed.
func (c Change) providers(was, now *snapshot.Snapshot) (string, string) {
	if to := path.Dir(c.File); c.from != "" && c.from != to {
		return cmp.Or(was.Provider, c.from), cmp.Or(now.Provider, to)
	}
	return was.Provider, now.Provider
}

// both calls f for each key of two states, in order, with its fate. What both have counts as changed.
func both[K cmp.Ordered, V any](before, after map[K]V, f func(key K, fate string)) {
	all := map[K]V{}
	maps.Copy(all, before)
	maps.Copy(all, after)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		_, was := before[key]
		_, is := after[key]
		switch {
		case !was:
			f(key, drift.Added)
		case !is:
			f(key, drift.Removed)
		default:
			f(key, drift.Changed)
		}
	}
}

// Tally spells how many changes there are of each fate.
func Tally(changes []Change) string {
	n := map[string]int{}
	for _, c := range changes {
		n[c.Fate]++
	}
	return cmp.Or(strings.Join(Counts(fates, n), ", "), "no document changed")
}
