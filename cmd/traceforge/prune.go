package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

func pruneCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "prune [-- FLAG…]",
		Short: "remove the documents that no test uses any more",
		Long: `Runs the tests of all packages of the module that can record, and lists the documents that
none of them used and none can use: those of tests that are not in the code any more, and
those that a test passed without. With --write they are removed, with their raw answers;
and so are raw answers that no record names.

Never listed are documents of tests that did not run as they always do: that were skipped
or filtered (-run, -skip, -short), whose files other build tags select, whose package
failed or did not run, that a test framework runs under names of its own, and those of
other modules. Where a test fails, nothing is removed.

What follows -- goes to go test as it is. The exit code is 1 where there is something to
remove, or a test failed.

With --receipt it runs nothing, but reads what a run left: the receipts of its tests, and
what go test -json printed.

The object of --json has:

  removed    true where what is listed was removed
  orphans    of each document to remove, or that was removed:
             ` + coverage.UnusedFields + `
  unplayed   the same of each document that was not used and stays
`,
	}
	asJSON := jsonFlag(c)
	dir := dirFlag(c)
	left := receiptFlag(c)
	write := c.Flags().Bool("write", false, "remove what is listed")
	c.Flags().BoolP("dry-run", "n", false, "remove nothing; so it is without --write")
	c.MarkFlagsMutuallyExclusive("write", "dry-run")
	c.RunE = func(c *cobra.Command, args []string) error {
		args, flags := beforeDash(c, args)
		if err := arguments(0, 0)(c, args); err != nil {
			return err
		}
		if *left != "" && flags != nil {
			return usageError{errors.New("no test is run with --receipt, so no flag can be passed to it")}
		}
		s, dir, err := place.OpenStore(*dir)
		if err != nil {
			return err
		}
		report, err := pruneable(c.Context(), con, s, dir, *left, flags)
		if err != nil {
			return err
		}
		if *write {
			if err := remove(con, s, report.Orphans); err != nil {
				return err
			}
		}
		return writePruned(con, dir, report, *write, *asJSON)
	}
	return c
}

// pruneable returns what a run of the tests used, which must have passed: the one that left its
// receipts in left, or one that is made now.
func pruneable(
	ctx context.Context, con *console, s *store.Store, dir, left string, flags []string,
) (*coverage.Report, error) {
	var run *coverage.Run
	var err error
	if left != "" {
		run, err = coverage.ReadRun(ctx, left, dir)
	} else {
		run, err = coverage.RunAll(ctx, con.say, s, dir, flags)
	}
	if err != nil {
		return nil, err
	}
	report, err := run.Report(s)
	if err != nil {
		return nil, err
	}
	if failed := run.Ended.Failed(); len(failed) > 0 {
		return nil, exit{exitFindings, fmt.Errorf("tests failed in %s: nothing is removed", strings.Join(failed, ", "))}
	}
	return report, nil
}

// remove removes documents, and raw answers that no other names.
func remove(con *console, s *store.Store, orphans []coverage.Unused) error {
	var c store.Change
	for _, u := range orphans {
		c.Remove = append(c.Remove, u.File)
	}
	if err := s.Commit(c); err != nil {
		return err
	}
	files, err := s.Prune()
	for _, file := range files {
		con.say("removed %s, which no record named", file)
	}
	return err
}

func writePruned(con *console, dir string, r *coverage.Report, removed, asJSON bool) error {
	if asJSON {
		err := con.json(struct {
			Removed  bool              `json:"removed"`
			Orphans  []coverage.Unused `json:"orphans"`
			Unplayed []coverage.Unused `json:"unplayed"`
		}{removed, orEmpty(r.Orphans), orEmpty(r.Unplayed)})
		if err != nil {
			return err
		}
	} else {
		for _, u := range r.Orphans {
			con.line(filepath.ToSlash(filepath.Join(dir, u.File)) + "  " + u.Reason)
		}
		if err := con.stdout.Flush(); err != nil {
			return err
		}
	}
	con.sayAll(r.Reasons())
	orphans := page.Count(len(r.Orphans), "document", "documents")
	switch {
	case len(r.Orphans) == 0:
		con.say("%s: nothing is to be removed", dir)
	case removed:
		con.say("%s: removed %s", dir, orphans)
	default:
		con.say("%s: %s to remove with traceforge prune --write", dir, orphans)
		return exit{code: exitFindings}
	}
	return nil
}
