package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
  --json       print one object instead: {"ok":…,"packages":…,"failed":[…],"changes":[…]}
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

	test := goTest{packages: packages, env: []string{updateEnv + "="}}
	if *onlyNew {
		test.env = []string{updateEnv + "=new"}
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
	if err := sayGone(ctx, con, stores); err != nil {
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

// sayGone says how many records are of tests that the code does not have, as after one was renamed.
func sayGone(ctx context.Context, con *console, stores []string) error {
	src, err := openSources(ctx)
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
			if from.Test != "" && src.gone(from.Package, from.Test) != "" {
				n++
			}
		}
	}
	if n > 0 {
		con.say("%s of tests that are not in the code any more: remove them with traceforge prune --write", count(n, "record is", "records are"))
	}
	return nil
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
