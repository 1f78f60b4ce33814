package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/receipt"
	"github.com/traceforge/traceforge-go/snapshot"
)

var updateCommand = command{
	name:     "update",
	synopsis: "[--new] [--json] [-run REGEXP] [PACKAGE…] [-- FLAG…]",
	summary:  "record the model calls of tests again",
	help: `
Finds the packages whose tests can record, also through helper packages, and runs
go test on those alone, with -update: so other packages need not know the flag. The
packages are patterns as of go test, ./... where none is given. What follows -- goes to
go test as it is.

Says on standard error how each package went, and prints a line for each record that was
added, changed or removed. The exit code is 1 if a test failed.

  -run REGEXP  run only the tests that match
  --new        record only calls that have no snapshot, and replay the others
  --json       print one object instead

The object of --json has:

  ok         true where no test failed
  packages   how many packages were tested
  failed     the import paths of those that failed
  changes    of each record: change, which is added, changed or removed; file, its path
             from the working directory; id; package and test, where they are known
`,
	run: runUpdate,
}

func runUpdate(ctx context.Context, con *console, args []string) error {
	args, forwarded := cutTerminator(args)
	flags := newFlags()
	tests := flags.String("run", "", "")
	onlyNew := flags.Bool("new", false, "")
	asJSON := flags.Bool("json", false, "")
	patterns, err := arguments(flags, args, 0, len(args))
	if err != nil {
		return err
	}
	packages, err := testPackages(ctx, "", orAll(patterns), forwarded)
	if err != nil {
		if wd, wdErr := os.Getwd(); len(patterns) == 0 && wdErr == nil && moduleRoot(wd) == "" {
			return noModuleForTests()
		}
		return err
	}
	packages = slices.DeleteFunc(packages, func(p testPackage) bool { return !p.records })
	if len(packages) == 0 {
		return fmt.Errorf("no package of %s has tests that can record: they must import %s", strings.Join(orAll(patterns), " "), harness)
	}
	stores, err := storesOf(packages)
	if err != nil {
		return err
	}
	before, err := watchStores(stores)
	if err != nil {
		return err
	}

	receipts, err := askForReceipts(packages)
	if err != nil {
		return err
	}
	defer receipts.close()
	test := goTest{packages: packages, env: []string{updateEnv + "=", receipt.Env + "=" + receipts.asked}}
	if *onlyNew {
		test.env[0] = updateEnv + "=new"
	} else {
		test.flags = append(test.flags, "-update") // before what go may stop at
	}
	if *tests != "" {
		test.flags = append(test.flags, "-run="+*tests)
	}
	test.flags = append(test.flags, forwarded...)
	con.say("recording: %s", count(len(packages), "package", "packages"))
	ended, err := test.run(ctx, con)
	if err != nil {
		return err
	}

	differ, err := before.changes()
	if err != nil {
		return err
	}
	attribute(differ, ended)
	failed := ended.failed()
	con.say("%s: %s", strings.Join(stores, ", "), tally(differ))
	if used, err := receipts.used(); err != nil { // as of another version, that were there before
		con.say("which records are of tests that are not in the code is not known: %v", err)
	} else if err := sayGone(ctx, con, stores, used); err != nil {
		return err
	}
	if *asJSON {
		err = con.json(struct {
			OK       bool     `json:"ok"`
			Packages int      `json:"packages"`
			Failed   []string `json:"failed"`
			Changes  []change `json:"changes"`
		}{len(failed) == 0, len(packages), append([]string{}, failed...), differ})
	} else {
		err = writeChanges(con, differ)
	}
	if err == nil && len(failed) > 0 {
		err = exit{exitFindings, fmt.Errorf("tests failed in %s", strings.Join(failed, ", "))}
	}
	return err
}

// sayGone says how many records are of tests that the code does not have, as after one was
// renamed. Those that the run used have their tests, whatever the code looks like.
func sayGone(ctx context.Context, con *console, stores []string, used map[string]bool) error {
	src, err := openSources(ctx, "")
	if err != nil {
		return err
	}
	n := 0
	for _, dir := range stores {
		store, err := snapshot.Open(dir)
		if err != nil {
			return err
		}
		defer store.Close()
		origins, err := origins(store)
		if err != nil {
			return err
		}
		for _, from := range origins {
			if !used[snapshot.ID(from.Package, from.Test, from.Ordinal)] && src.gone(from.Package, from.Test) != "" {
				n++
			}
		}
	}
	if n > 0 {
		con.say("%s of tests that are not in the code any more: remove them with traceforge prune --write", count(n, "record is", "records are"))
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
func askForReceipts(packages []testPackage) (*receipts, error) {
	asked := os.Getenv(receipt.Env)
	if asked == "" {
		temp, err := os.MkdirTemp("", "traceforge-receipt-")
		return &receipts{temp, []string{temp}, true}, err
	}
	r := &receipts{asked: asked}
	for _, p := range packages {
		dir := asked
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.module, dir)
		}
		if !slices.Contains(r.dirs, dir) {
			r.dirs = append(r.dirs, dir)
		}
	}
	return r, nil
}

// used returns the ids of the records that the tests played or recorded.
func (r *receipts) used() (map[string]bool, error) {
	used := map[string]bool{}
	for _, dir := range r.dirs {
		tests, _, err := receipt.Read(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // no test had a recorder
			return nil, err
		}
		for _, t := range tests {
			for _, id := range slices.Concat(t.Played, t.Recorded) {
				used[id] = true
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

// updateEnv is the variable that has the harness record.
const updateEnv = "TRACEFORGE_UPDATE"

// cutTerminator splits arguments at the first "--".
func cutTerminator(args []string) (before, after []string) {
	i := slices.Index(args, "--")
	if i < 0 {
		return args, nil
	}
	return args[:i], args[i+1:]
}

func orAll(patterns []string) []string {
	if len(patterns) == 0 {
		return []string{"./..."}
	}
	return patterns
}

// storesOf returns the directories of the stores that tests of the packages use, unless they
// name another themselves.
func storesOf(packages []testPackage) ([]string, error) {
	var dirs []string
	for _, p := range packages {
		dir, err := storeOfModule(p.module)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}
