package coverage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Run is what a run of tests shows about the records of a store.
type Run struct {
	Ended Outcomes

	store   string // the store's directory, absolute
	root    string // the module whose tests run; empty if there is none
	sources *Sources

	receipts []usage.Receipt     // receipts of tests that used the store
	used     map[string]string   // the package of the test that used a record, by the record's id
	passed   map[page.Test]bool  // tests that used the store and passed
	filters  map[string][]string // flags that kept tests from running, by package
	cut      []string            // packages whose tests were killed

	// all is set if Ended and filters cover all packages that can record, because this process ran the tests itself.
	all bool
}

// ReadRun returns what a run of tests left in directories about the store in dir. There are several directories if
// several machines shared the run.
func ReadRun(ctx context.Context, left []string, dir string) (*Run, error) {
	r, err := openRun(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, one := range left {
		if len(left) > 1 {
			err = checkArtefact(one)
		}
		if err == nil {
			err = r.read(one)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// checkArtefact refuses a directory that contains anything except files and directories: an artefact may come from
// anyone.
func checkArtefact(dir string) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Type().IsRegular() {
			return err
		}
		return fmt.Errorf("%s is a link, or no file: what a shard leaves holds files only", file)
	})
}

// read reads what a run left in a directory.
func (r *Run) read(left string) error {
	n, err := r.readReceipts(left)
	if n == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		failed := ""
		if alone := (Run{Ended: Outcomes{}}); err == nil && alone.readEvents(left) == nil && len(alone.Ended.Failed()) > 0 {
			failed = alone.Ended.Failed()[0] + " failed, and what go test printed there says why; otherwise "
		}
		none := fmt.Errorf("%s holds no receipt: %srun the tests with %s=%s", left, failed, usage.ReceiptEnv,
			gotest.Quote(left))
		if err != nil {
			none = fmt.Errorf("%w: %w", none, err)
		}
		return none
	}
	return errors.Join(err, r.readEvents(left))
}

// openRun prepares a run for the store in dir. Its tests are those of the current module and of the store's module.
func openRun(ctx context.Context, dir string) (*Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	ofStore, err := gotest.Module(dir)
	_, own, err2 := gotest.Here()
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	roots := []string{ofStore, own}
	if os.Getenv(gotest.StoreEnv) != "" { // without it, the tests of a module use the store in that module
		slices.Reverse(roots)
	}
	roots = slices.DeleteFunc(roots, func(root string) bool { return root == "" })
	if len(roots) == 0 {
		roots = []string{""}
	}
	src, err := OpenSources(ctx, slices.Compact(roots)...)
	return &Run{
		store: usage.RealPath(dir), root: roots[0], sources: src, Ended: Outcomes{},
		used: map[string]string{}, passed: map[page.Test]bool{},
		filters: map[string][]string{},
	}, err
}

// RunAll runs all tests of the module that can record or have records in the store in dir, and returns what they used.
func RunAll(ctx context.Context, say Say, s *store.Store, dir string, flags []string) (*Run, error) {
	r, err := openRun(ctx, dir)
	if err != nil {
		return nil, err
	}
	packages, err := Packages(ctx, r.root, []string{"./..."}, flags)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for doc := range place.Readable(s, nil) { // the others are reported elsewhere
		have[page.TestOf(doc.Document).Package] = true
	}
	packages = slices.DeleteFunc(packages, func(p Package) bool { return !p.Records && !have[p.Path] })
	r.all = true
	if len(packages) == 0 {
		return r, nil
	}

	left, err := os.MkdirTemp("", "traceforge-receipt-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(left)
	say("running the tests of %s", page.Count(len(packages), "package", "packages"))
	test := GoTest{
		Dir: r.root, Packages: packages, Say: say,
		Flags: append([]string{"-count=1"}, flags...),
		Env:   []string{gotest.UpdateEnv + "=", usage.ReceiptEnv + "=" + left},
	}
	if r.Ended, err = test.Run(ctx); err != nil {
		return nil, err
	}
	given := append(strings.Fields(os.Getenv("GOFLAGS")), flags...)
	filters := slices.DeleteFunc(given, func(flag string) bool { return !filter.MatchString(flag) })
	_, err = r.readReceipts(left)
	for _, p := range packages {
		if _, told := r.filters[p.Path]; !told { // no test of it had a recorder
			r.filters[p.Path] = filters
		}
	}
	return r, err
}

// filter matches flags of go test that keep tests from running.
var filter = regexp.MustCompile(`^--?(test\.)?(run|skip|short|list)(=|$)`)

// readReceipts reads the receipts in dir, and returns the number of tests in them.
func (r *Run) readReceipts(dir string) (n int, err error) {
	tests, cut, err := ReadReceipts(dir)
	r.cut = append(r.cut, cut...)
	for _, t := range tests {
		r.filters[t.Package] = append(r.filters[t.Package], t.Filters...)
		if r.isOf(t) {
			r.add(t)
		}
	}
	return len(tests), err
}

// isOf reports whether a test used this store. Stores of different modules have the same name, because it is relative
// to the module.
func (r *Run) isOf(t usage.Receipt) bool {
	dir := r.sources.StoreOf(t)
	if dir == "" && t.Package == snapshot.ProgramPackage { // it ran in this command's directory
		dir, _ = filepath.Abs(filepath.Join(r.root, filepath.FromSlash(t.Store))) // openRun has done the same
	}
	return dir != "" && usage.RealPath(dir) == r.store
}

func (r *Run) add(t usage.Receipt) {
	r.receipts = append(r.receipts, t)
	for _, id := range slices.Concat(t.Played, t.Recorded) {
		r.used[id] = t.Package
	}
	if t.Outcome == "pass" {
		r.passed[testOf(t)] = true
	}
}

// Used reports whether any test with a receipt used the store or looked for it.
func (r *Run) Used() bool { return len(r.receipts) > 0 }

// readEvents reads the output of go test -json in files next to the receipts in dir.
func (r *Run) readEvents(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) == usage.ReceiptExtension {
			return err
		}
		data, err := os.ReadFile(path)
		for line := range bytes.Lines(data) {
			var e testEvent
			if json.Unmarshal(line, &e) == nil {
				r.Ended.add(e)
			}
		}
		return err
	})
}

// judge returns why the run used no record of a test, and whether the records are orphans. Then the test does not exist
// in the source, or it passed without them and nothing kept it from running as usual. Records of a test that a
// framework runs under its own name are never orphans.
func (r *Run) judge(test page.Test) (reason string, isOrphan bool) {
	pkg := test.Package
	top := gotest.Function(test.Name)
	gone := r.sources.Gone(pkg, test.Name)
	filters, told := r.filters[pkg]
	filters = slices.Compact(slices.Sorted(slices.Values(filters))) // a copy, since Compact clears its argument
	switch how := r.Ended[page.Test{Package: pkg}]; {
	case test.Name == "":
		return "the record names no test", false
	case test.OfProgram():
		return test.Name + " is run by traceforge exec", false
	case !r.sources.of(pkg).known:
		return pkg + " is not in this module", false
	case gone != "":
		return gone, true
	case gotest.Kind(top) == "":
		return top + " is no test function, so whether it is still a test is not known", false
	case how == "" && !r.all && told:
		return "the go test -json of " + pkg + " is not with its receipts, so whether all its tests ran is not known", false
	case how == "" && !r.all:
		return pkg + " did not run, or its go test -json is not with the receipts", false
	case how == "":
		return pkg + " did not run", false
	case how != "pass" || slices.Contains(r.cut, pkg):
		return pkg + " failed", false
	case len(filters) > 0:
		return "only some tests of " + pkg + " ran: " + strings.Join(filters, " "), false
	case !told && !r.all:
		return "no test of " + pkg + " left a receipt, so whether all ran is not known", false
	}
	return r.judgeTest(test)
}

// judgeTest judges a record of a package whose tests all ran and passed.
func (r *Run) judgeTest(test page.Test) (reason string, isOrphan bool) {
	at := test
	for r.Ended[at] == "" {
		slash := strings.LastIndexByte(at.Name, '/')
		if slash < 0 {
			return at.Name + " did not run", false // because of a build constraint, or it is a benchmark
		}
		at.Name = at.Name[:slash]
	}
	switch {
	case r.Ended[at] == "skip":
		return at.Name + " was skipped", false
	case at != test:
		return at.Name + " passed without " + test.Name, true
	case r.passed[at]: // excused by an injected fault
		return at.Name + " did not use it", false
	}
	return at.Name + " passed without this document", true
}

// ReadReceipts returns the tests in all receipts in dir. cut are the packages whose receipt ends in the middle of a
// line because their process was killed. The error is [fs.ErrNotExist] if dir does not exist.
func ReadReceipts(dir string) (tests []usage.Receipt, cut []string, err error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, nil, err // the error names it
	}
	err = filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != usage.ReceiptExtension {
			return err
		}
		data, err := store.ReadFile(file)
		if err != nil {
			return err
		}
		found, err := parseReceipts(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if len(found) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
			cut = append(cut, found[0].Package)
		}
		tests = append(tests, found...)
		return nil
	})
	return tests, cut, err
}

// parseReceipts reads the complete lines of a receipt.
func parseReceipts(data []byte) (tests []usage.Receipt, err error) {
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(whole) {
		var t usage.Receipt
		if err := json.Unmarshal(line, &t); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(tests)+1, err)
		}
		wayOut := "leave the receipts again"
		if t.Version > usage.ReceiptVersion {
			wayOut = "it was written by a newer traceforge: " +
				"upgrade (go get -u github.com/traceforge/traceforge-go/cmd/traceforge)"
		}
		if t.Version != usage.ReceiptVersion {
			return nil, fmt.Errorf("line %d is of version %d of receipts, and this command reads %d: %s",
				len(tests)+1, t.Version, usage.ReceiptVersion, wayOut)
		}
		tests = append(tests, t)
	}
	return tests, nil
}
