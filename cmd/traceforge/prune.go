package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

var pruneCommand = command{
	name:     "prune",
	synopsis: "[--write] [--json] [--receipt DIR|--blobs] [--dir DIR] [-- FLAG…]",
	summary:  "remove the records that no test uses any more",
	help: `
Runs the tests of all packages of the module that can record, and lists the records that
none of them used and none can use: those of tests that are not in the code any more, and
those that a test passed without. With --write they are removed, with their blobs.

Never listed are records of tests that did not run as they always do: that were skipped
or filtered (-run, -skip, -short), whose files other build tags select, whose package
failed or did not run, that a test framework runs under names of its own, and those of
other modules. Where a test fails, nothing is removed. Blobs that no record refers to, as
merges may leave them, are listed too.

What follows -- goes to go test as it is. The exit code is 1 where there is something to
remove, or a test failed.

  -n, --dry-run  remove nothing; so it is without --write
  --write        remove what is listed
  --receipt DIR  run nothing, but read what a run left in DIR: the receipts of its tests,
                 and what go test -json printed
  --blobs        run nothing, and look for blobs only
  --dir DIR      the store
  --json         print one object instead

The object of --json has:

  removed    true where what is listed was removed
  orphans    of each file to remove, or that was removed:
             ` + unusedFields + `
  unplayed   the same of each record that was not used and stays
`,
	run: runPrune,
}

func runPrune(ctx context.Context, con *console, args []string) error {
	args, forwarded := cutTerminator(args)
	flags := newFlags()
	write := flags.Bool("write", false, "")
	dry := flags.Bool("dry-run", false, "")
	flags.BoolVar(dry, "n", false, "")
	asJSON := flags.Bool("json", false, "")
	left := flags.String("receipt", "", "")
	onlyBlobs := flags.Bool("blobs", false, "")
	named := flags.String("dir", "", "")
	if _, err := arguments(flags, args, 0, 0); err != nil {
		return err
	}
	switch {
	case *write && *dry:
		return usagef("--write and --dry-run exclude each other")
	case *left != "" && *onlyBlobs:
		return usagef("--receipt and --blobs exclude each other")
	case (*left != "" || *onlyBlobs) && forwarded != nil:
		return usagef("no test is run with --receipt or --blobs, so no flag can be passed to it")
	}
	store, dir, err := openStore(*named)
	if err != nil {
		return err
	}
	defer store.Close()
	c := &coverage{}
	if !*onlyBlobs {
		if c, err = pruneable(ctx, con, store, dir, *left, forwarded); err != nil {
			return err
		}
	}
	blobs, err := orphanedBlobs(store)
	if err != nil {
		return err
	}
	if *write {
		if err := remove(store, c.orphans); err != nil {
			return err
		}
	}
	c.orphans = append(c.orphans, blobs...)
	return sayPruned(con, dir, c, *write, *asJSON)
}

// pruneable returns what a run of the tests used, which must have passed: the one that left its
// receipts in left, or one that is made now.
func pruneable(ctx context.Context, con *console, store *snapshot.Store, dir, left string, flags []string) (*coverage, error) {
	var u *usage
	var err error
	if left != "" {
		u, err = readRun(ctx, left, dir)
	} else {
		u, err = runAll(ctx, con, store, dir, flags)
	}
	if err != nil {
		return nil, err
	}
	c, err := u.cover(store)
	if err != nil {
		return nil, err
	}
	if failed := u.ended.failed(); len(failed) > 0 {
		return nil, exit{exitFindings, fmt.Errorf("tests failed in %s: nothing is removed", strings.Join(failed, ", "))}
	}
	return c, nil
}

// orphanedBlobs returns the blobs that no record refers to.
func orphanedBlobs(store *snapshot.Store) ([]unused, error) {
	found, err := store.Verify()
	if err != nil {
		return nil, err
	}
	var blobs []unused
	for _, f := range found {
		if f.Rule == "orphan" {
			blobs = append(blobs, unused{File: f.File, Reason: f.Message})
		}
	}
	return blobs, nil
}

// remove removes records, and the blobs that no other refers to.
func remove(store *snapshot.Store, orphans []unused) error {
	var c snapshot.Change
	for _, r := range orphans {
		c.Remove = append(c.Remove, r.entry)
	}
	if err := store.Commit(c); err != nil {
		return err
	}
	_, err := store.Prune()
	return err
}

func sayPruned(con *console, dir string, c *coverage, removed, asJSON bool) error {
	if asJSON {
		err := con.json(struct {
			Removed  bool     `json:"removed"`
			Orphans  []unused `json:"orphans"`
			Unplayed []unused `json:"unplayed"`
		}{removed, append([]unused{}, c.orphans...), append([]unused{}, c.kept...)})
		if err != nil {
			return err
		}
	} else {
		for _, r := range c.orphans {
			fmt.Fprintln(con.stdout, printable(filepath.ToSlash(filepath.Join(dir, r.File))+"  "+r.Reason))
		}
		if err := con.stdout.Flush(); err != nil {
			return err
		}
	}
	c.sayKept(con)
	orphans := count(len(c.orphans), "file", "files")
	switch {
	case len(c.orphans) == 0:
		con.say("%s: nothing is to be removed", dir)
	case removed:
		con.say("%s: removed %s", dir, orphans)
	default:
		con.say("%s: %s to remove with traceforge prune --write", dir, orphans)
		return exit{code: exitFindings}
	}
	return nil
}
