package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Test names a test, where it is known.
type Test struct {
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
}

// TestOf returns the test whose calls a document holds.
func TestOf(doc *snapshot.Document) Test {
	from := &doc.Snapshots[0].Source
	return Test{from.Package, from.Test}
}

// A Seal tells whether a document and its calls are what they were, without holding them.
type Seal struct {
	File  string // path in the store
	Test  Test
	Hash  canon.Hash
	Calls map[int]canon.Hash // by number
}

// SealOf returns the seal of the document in a file.
func SealOf(file string, doc *snapshot.Document) Seal {
	s := Seal{file, TestOf(doc), doc.Hash, map[int]canon.Hash{}}
	for i := range doc.Snapshots {
		s.Calls[doc.Snapshots[i].Number()] = doc.Snapshots[i].Hash
	}
	return s
}

// A Change is what became of a document between two states of a store.
type Change struct {
	Change string `json:"change"` // added, changed or removed
	File   string `json:"file"`
	Name   string `json:"-"` // of the document
	Test
	Calls Calls `json:"calls"`
}

// Calls are the numbers of calls that were added, changed and removed.
type Calls struct {
	Added   []int `json:"added,omitempty"`
	Changed []int `json:"changed,omitempty"`
	Removed []int `json:"removed,omitempty"`
}

// String returns the change as a line.
func (c Change) String() string {
	text := c.Change + " " + c.File
	if c.Test.Test != "" {
		text += "  " + c.Test.Test + " in " + c.Package
	}
	if c.Change != "changed" {
		return text
	}
	for _, calls := range []struct {
		word    string
		numbers []int
	}{{"added", c.Calls.Added}, {"changed", c.Calls.Changed}, {"removed", c.Calls.Removed}} {
		if len(calls.numbers) > 0 {
			text += ", " + Count(len(calls.numbers), "call", "calls") + " " + calls.word
		}
	}
	return text
}

// Changes compares two states of a store, whose seals it takes by the documents' names, and returns
// what differs, in the order of the names.
func Changes(before, after map[string]Seal) []Change {
	names := map[string]Seal{}
	maps.Copy(names, before)
	maps.Copy(names, after)
	changes := []Change{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b, wasThere := before[name]
		a, isThere := after[name]
		c := Change{"changed", names[name].File, name, names[name].Test, changedCalls(b.Calls, a.Calls)}
		switch {
		case !wasThere:
			c.Change = "added"
		case !isThere:
			c.Change = "removed"
		case b.Hash == a.Hash && b.File == a.File:
			continue
		}
		changes = append(changes, c)
	}
	return changes
}

func changedCalls(before, after map[int]canon.Hash) Calls {
	var c Calls
	for _, n := range slices.Sorted(maps.Keys(after)) {
		switch hash, was := before[n]; {
		case !was:
			c.Added = append(c.Added, n)
		case hash != after[n]:
			c.Changed = append(c.Changed, n)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(before)) {
		if _, is := after[n]; !is {
			c.Removed = append(c.Removed, n)
		}
	}
	return c
}

// Tally spells how many changes there are of each kind.
func Tally(changes []Change) string {
	n := map[string]int{}
	for _, c := range changes {
		n[c.Change]++
	}
	var parts []string
	for _, kind := range []string{"added", "changed", "removed"} {
		if n[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[kind], kind))
		}
	}
	if len(parts) == 0 {
		return "no document changed"
	}
	return strings.Join(parts, ", ")
}
