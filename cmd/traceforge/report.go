package main

import (
	"errors"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

func report(c *call) error {
	if c.value("receipt") == "" {
		return usageError{errors.New("--receipt must name what a run of the tests left")}
	}
	s, dir, err := c.store()
	if err != nil {
		return err
	}
	run, err := coverage.ReadRun(c.ctx, c.value("receipt"), dir)
	if err != nil {
		return err
	}
	r, err := run.Report(s)
	if err != nil {
		return err
	}
	return c.answer(struct {
		Coverage []coverage.PackageReport `json:"coverage"`
		Orphans  []coverage.Unused        `json:"orphans"`
		Unplayed []coverage.Unused        `json:"unplayed"`
		Missing  []coverage.Unanswered    `json:"missing"`
		Failed   []page.Test              `json:"failed"`
	}{orEmpty(r.Packages), orEmpty(r.Orphans), orEmpty(r.Unplayed), orEmpty(r.Missing), orEmpty(r.Failed)}, func() {
		if c.is("markdown") {
			c.text(r.Markdown())
			return
		}
		r.Write(c.stdout)
		for _, u := range r.Orphans {
			c.line("unused " + u.File + "  " + u.Reason)
		}
		for _, m := range r.Missing {
			c.line("unrecorded " + m.Test.Test + " in " + m.Package + ": " + m.Reason)
		}
		for _, t := range r.Failed {
			c.line("failed " + t.Test + " in " + t.Package)
		}
		c.sayAll(r.Reasons())
	})
}

// orEmpty is list as a program likes to read it.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }
