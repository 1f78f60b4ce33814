package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

func updateCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "update [PACKAGE…] [-- FLAG…]",
		Short: "record the model calls of tests again",
		Long: `Finds the packages whose tests can record, also through helper packages, and runs
go test on those alone, with -update: so other packages need not know the flag. The
packages are patterns as of go test, ./... where none is given. What follows -- goes to
go test as it is.

Says on standard error how each package went, and prints a line for each document that
was added, changed or removed. The exit code is 1 if a test failed.

The object of --json has:

  ok         true where no test failed
  packages   how many packages were tested
  failed     the import paths of those that failed
  changes    of each document: ` + page.ChangeFields + `.
             The file's path starts at the working directory
`,
	}
	u := update{con: con}
	asJSON := jsonFlag(c)
	c.Flags().StringVar(&u.tests, "run", "", "run only the tests that match `REGEXP`")
	c.Flags().BoolVar(&u.onlyNew, "new", false, "record only calls that have no snapshot, and replay the others")
	c.RunE = func(c *cobra.Command, args []string) error {
		patterns, forwarded := beforeDash(c, args)
		if err := u.prepare(c.Context(), patterns, forwarded); err != nil {
			return err
		}
		defer u.receipts.close()
		if err := u.record(c.Context()); err != nil {
			return err
		}
		return u.write(*asJSON)
	}
	return c
}

// An update is a run of tests that record.
type update struct {
	con     *console
	tests   string
	onlyNew bool

	test     coverage.GoTest
	stores   []string                        // directories
	before   map[string]map[string]page.Seal // by store, then by document
	receipts *receipts
	failed   []string // packages
	changes  []page.Change
}

// prepare finds the packages and the stores that they use, and notes their state.
func (u *update) prepare(ctx context.Context, patterns, forwarded []string) error {
	packages, err := coverage.Packages(ctx, "", orAll(patterns), forwarded)
	if err != nil {
		if wd, wdErr := os.Getwd(); len(patterns) == 0 && wdErr == nil && place.ModuleRoot(wd) == "" {
			return place.NoModuleForTests()
		}
		return err
	}
	packages = slices.DeleteFunc(packages, func(p coverage.Package) bool { return !p.Records })
	if len(packages) == 0 {
		return fmt.Errorf("no package of %s has tests that can record: they must import %s",
			strings.Join(orAll(patterns), " "), coverage.Harness)
	}
	if u.stores, err = storesOf(packages); err != nil {
		return err
	}
	if u.before, err = sealsIn(u.stores); err != nil {
		return err
	}
	if u.receipts, err = askForReceipts(packages); err != nil {
		return err
	}
	u.test = coverage.GoTest{Packages: packages, Say: u.con.say}
	if u.onlyNew {
		u.test.Env = []string{coverage.UpdateEnv + "=new"}
	} else {
		u.test.Env = []string{coverage.UpdateEnv + "="}
		u.test.Flags = append(u.test.Flags, "-update") // before what go may stop at
	}
	u.test.Env = append(u.test.Env, usage.ReceiptEnv+"="+u.receipts.asked)
	if u.tests != "" {
		u.test.Flags = append(u.test.Flags, "-run="+u.tests)
	}
	u.test.Flags = append(u.test.Flags, forwarded...)
	return nil
}

// record runs the tests, and says what became of the stores.
func (u *update) record(ctx context.Context) error {
	u.con.say("recording: %s", page.Count(len(u.test.Packages), "package", "packages"))
	ended, err := u.test.Run(ctx)
	if err != nil {
		return err
	}
	u.failed = ended.Failed()
	after, err := sealsIn(u.stores)
	if err != nil {
		return err
	}
	u.changes = []page.Change{}
	for _, dir := range u.stores {
		for _, c := range page.Changes(u.before[dir], after[dir]) {
			c.File = filepath.ToSlash(filepath.Join(dir, c.File))
			u.changes = append(u.changes, c)
		}
	}
	u.con.say("%s: %s", strings.Join(u.stores, ", "), page.Tally(u.changes))
	used, err := u.receipts.used()
	if err != nil { // as of another version, that were there before
		u.con.say("which documents are of tests that are not in the code is not known: %v", err)
		return nil
	}
	return u.sayGone(ctx, after, used)
}

func (u *update) write(asJSON bool) error {
	if asJSON {
		err := u.con.json(struct {
			OK       bool          `json:"ok"`
			Packages int           `json:"packages"`
			Failed   []string      `json:"failed"`
			Changes  []page.Change `json:"changes"`
		}{len(u.failed) == 0, len(u.test.Packages), orEmpty(u.failed), u.changes})
		if err != nil {
			return err
		}
	} else {
		for _, c := range u.changes {
			u.con.line(c.String())
		}
	}
	if len(u.failed) > 0 {
		return exit{exitFindings, fmt.Errorf("tests failed in %s", strings.Join(u.failed, ", "))}
	}
	return nil
}

// sayGone says how many documents are of tests that the code does not have, as after one was
// renamed. Those that the run used have their tests, whatever the code looks like.
func (u *update) sayGone(ctx context.Context, now map[string]map[string]page.Seal, used map[page.Test]bool) error {
	src, err := coverage.OpenSources(ctx, "")
	if err != nil {
		return err
	}
	n := 0
	for _, seals := range now {
		for _, seal := range seals {
			if !used[seal.Test] && src.Gone(seal.Test.Package, seal.Test.Test) != "" {
				n++
			}
		}
	}
	if n > 0 {
		u.con.say("%s of tests that are not in the code any more: remove them with traceforge prune --write",
			page.Count(n, "document is", "documents are"))
	}
	return nil
}

// Receipts are those of one run, where its tests leave them.
type receipts struct {
	asked string   // what the tests are told
	dirs  []string // where that is
	temp  bool
}

// askForReceipts has the tests of packages leave receipts: where the user wants them, or in a
// directory of the run's own.
func askForReceipts(packages []coverage.Package) (*receipts, error) {
	asked := os.Getenv(usage.ReceiptEnv)
	if asked == "" {
		temp, err := os.MkdirTemp("", "traceforge-receipt-")
		return &receipts{temp, []string{temp}, true}, err
	}
	r := &receipts{asked: asked}
	for _, p := range packages {
		dir := asked
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Module, dir)
		}
		if !slices.Contains(r.dirs, dir) {
			r.dirs = append(r.dirs, dir)
		}
	}
	return r, nil
}

// used returns the tests that played or recorded.
func (r *receipts) used() (map[page.Test]bool, error) {
	used := map[page.Test]bool{}
	for _, dir := range r.dirs {
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

func (r *receipts) close() {
	if r.temp {
		os.RemoveAll(r.asked)
	}
}

func orAll(patterns []string) []string {
	if len(patterns) == 0 {
		return []string{"./..."}
	}
	return patterns
}

// storesOf returns the directories of the stores that tests of the packages use, unless they
// name another themselves.
func storesOf(packages []coverage.Package) ([]string, error) {
	dirs := map[string]bool{}
	for _, p := range packages {
		dir, err := place.StoreOfModule(p.Module)
		if err != nil {
			return nil, err
		}
		dirs[dir] = true
	}
	return slices.Sorted(maps.Keys(dirs)), nil
}

// sealsIn returns the seals of the stores in dirs. A store that cannot be read, as one with a merge
// conflict, is an error; one that is not there yet is empty.
func sealsIn(dirs []string) (map[string]map[string]page.Seal, error) {
	all := map[string]map[string]page.Seal{}
	for _, dir := range dirs {
		s, err := store.Open(dir)
		if err != nil {
			return nil, err
		}
		if all[dir], err = place.Seals(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}
