package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// knownTests writes for the run which documents may be of renamed tests (design R11). These are of tests that the
// code does not have, and of subtests, which only a run knows. A test without a document whose first call is the
// first one of such a document goes on with that. file is empty where there is none; forget removes it.
func knownTests(c *call, now seals, mode string) (file string, forget func(), err error) {
	forget = func() {}
	if mode == "all" {
		return "", forget, nil // every call is bought
	}
	src, err := c.sources()
	if err != nil {
		return "", forget, err
	}
	var known []usage.Known
	for dir, documents := range now {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", forget, err
		}
		for name, seal := range documents {
			t := seal.Test
			gone := src.Gone(t.Package, t.Test) != ""
			if gone || strings.Contains(t.Test, "/") {
				known = append(known, usage.Known{Store: abs, Name: name, Package: t.Package, Test: t.Test, Gone: gone})
			}
		}
	}
	if len(known) == 0 {
		return "", forget, nil
	}
	slices.SortFunc(known, func(a, b usage.Known) int { return strings.Compare(a.Store+a.Name, b.Store+b.Name) })
	temp, err := os.MkdirTemp("", "traceforge-known-")
	if err != nil {
		return "", forget, err
	}
	file = filepath.Join(temp, "known")
	return file, func() { os.RemoveAll(temp) }, usage.WriteKnown(file, known)
}

// removeRenamed removes the documents from which subtests were renamed. Others took them over, and their own test did
// not run though its package passed without a filter.
func removeRenamed(before seals, receipts []usage.Receipt, ended coverage.Outcomes) error {
	ran, whole, from := map[page.Test]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range receipts {
		ran[page.Test{Package: r.Package, Test: r.Test}] = true
		if len(r.Filters) > 0 {
			whole[r.Package] = false
		} else if _, told := whole[r.Package]; !told {
			whole[r.Package] = ended[page.Test{Package: r.Package}] == "pass"
		}
		if r.Update != nil && r.Update.Adopted != "" {
			from[r.Update.Adopted] = true
		}
	}
	for dir, documents := range before {
		s, err := store.Open(dir)
		if err != nil {
			return err
		}
		var c store.Change
		for name, seal := range documents {
			if from[name] && !ran[seal.Test] && whole[seal.Test.Package] {
				if _, moved := os.Stat(s.Path(seal.File)); moved == nil {
					c.Remove = append(c.Remove, seal.File)
				}
			}
		}
		if err := s.Commit(c); err != nil {
			return err
		}
	}
	return nil
}
