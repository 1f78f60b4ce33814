package coverage

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
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Run is what a run of tests tells of the records of a store.
type Run struct {
	Ended  Outcomes
	Failed []TestName // tests that used the store, and failed

	store   string // its directory, absolute
	root    string // the module whose tests are to be run; empty: there is none
	sources *Sources

	used    map[string]string   // packages by the ids of the records that their tests used
	passed  map[TestName]bool   // tests that used the store, and passed
	filters map[string][]string // by package; what kept tests from running
	missing map[TestName]missed // calls that no record answered
	cut     []string            // packages whose tests were killed

	// all says that Ended and filters are those of all packages that can record, as where this
	// process ran the tests itself.
	all bool
}

// Missed calls are those of a test that no record answered.
type missed struct {
	calls int
	drift bool // a record was left that they may have drifted from
}

func (m missed) String() string {
	text := page.Count(m.calls, "call", "calls") + " had no snapshot"
	switch {
	case m.drift && m.calls == 1:
		text += " or drifted from it"
	case m.drift:
		text += " or drifted from theirs"
	}
	return text
}

func newRun(store string, src *Sources) *Run {
	return &Run{
		store: store, sources: src, Ended: Outcomes{},
		used: map[string]string{}, passed: map[TestName]bool{},
		filters: map[string][]string{}, missing: map[TestName]missed{},
	}
}

// readReceipts reads the receipts in dir, and returns how many tests they are of.
func (r *Run) readReceipts(dir string) (n int, err error) {
	tests, cut, err := usage.ReadReceipts(dir)
	r.cut = cut
	for _, t := range tests {
		r.add(t)
	}
	return len(tests), err
}

func (r *Run) add(t usage.Receipt) {
	r.filters[t.Package] = append(r.filters[t.Package], t.Filters...)
	if !r.isOf(t) {
		return
	}
	for _, id := range slices.Concat(t.Played, t.Recorded) {
		r.used[id] = t.Package
	}
	name := TestName{t.Package, t.Test}
	if t.Missing > 0 {
		m := r.missing[name]
		m.calls += t.Missing
		m.drift = m.drift || t.Mode != "new" && len(t.Unplayed) > 0
		r.missing[name] = m
	}
	switch t.Outcome {
	case "pass":
		r.passed[name] = true
	case "fail":
		r.Failed = append(r.Failed, name)
	}
}

// isOf reports whether a test used this store. Stores of several modules have the same name, which
// is relative to the module.
func (r *Run) isOf(t usage.Receipt) bool {
	store := filepath.FromSlash(t.Store)
	if filepath.IsAbs(store) {
		return realPath(store) == r.store
	}
	m, _, ok := r.sources.moduleOf(t.Package)
	return ok && realPath(filepath.Join(m.Dir, store)) == r.store
}

// readEvents reads what go test -json printed into files beside the receipts in dir.
func (r *Run) readEvents(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) == usage.ReceiptExtension {
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
				r.Ended.add(e)
			}
			if err != nil { // io.EOF, or a disk that fails, and then less is known
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
func (r *Run) judge(from *snapshot.Source) verdict {
	pkg, test := from.Package, from.Test
	if test == "" {
		return unplayed("the record names no test")
	}
	if !r.sources.of(pkg).known {
		return unplayed("%s is not in this module", pkg)
	}
	if reason := r.sources.Gone(pkg, test); reason != "" {
		return orphaned("%s", reason)
	}
	if top, _, _ := strings.Cut(test, "/"); gotest.Kind(top) == "" {
		return unplayed("%s is no test function, so whether it is still a test is not known", top)
	}
	switch how := r.Ended[TestName{Package: pkg}]; {
	case how == "" && !r.all:
		return unplayed("%s did not run, or its go test -json is not with the receipts", pkg)
	case how == "":
		return unplayed("%s did not run", pkg)
	case how != "pass" || slices.Contains(r.cut, pkg):
		return unplayed("%s failed", pkg)
	}
	if filters := r.filtersOf(pkg); filters != "" {
		return unplayed("%s", filters)
	}
	return r.judgeTest(pkg, test)
}

// judgeTest judges a record of a test of a package whose tests all ran and passed.
func (r *Run) judgeTest(pkg, test string) verdict {
	name := test
	for {
		how := r.Ended[TestName{pkg, name}]
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
		case r.passed[TestName{pkg, name}]: // unreachable: a passing test uses all its records
			return unplayed("%s did not use it", name)
		default:
			return orphaned("%s passed without this store", name)
		}
	}
}

// filtersOf says what kept tests of a package from running; empty: nothing did.
func (r *Run) filtersOf(pkg string) string {
	filters, known := r.filters[pkg]
	switch {
	case len(filters) > 0:
		slices.Sort(filters)
		return "only some tests of " + pkg + " ran: " + strings.Join(slices.Compact(filters), " ")
	case !known && !r.all:
		return "no test of " + pkg + " left a receipt, so whether all ran is not known"
	}
	return ""
}
