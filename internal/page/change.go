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

// A Test identifies a test, as far as it is known.
type Test struct {
	Package string `json:"package,omitempty"`
	Name    string `json:"test,omitempty"`
}

// TestOf returns the test of a document. It shares no memory with the document.
func TestOf(doc *snapshot.Document) Test {
	from := &doc.Snapshots[0].Source
	return Test{unique.Make(from.Package).Value(), strings.Clone(from.Test)}
}

// Compare orders tests by package and name.
func (t Test) Compare(other Test) int {
	return cmp.Or(strings.Compare(t.Package, other.Package), strings.Compare(t.Name, other.Name))
}

// A Seal identifies the content of a document and its calls, without containing it.
type Seal struct {
	File  string // path in the store
	Test  Test
	Hash  canon.Hash
	Calls map[int]canon.Hash // by number

	Altered bool  // the document is the same in the other state, but a file next to it differs
	Unread  error // why the document cannot be read; nil if it can
}

// SealOf returns the seal of the document in a file.
func SealOf(file string, doc *snapshot.Document) Seal {
	s := Seal{File: file, Test: TestOf(doc), Hash: doc.Hash, Calls: map[int]canon.Hash{}}
	for i := range doc.Snapshots {
		s.Calls[doc.Snapshots[i].Number()] = doc.Snapshots[i].Hash
	}
	return s
}

// Moved is the fate of a document with the same calls under another name. The other fates are those of package drift.
const Moved = "moved"

var fates = []string{drift.Added, drift.Changed, drift.Removed}

// A Change is what happened to a document between two states of a store.
type Change struct {
	Fate     string `json:"change"` // added, changed or removed; in diff and review also moved
	File     string `json:"file"`
	Document string `json:"-"` // the document's name
	Test
	Calls Calls `json:"calls"`

	from    string // the earlier directory, if both states have the document
	Altered []int  `json:"-"` // changed calls whose records are the same, but not the files next to them
}

// Calls are the numbers of calls by the fate of their records: added, changed or removed. If a call continues another
// one and only that one changed, its record stays the same.
type Calls map[string][]int

// has reports whether a call has a fate. The numbers of each fate are sorted.
func (c Calls) has(fate string, n int) bool {
	_, found := slices.BinarySearch(c[fate], n)
	return found
}

// String describes the change in one line.
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

// Changes compares two states of a store, given as seals by document name, and returns the differences sorted by name.
func Changes(before, after map[string]Seal) []Change {
	changes := []Change{}
	both(before, after, func(name, fate string) {
		b, a := before[name], after[name]
		if b.Hash == a.Hash && b.File == a.File && !b.Altered {
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

// providers returns the provider that a call of the document used, and the one that it uses now. Both are empty if the
// directory's provider has not changed.
func (c Change) providers(was, now *snapshot.Snapshot) (string, string) {
	if to := path.Dir(c.File); c.from != "" && c.from != to {
		return cmp.Or(was.Provider, c.from), cmp.Or(now.Provider, to)
	}
	return was.Provider, now.Provider
}

// both calls f for each key in two states, sorted, with its fate. Keys in both states count as changed.
func both[K cmp.Ordered, V any](before, after map[K]V, f func(key K, fate string)) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
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

// Tally formats the number of changes of each fate.
func Tally(changes []Change) string {
	n := map[string]int{}
	for _, c := range changes {
		n[c.Fate]++
	}
	return cmp.Or(strings.Join(Counts(fates, n), ", "), "no document changed")
}
