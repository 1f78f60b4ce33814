package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// seals are the seals of documents by name, for each store by its directory.
type seals map[string]map[string]page.Seal

// An updateReport is the output of update --json.
type updateReport struct {
	OK        bool                `json:"ok"`        // whether no test failed
	Packages  int                 `json:"packages"`  // number of packages that were tested
	Failed    []string            `json:"failed"`    // packages that failed
	Changes   []page.Change       `json:"changes"`   // changes of the documents
	Elsewhere map[string][]string `json:"elsewhere"` // names of documents written in stores that tests name, by directory
	Summary   *summary            `json:"summary"`   // summary of the calls
}

func update(c *call) error {
	mode := "1"
	for _, flag := range []string{"all", "new", "tools", "rekey"} {
		if c.is(flag) {
			mode = flag
		}
	}
	if c.is("scripted") {
		return updateScripted(c)
	}
	flags := strings.TrimSuffix("--update="+mode, "=1")
	patterns, run, err := c.selected(flags)
	if err != nil {
		return err
	}
	if mode != "tools" { // programs have no tools
		defer c.sayPrograms(flags)
	}
	return record(c, mode, patterns, run)
}

// record runs the tests of packages that can record, in a mode of TRACEFORGE_UPDATE, and summarizes what they did. run
// is the pattern of the tests; empty for all.
func record(c *call, mode string, patterns []string, run string) error {
	packages, err := recording(c, patterns, run)
	if err != nil {
		return err
	}
	before, err := storesOf(packages, c.say)
	if err != nil {
		return err
	}
	known, err := knownTests(c, before, mode)
	defer os.Remove(known) // if it exists
	if err != nil {
		return err
	}
	doing := "recording"
	if mode == "rekey" {
		doing = mode
	}
	c.say("%s: %s", doing, page.Count(len(packages), "package", "packages"))
	test := &coverage.GoTest{Packages: packages,
		Env: []string{gotest.UpdateEnv + "=" + mode, usage.KnownEnv + "=" + known}}
	if mode == "1" && !gotest.InCI() { // tests refuse the flag in CI; test files that read it update their own data too
		test.Env = append(test.Env, usage.FlagEnv+"=1")
	}
	receipts, ended, err := runTests(c, test, run)
	if err != nil {
		return err
	}
	unused, err := removeRenamed(before, receipts, ended)
	if err != nil {
		return err
	}
	after, err := storesOf(packages, func(string, ...any) {})
	if err != nil {
		return err
	}
	stores, changes := slices.Sorted(maps.Keys(after)), []page.Change{}
	for _, dir := range stores {
		for _, change := range page.Changes(before[dir], after[dir]) {
			change.File = filepath.ToSlash(filepath.Join(dir, change.File))
			changes = append(changes, change)
		}
	}
	sum := summarize(receipts)
	failed := ended.Failed()
	elsewhere := c.elsewhere(receipts, after)
	c.answer(updateReport{len(failed) == 0, len(packages), orEmpty(failed), changes, elsewhere, sum}, func() {
		for _, change := range changes {
			c.line(change.String())
		}
	})
	if len(receipts) == 0 && run != "" && len(failed) == 0 {
		return noMatch(run, patterns, nil)
	}
	stores = slices.DeleteFunc(stores, func(dir string) bool { return len(before[dir])+len(after[dir]) == 0 })
	if len(stores) > 0 {
		c.say("%s: %s", strings.Join(stores, ", "), page.Tally(changes))
	}
	for _, dir := range slices.Sorted(maps.Keys(elsewhere)) {
		c.say("%s: %s written", dir, page.Count(len(elsewhere[dir]), "document", "documents"))
	}
	c.sayAll(sum.lines())
	if len(receipts) == 0 {
		c.say("no test with a recorder ran")
	}
	if len(unused) > 0 {
		c.say("new subtests have recorded, and %s did not run: if one was renamed, "+
			"traceforge mv before an update keeps its records", strings.Join(page.Most(3, unused, "more"), ", "))
	}
	c.sayGone(receipts, func(line string) { c.say("%s", line) })
	if len(failed) > 0 {
		return exit{exitFindings, fmt.Errorf("tests failed in %s", strings.Join(failed, ", "))}
	}
	return nil
}

// elsewhere returns the documents that tests wrote into stores that they name and that are none of told, by directory.
func (c *call) elsewhere(receipts []usage.Receipt, told seals) map[string][]string {
	src, err := c.sources()
	c.fail(err)
	written := map[string][]string{}
	for _, r := range receipts {
		if u := r.Update; err == nil && u != nil && len(u.Changed)+len(u.New)+len(u.Removed)+len(u.Rekeyed) > 0 {
			abs := src.StoreOf(r)
			if dir := place.Rel(abs); told[abs] == nil && told[dir] == nil {
				dir = filepath.ToSlash(dir)
				written[dir] = inorder.With(written[dir], snapshot.DocumentName(r.Package, r.Test))
			}
		}
	}
	return written
}

// receiptsDir returns the directory where the tests of all modules leave their receipts. It is one for this run in the
// user's directory, or a temporary one, which keep removes.
func receiptsDir() (dir string, keep func(), err error) {
	if dir = os.Getenv(usage.ReceiptEnv); dir == "" {
		dir, err = os.MkdirTemp("", "traceforge-receipt-")
		return dir, func() { os.RemoveAll(dir) }, err
	}
	wd, module, err := gotest.Here()
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cmp.Or(module, wd), dir)
	}
	return filepath.Join(dir, fmt.Sprintf("run-%d-%d", os.Getpid(), time.Now().UnixNano())), func() {}, err
}

// readReceipts reads the receipts of this run. There are none if no test used a recorder.
func readReceipts(left string) (receipts []usage.Receipt, killed []string, err error) {
	receipts, killed, err = coverage.ReadReceipts(left)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return receipts, killed, err
}

// runTests runs the tests that match the pattern run, or all without one, with the flags that the user forwards. It
// returns their receipts and outcomes.
func runTests(c *call, test *coverage.GoTest, run string) ([]usage.Receipt, coverage.Outcomes, error) {
	left, keep, err := receiptsDir()
	if err != nil {
		return nil, nil, err
	}
	defer keep()
	test.Say = c.say
	test.Env = append(test.Env, usage.ReceiptEnv+"="+left)
	if run != "" {
		test.Flags = append(test.Flags, "-run="+run)
	}
	test.Flags = append(test.Flags, c.forwarded...)
	ended, err := test.Run(c.ctx)
	if err != nil {
		return nil, nil, err
	}
	receipts, _, err := readReceipts(left)
	return receipts, ended, err
}

// recording returns the packages whose tests can record; run is the pattern of the tests, which at least one must
// match.
func recording(c *call, patterns []string, run string) ([]coverage.Package, error) {
	packages, err := coverage.Packages(c.ctx, "", patterns, c.forwarded)
	if err != nil {
		if _, module, unknown := gotest.Here(); len(c.args) == 0 && unknown == nil && module == "" {
			const wayOut = "run it in a module, or in a workspace (go.work) name packages, such as ./agents/..."
			return nil, fmt.Errorf("%w: %s", place.ErrNoModule, wayOut)
		}
		for _, word := range c.args {
			if !strings.ContainsAny(word, `./\`) && strings.Contains(err.Error(), word) {
				return nil, noTest("no package and no test is called", word, "this module", nil)
			}
		}
		return nil, err
	}
	packages = slices.DeleteFunc(packages, func(p coverage.Package) bool { return !p.Records })
	if len(packages) == 0 {
		return nil, fmt.Errorf("no package of %s has tests that can record: they must import %s",
			strings.Join(patterns, " "), coverage.Harness)
	}
	return packages, hasTests(c, packages, patterns, run)
}

// hasTests reports, before any test runs, that run matches no test function of the packages. It leaves patterns of
// several tests and unreadable packages to go test.
func hasTests(c *call, packages []coverage.Package, patterns []string, run string) error {
	top, _, sub := strings.Cut(run, "/")
	matches, err := regexp.Compile(top)
	if run == "" || err != nil || sub && strings.Contains(run, "|") {
		return nil
	}
	src, err := c.sources()
	if err != nil {
		return err
	}
	var names []string
	for _, p := range packages {
		functions, known := src.Functions(p.Path)
		if !known || slices.ContainsFunc(functions, matches.MatchString) {
			return nil
		}
		names = append(names, functions...)
	}
	slices.Sort(names)
	return noMatch(run, patterns, names)
}

func noMatch(run string, patterns, names []string) error {
	return noTest("no test with a recorder matches", strings.Trim(run, "^$"), strings.Join(patterns, " "), names)
}

// noTest is the error for a word that matches no test. It suggests a recorded test, or one of names; in is where tests
// were looked for.
func noTest(what, word, in string, names []string) error {
	if s, _, err := place.OpenStore(""); err == nil {
		names = append(testNames(s), names...)
	}
	return fmt.Errorf("%s %s in %s%s", what, gotest.Quote(word), in, meant(word, names))
}

// testNames returns the names of the tests that have documents in a store, and of their test functions.
func testNames(s *store.Store) (names []string) {
	for doc := range place.Readable(s, nil) {
		test := page.TestOf(doc.Document).Name
		names = append(names, test, gotest.Function(test))
	}
	return page.Distinct(names)
}

// storesOf returns the seals of the stores that tests of the packages use by default; a store that does not exist yet
// is empty. It says which documents are damaged, because their tests can record them again. A document in conflict or
// of a newer traceforge is an error, as it is for its test.
func storesOf(packages []coverage.Package, say coverage.Say) (seals, error) {
	now := seals{}
	for _, p := range packages {
		dir := place.StoreOfModule(p.Module)
		if now[dir] != nil {
			continue
		}
		if err := place.LeftOut(dir); err != nil {
			return nil, err
		}
		s, err := store.Open(dir)
		if err != nil {
			return nil, err
		}
		documents, err := place.Seals(s)
		if damaged := new(snapshot.Error); documents != nil && errors.As(err, &damaged) &&
			!errors.Is(err, snapshot.ErrConflict) && !errors.Is(err, snapshot.ErrNewer) {
			say("%v", err)
		} else if err != nil {
			return nil, err
		}
		for name, seal := range documents {
			seal.Altered = false // a document that stays unread has not changed
			documents[name] = seal
		}
		now[dir] = documents
	}
	return now, nil
}

// knownTests writes a file that tells the run which documents may belong to renamed tests (design R11). These are the
// documents of tests that do not exist in the code, and of subtests, which only a run can determine. A test without a
// document continues with one that contains its first call. file is temporary; it is empty if there are no such
// documents.
func knownTests(c *call, now seals, mode string) (file string, err error) {
	if mode == "all" {
		return "", nil // all calls are made live
	}
	src, err := c.sources()
	if err != nil {
		return "", err
	}
	known := map[string][]usage.Known{}
	for dir, documents := range now {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		in := usage.RealPath(abs)
		for name, seal := range documents {
			t := seal.Test
			gone := src.Gone(t.Package, t.Name) != ""
			if gone || strings.Contains(t.Name, "/") {
				known[in] = append(known[in], usage.Known{Name: name, Package: t.Package, Test: t.Name, Gone: gone})
			}
		}
		slices.SortFunc(known[in], func(a, b usage.Known) int { return strings.Compare(a.Name, b.Name) })
	}
	if len(known) == 0 {
		return "", nil
	}
	return writeKnown(known)
}

// writeKnown writes a file of known documents for [usage.ReadKnown].
func writeKnown(known map[string][]usage.Known) (file string, err error) {
	f, err := os.CreateTemp("", "traceforge-known-")
	if err != nil {
		return "", err
	}
	return f.Name(), errors.Join(json.NewEncoder(f).Encode(known), f.Close())
}

// removeRenamed removes the documents of subtests that were renamed. Other tests took these documents over, and the old
// subtest did not run although its package passed without a filter. It returns the names of other such subtests, beside
// which new ones have recorded: which of them was renamed is not known.
func removeRenamed(before seals, receipts []usage.Receipt, ended coverage.Outcomes) (unused []string, err error) {
	ran, whole, from := map[page.Test]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range receipts {
		ran[page.Test{Package: r.Package, Name: r.Test}] = true
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
			return nil, err
		}
		var c store.Change
		recorded := map[page.Test]bool{} // functions of tests that had no document
		for _, r := range receipts {
			if _, had := documents[snapshot.DocumentName(r.Package, r.Test)]; !had && len(r.Recorded) > 0 {
				recorded[page.Test{Package: r.Package, Name: gotest.Function(r.Test)}] = true
			}
			if doc := copyOfFailed(s, documents, r); doc != nil {
				c.Remove = append(c.Remove, doc.File())
				r.Update.Adopted = ""
			}
		}
		for name, seal := range documents {
			if ran[seal.Test] || !whole[seal.Test.Package] {
				continue
			}
			function := page.Test{Package: seal.Test.Package, Name: gotest.Function(seal.Test.Name)}
			if _, moved := os.Stat(s.Path(seal.File)); from[name] && moved == nil {
				c.Remove = append(c.Remove, seal.File)
			} else if !from[name] && recorded[function] {
				unused = append(unused, seal.Test.Name)
			}
		}
		if err := s.Commit(c); err != nil {
			return nil, err
		}
	}
	return inorder.Strings(unused), nil
}

// copyOfFailed returns the document that a failed test has only because it took over the records of a test that still
// exists, or nil. Answers that wait need theirs.
func copyOfFailed(s *store.Store, before map[string]page.Seal, r usage.Receipt) *store.Doc {
	if r.Outcome != "fail" || r.Update == nil || len(r.Update.Pending) > 0 {
		return nil
	}
	from, known := before[r.Update.Adopted]
	if _, err := os.Stat(s.Path(from.File)); !known || err != nil {
		return nil
	}
	doc, err := s.Load(snapshot.DocumentName(r.Package, r.Test), store.UnknownProvider)
	if err != nil || string(doc.Document.Hash) != r.Document { // the test ran again, and has recorded
		return nil
	}
	return doc
}

// updateScripted lists the tests that have scripted answers, or the named ones among them, and records these tests. A
// test that still has its script keeps its answers and is reported as a finding.
func updateScripted(c *call) error {
	if c.value("run") != "" {
		return usagef("--scripted finds the tests by itself: name some of them to narrow it, instead of --run")
	}
	rows, err := scriptedTests(c.args)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		c.say("no answer is of a script")
		return nil
	}
	c.sayAll(scriptedLines(rows))
	var packages, tests []string
	for _, l := range rows {
		packages = append(packages, l.Package)
		tests = append(tests, l.Test.Name)
	}
	if err := record(c, "1", page.Distinct(packages), page.RunPattern(tests)); err != nil {
		return err
	}
	left, err := scriptedTests(c.args)
	if err != nil || len(left) == 0 {
		return err
	}
	return exit{exitFindings,
		fmt.Errorf("nothing was bought where the script still answers: take it away, and run this again\n  %s",
			strings.Join(scriptedLines(left), "\n  "))}
}

// scriptedTests returns the tests in the store that have scripted answers: the named ones, or all.
func scriptedTests(names []string) ([]entry, error) {
	s, _, err := place.OpenStore("")
	if err != nil {
		return nil, err
	}
	return rowsOf(s, false, func(l *entry) bool {
		named := func(word string) bool { return isOf(l.Test, word) }
		return l.Scripted > 0 && !l.OfProgram() && (len(names) == 0 || slices.ContainsFunc(names, named))
	})
}

// scriptedLines returns a line for each test with the number of its scripted answers.
func scriptedLines(rows []entry) (lines []string) {
	for _, l := range rows {
		lines = append(lines,
			fmt.Sprintf("%s.%s: %s of a script", l.Package, l.Test.Name, page.Count(l.Scripted, "answer", "answers")))
	}
	return lines
}
