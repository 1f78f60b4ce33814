package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/receipt"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A usage is what a run of tests tells of the records of a store.
type usage struct {
	store    string              // its directory, absolute
	root     string              // the module whose tests are to be run; empty: there is none
	used     map[string]string   // packages by the ids of the records that their tests used
	receipts map[testName]bool   // tests that used the store, and passed
	filters  map[string][]string // by package; what kept tests from running
	missing  map[testName]missed // calls that no record answered
	cut      []string            // packages whose tests were killed
	failed   []testName          // tests that used the store, and failed
	ended    outcomes
	sources  *sources

	// all says that ended and filters are those of all packages that can record, as where this
	// command ran the tests itself.
	all bool
}

// Missed calls are those of a test that no record answered.
type missed struct {
	calls int
	drift bool // a record was left that they may have drifted from
}

func (m missed) String() string {
	text := count(m.calls, "call", "calls") + " had no snapshot"
	switch {
	case m.drift && m.calls == 1:
		text += " or drifted from it"
	case m.drift:
		text += " or drifted from theirs"
	}
	return text
}

func newUsage(store string, src *sources) *usage {
	return &usage{
		store: store, sources: src, ended: outcomes{},
		used: map[string]string{}, receipts: map[testName]bool{},
		filters: map[string][]string{}, missing: map[testName]missed{},
	}
}

// readReceipts reads the receipts in dir, and returns how many tests they are of.
func (u *usage) readReceipts(dir string) (n int, err error) {
	tests, cut, err := receipt.Read(dir)
	u.cut = cut
	for _, t := range tests {
		u.add(t)
	}
	return len(tests), err
}

func (u *usage) add(t receipt.Test) {
	u.filters[t.Package] = append(u.filters[t.Package], t.Filters...)
	if !u.isOf(t) {
		return
	}
	for _, id := range slices.Concat(t.Played, t.Recorded) {
		u.used[id] = t.Package
	}
	name := testName{t.Package, t.Test}
	if t.Missing > 0 {
		m := u.missing[name]
		m.calls += t.Missing
		m.drift = m.drift || t.Mode != "new" && len(t.Unplayed) > 0
		u.missing[name] = m
	}
	switch t.Outcome {
	case "pass":
		u.receipts[name] = true
	case "fail":
		u.failed = append(u.failed, name)
	}
}

// isOf reports whether a test used this store. Stores of several modules have the same name, which
// is relative to the module.
func (u *usage) isOf(t receipt.Test) bool {
	store := filepath.FromSlash(t.Store)
	if filepath.IsAbs(store) {
		return realPath(store) == u.store
	}
	m, _, ok := u.sources.moduleOf(t.Package)
	return ok && realPath(filepath.Join(m.Dir, store)) == u.store
}

// readEvents reads what go test -json printed into files beside the receipts in dir.
func (u *usage) readEvents(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) == receipt.Extension {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		for lines := bufio.NewReader(f); ; {
			line, err := lines.ReadBytes('\n')
			var e testEvent
			if json.Unmarshal(line, &e) == nil {
				u.ended.add(e)
			}
			if err != nil { // io.EOF but for a disk that fails, and then less is known
				return nil
			}
		}
	})
}

// A verdict says whether a record that no test used may be needed all the same.
type verdict struct {
	orphaned bool
	reason   string
}

func orphaned(format string, args ...any) verdict { return verdict{true, fmt.Sprintf(format, args...)} }
func unplayed(format string, args ...any) verdict {
	return verdict{false, fmt.Sprintf(format, args...)}
}

// judge says why no test used a record. It is an orphan only where its test is not in the code,
// or where it is proven that the test passed without it: not where anything kept the test from
// running as it always does. Of what a test framework runs under names of its own nothing is proven.
func (u *usage) judge(from snapshot.Source) verdict {
	pkg, test := from.Package, from.Test
	if test == "" {
		return unplayed("the record names no test")
	}
	if !u.sources.of(pkg).known {
		return unplayed("%s is not in this module", pkg)
	}
	if reason := u.sources.gone(pkg, test); reason != "" {
		return orphaned("%s", reason)
	}
	if top, _, _ := strings.Cut(test, "/"); gotest.Kind(top) == "" {
		return unplayed("%s is no test function, so whether it is still a test is not known", top)
	}
	switch how := u.ended[testName{Package: pkg}]; {
	case how == "" && !u.all:
		return unplayed("%s did not run, or its go test -json is not with the receipts", pkg)
	case how == "":
		return unplayed("%s did not run", pkg)
	case how != "pass" || slices.Contains(u.cut, pkg):
		return unplayed("%s failed", pkg)
	}
	if filters := u.filtersOf(pkg); filters != "" {
		return unplayed("%s", filters)
	}
	return u.judgeTest(pkg, test)
}

// judgeTest judges a record of a test of a package whose tests all ran and passed.
func (u *usage) judgeTest(pkg, test string) verdict {
	name := test
	for {
		how := u.ended[testName{pkg, name}]
		slash := strings.LastIndexByte(name, '/')
		switch {
		case how == "skip":
			return unplayed("%s was skipped", name)
		case how == "" && slash < 0:
			return unplayed("%s did not run", name) // a constraint, or a benchmark
		case how == "":
			name = name[:slash]
		case name != test:
			return orphaned("%s passed without %s", name, test)
		case u.receipts[testName{pkg, name}]: // unreachable: a passing test uses all its records
			return unplayed("%s did not use it", name)
		default:
			return orphaned("%s passed without this store", name)
		}
	}
}

// filtersOf says what kept tests of a package from running; empty: nothing did.
func (u *usage) filtersOf(pkg string) string {
	filters, known := u.filters[pkg]
	switch {
	case len(filters) > 0:
		slices.Sort(filters)
		return "only some tests of " + pkg + " ran: " + strings.Join(slices.Compact(filters), " ")
	case !known && !u.all:
		return "no test of " + pkg + " left a receipt, so whether all ran is not known"
	}
	return ""
}
