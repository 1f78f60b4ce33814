package main

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A change is what became of a record's file between two states of a store.
type change struct {
	Change string `json:"change"` // added, changed or removed
	File   string `json:"file"`   // below the store's directory, as messages name it
	ID     string `json:"id"`
	testOf
}

// A testOf names the test that a record is of, where that is known.
type testOf struct {
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
}

func (c change) String() string {
	text := c.Change + " " + c.File
	if c.Test != "" {
		text += "  " + c.Test + " in " + c.Package
	}
	return text
}

// seals returns the seals of the records that the manifest lists, by file.
func seals(store *snapshot.Store) (map[string]canon.Hash, error) {
	listed := map[string]canon.Hash{}
	for e, err := range store.All() {
		if err != nil {
			return nil, err
		}
		listed[e.File] = e.Hash
	}
	return listed, nil
}

// changes compares the seals of two states of the store in dir, and returns what differs, by file.
func changes(dir string, before, after map[string]canon.Hash) []change {
	all := map[string]bool{}
	for file := range before {
		all[file] = true
	}
	for file := range after {
		all[file] = true
	}
	differ := []change{}
	for _, file := range slices.Sorted(maps.Keys(all)) {
		c := change{"changed", path.Join(filepath.ToSlash(dir), file), strings.TrimSuffix(path.Base(file), ".json"), testOf{}}
		switch {
		case before[file] == after[file]:
			continue
		case before[file] == "":
			c.Change = "added"
		case after[file] == "":
			c.Change = "removed"
		}
		differ = append(differ, c)
	}
	return differ
}

// attribute names the test of each change, of those that ended. The id tells it (design R4), so
// that also of a record that is gone the test is known.
func attribute(differ []change, ended outcomes) {
	byID := map[string][]*change{}
	ordinals := map[int]bool{}
	for i, c := range differ {
		byID[c.ID] = append(byID[c.ID], &differ[i])
		ordinals[ordinalOf(c.ID)] = true
	}
	for name := range ended {
		for n := range ordinals {
			for _, c := range byID[snapshot.ID(name.Package, name.Test, n)] {
				c.testOf = testOf(name)
			}
		}
	}
}

// ordinalOf returns the n of an id, 0 if it has none.
func ordinalOf(id string) int {
	words := strings.Split(id, "-")
	n, err := strconv.Atoi(words[max(0, len(words)-2)])
	if err != nil {
		return 0
	}
	return n
}

// tally spells how many changes there are of each kind.
func tally(differ []change) string {
	n := map[string]int{}
	for _, c := range differ {
		n[c.Change]++
	}
	var parts []string
	for _, kind := range []string{"added", "changed", "removed"} {
		if n[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[kind], kind))
		}
	}
	if len(parts) == 0 {
		return "no record changed"
	}
	return strings.Join(parts, ", ")
}

// A watch compares stores with what they were.
type watch struct {
	stores map[string]map[string]canon.Hash // the seals that were, by directory
}

// watchStores notes the state of the stores in dirs. A store that cannot be read, as one with a
// merge conflict, is an error; one that is not there yet is empty.
func watchStores(dirs []string) (*watch, error) {
	w := &watch{map[string]map[string]canon.Hash{}}
	for _, dir := range dirs {
		now, err := sealsIn(dir)
		if err != nil {
			return nil, err
		}
		w.stores[dir] = now
	}
	return w, nil
}

// changes returns what changed since.
func (w *watch) changes() ([]change, error) {
	differ := []change{}
	for _, dir := range slices.Sorted(maps.Keys(w.stores)) {
		now, err := sealsIn(dir)
		if err != nil {
			return nil, err
		}
		differ = append(differ, changes(dir, w.stores[dir], now)...)
	}
	return differ, nil
}

func sealsIn(dir string) (map[string]canon.Hash, error) {
	store, err := snapshot.Open(dir)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return seals(store)
}
