package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// A pruneReport is the output of prune --json.
type pruneReport struct {
	Removed  bool                      `json:"removed"`  // whether the orphans were removed
	Orphans  []coverage.UnusedDocument `json:"orphans"`  // documents that can be removed, or that were removed
	Unplayed []coverage.UnusedDocument `json:"unplayed"` // documents that were not used and are kept
	Failed   []string                  `json:"failed"`   // packages that failed: the use of their documents is unknown
}

func prune(c *call, s *store.Store, dir string) error {
	if len(c.values("receipt")) > 0 && c.forwarded != nil {
		return usagef("no test is run with --receipt, so no flag can be passed to it")
	}
	run, err := runOf(c, s, dir)
	if err != nil {
		return err
	}
	if failed := run.Ended.Failed(); len(failed) > 0 {
		c.answer(pruneReport{false, []coverage.UnusedDocument{}, []coverage.UnusedDocument{}, failed}, func() {})
		return exit{exitFindings, fmt.Errorf("tests failed in %s: nothing is removed", strings.Join(failed, ", "))}
	}
	r, err := run.Report(s)
	if err != nil {
		return err
	}
	written := c.is("write")
	if written {
		if err := remove(c, s, r.Orphans); err != nil {
			return err
		}
	}
	c.answer(pruneReport{written, orEmpty(r.Orphans), orEmpty(r.Unplayed), []string{}}, func() {
		for _, u := range r.Orphans {
			c.line(filepath.ToSlash(filepath.Join(dir, u.File)) + "  " + u.Reason)
		}
	})
	c.sayAll(r.Reasons())
	orphans := page.Count(len(r.Orphans), "document", "documents")
	switch {
	case len(r.Orphans) == 0:
		c.say("%s: nothing is to be removed", dir)
	case written:
		c.say("%s: removed %s", dir, orphans)
	default:
		c.say("%s: %s to remove with traceforge prune --write", dir, orphans)
		return exit{code: exitFindings}
	}
	return nil
}

// runOf returns a run of the tests: one that left receipts, or a new one.
func runOf(c *call, s *store.Store, dir string) (*coverage.Run, error) {
	if left := c.values("receipt"); len(left) > 0 {
		return coverage.ReadRun(c.ctx, left, dir)
	}
	return coverage.RunAll(c.ctx, c.say, s, dir, c.forwarded)
}

// remove removes documents, and raw answers that no other document refers to.
func remove(c *call, s *store.Store, orphans []coverage.UnusedDocument) error {
	var change store.Change
	for _, u := range orphans {
		change.Remove = append(change.Remove, u.File)
	}
	if err := s.Commit(change); err != nil {
		return err
	}
	files, err := audit.Prune(s)
	for _, file := range files {
		c.say("removed %s, which no record named", file)
	}
	return err
}
