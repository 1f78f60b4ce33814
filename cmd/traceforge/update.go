package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// Seals are those of documents by their names, of stores by their directories.
type seals map[string]map[string]page.Seal

func update(c *call) error {
	patterns := c.args
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, err := recording(c, patterns)
	if err != nil {
		return err
	}
	stores, before, err := storesOf(packages)
	if err != nil {
		return err
	}
	left := os.Getenv(usage.ReceiptEnv)
	if left == "" {
		if left, err = os.MkdirTemp("", "traceforge-receipt-"); err != nil {
			return err
		}
		defer os.RemoveAll(left)
	}
	c.say("recording: %s", page.Count(len(packages), "package", "packages"))
	test := testThatRecords(c, packages, left)
	ended, err := test.Run(c.ctx)
	if err != nil {
		return err
	}
	_, after, err := storesOf(packages)
	if err != nil {
		return err
	}
	changes := []page.Change{}
	for _, dir := range stores {
		for _, change := range page.Changes(before[dir], after[dir]) {
			change.File = filepath.ToSlash(filepath.Join(dir, change.File))
			changes = append(changes, change)
		}
	}
	c.say("%s: %s", strings.Join(stores, ", "), page.Tally(changes))
	if err := sayGone(c, packages, left, after); err != nil {
		return err
	}
	failed := ended.Failed()
	err = c.answer(struct {
		OK       bool          `json:"ok"`
		Packages int           `json:"packages"`
		Failed   []string      `json:"failed"`
		Changes  []page.Change `json:"changes"`
	}{len(failed) == 0, len(packages), orEmpty(failed), changes}, func() {
		for _, change := range changes {
			c.line(change.String())
		}
	})
	if err == nil && len(failed) > 0 {
		return exit{exitFindings, fmt.Errorf("tests failed in %s", strings.Join(failed, ", "))}
	}
	return err
}

// testThatRecords returns the run of tests that records, and leaves receipts.
func testThatRecords(c *call, packages []coverage.Package, left string) *coverage.GoTest {
	test := &coverage.GoTest{Packages: packages, Say: c.say}
	mode := ""
	if c.is("new") {
		mode = "new"
	} else {
		test.Flags = []string{"-update"} // before what go may stop at
	}
	test.Env = []string{usage.ReceiptEnv + "=" + left, coverage.UpdateEnv + "=" + mode}
	if pattern := c.value("run"); pattern != "" {
		test.Flags = append(test.Flags, "-run="+pattern)
	}
	test.Flags = append(test.Flags, c.forwarded...)
	return test
}

// recording returns the packages of which tests can record.
func recording(c *call, patterns []string) ([]coverage.Package, error) {
	packages, err := coverage.Packages(c.ctx, "", patterns, c.forwarded)
	if err != nil {
		if wd, wdErr := os.Getwd(); len(c.args) == 0 && wdErr == nil && place.ModuleRoot(wd) == "" {
			return nil, place.NoModuleForTests()
		}
		return nil, err
	}
	packages = slices.DeleteFunc(packages, func(p coverage.Package) bool { return !p.Records })
	if len(packages) == 0 {
		return nil, fmt.Errorf("no package of %s has tests that can record: they must import %s",
			strings.Join(patterns, " "), coverage.Harness)
	}
	return packages, nil
}

// storesOf returns the directories of the stores that tests of the packages use, unless they name
// another themselves, and the state of these stores. A store that cannot be read, as one with a merge
// conflict, is an error; one that is not there yet is empty.
func storesOf(packages []coverage.Package) (dirs []string, now seals, err error) {
	now = seals{}
	for _, p := range packages {
		dir, err := place.StoreOfModule(p.Module)
		if err != nil {
			return nil, nil, err
		}
		if now[dir] != nil {
			continue
		}
		s, err := store.Open(dir)
		if err != nil {
			return nil, nil, err
		}
		if now[dir], err = place.Seals(s); err != nil {
			return nil, nil, err
		}
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs, now, nil
}

// sayGone says how many documents are of tests that the code does not have, as after one was
// renamed. Those that the run used, as the receipts tell that it left, have their tests, whatever the
// code looks like.
func sayGone(c *call, packages []coverage.Package, left string, now seals) error {
	used, err := usedBy(packages, left)
	if err != nil { // as of another version, that were there before
		c.say("which documents are of tests that are not in the code is not known: %v", err)
		return nil
	}
	src, err := coverage.OpenSources(c.ctx, "")
	if err != nil {
		return err
	}
	n := 0
	for _, documents := range now {
		for _, seal := range documents {
			if !used[seal.Test] && src.Gone(seal.Test.Package, seal.Test.Test) != "" {
				n++
			}
		}
	}
	if n > 0 {
		c.say("%s of tests that are not in the code any more: remove them with traceforge prune --write",
			page.Count(n, "document is", "documents are"))
	}
	return nil
}

// usedBy returns the tests of packages that played or recorded.
func usedBy(packages []coverage.Package, left string) (map[page.Test]bool, error) {
	used, read := map[page.Test]bool{}, map[string]bool{}
	for _, p := range packages {
		dir := left
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Module, dir)
		}
		if read[dir] {
			continue
		}
		read[dir] = true
		tests, _, err := usage.ReadReceipts(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // no test had a recorder
			return nil, err
		}
		for _, t := range tests {
			if len(t.Played)+len(t.Recorded) > 0 {
				used[page.Test{Package: t.Package, Test: t.Test}] = true
			}
		}
	}
	return used, nil
}
