package main

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// A runReport is the output of report --json.
type runReport struct {
	*coverage.Report
	Shards *shardReport `json:"shards,omitempty"` // checks and pending answers in the --receipt directories
}

func report(c *call) error {
	left := c.values("receipt")
	if len(left) == 0 {
		return usagef("--receipt must name what a run of the tests left")
	}
	r, s, err := reportOf(c, left)
	if err != nil {
		return err
	}
	c.secrets.Hide(r.Causes)
	reportFiles(c, r)
	shards, err := join(r, s, left)
	if err != nil {
		return err
	}
	if c.is("annotations") {
		c.annotateCauses(&r.Calls, r.Path)
	}
	r.Packages, r.Orphans, r.Unplayed = orEmpty(r.Packages), orEmpty(r.Orphans), orEmpty(r.Unplayed)
	r.Unanswered, r.Failed = orEmpty(r.Unanswered), orEmpty(r.Failed)
	c.answer(runReport{r, shards}, func() {
		if c.is("markdown") {
			checks, most := "", page.MarkdownLimit-callersRoom
			if shards != nil && shards.Checks != nil {
				checks = "\n" + shards.Checks.markdown(most/2)
			}
			c.text(r.Markdown(most-len(checks)) + checks)
			c.sayAll(shards.lines())
			return
		}
		reportText(c, r)
		if shards != nil && shards.Checks != nil {
			c.text("\n" + shards.Checks.text(c.spelled))
		}
		c.line(shards.lines()...)
	})
	failed := len(left) > 1 && (len(r.Unanswered)+len(r.Failed) > 0 || !shards.ok())
	return withFindings(failed || shards != nil && len(shards.Conflicts) > 0)
}

// reportOf reads how a run of the tests used the named stores. The store is nil if there are several.
func reportOf(c *call, left []string) (*coverage.Report, *store.Store, error) {
	stores := orOne(c.values("dir"), "")
	all := &coverage.Report{}
	for _, named := range stores {
		r, s, err := reportOfStore(c, named, left)
		if err != nil {
			return nil, nil, err
		}
		if len(stores) == 1 {
			c.named = named
			return r, s, nil
		}
		all.Join(r, s.Shown(""))
	}
	return all, nil, nil
}

// reportOfStore reads how a run used one store. A store that does not exist is empty if tests have looked for it.
func reportOfStore(c *call, named string, left []string) (r *coverage.Report, s *store.Store, err error) {
	s, dir, notThere := place.OpenStore(named)
	if notThere != nil && !errors.Is(notThere, fs.ErrNotExist) {
		return nil, nil, notThere
	}
	s.Waiting = c.waits
	run, err := coverage.ReadRun(c.ctx, left, dir)
	if err != nil {
		return nil, nil, err
	}
	if notThere != nil && !run.Used() && len(c.values("dir")) < 2 {
		return nil, nil, notThere
	}
	if r, err = run.Report(s); err != nil || c.value("since") == "" || notThere != nil {
		return r, s, err
	}
	_, r.Config, err = changesSince(c, s, dir, c.value("since"))
	return r, s, err
}

// reportText writes a report for people.
func reportText(c *call, r *coverage.Report) {
	if len(r.Config) > 0 {
		c.page(c.stdout).Settings(r.Config)
		c.line("")
	}
	c.causes(&r.Calls)
	if len(r.Causes) > 0 {
		c.line("")
	}
	r.Write(c.stdout)
	for _, u := range r.Orphans {
		c.line("unused " + u.File + "  " + u.Reason)
	}
	for _, t := range r.Failed {
		c.line("failed for another reason: " + t.Name + " in " + t.Package)
	}
	c.sayAll(r.Reasons())
}

// reportFiles writes the report in the forms that other programs read from files.
func reportFiles(c *call, r *coverage.Report) {
	for _, form := range []struct {
		flag string
		text func() string
	}{{"junit", r.JUnit}, {"gitlab", r.CodeQuality}, {"html", func() string { return reportHTML(c, r) }}} {
		if file := c.value(form.flag); file != "" {
			c.fail(writeResult(file, []byte(c.secrets.Mask(form.text()))))
		}
	}
}

// reportHTML returns the changes in config.json, and the causes, as a page for a browser.
func reportHTML(c *call, r *coverage.Report) string {
	causes := page.Comparison{Config: r.Config, Causes: r.Causes}
	return causes.HTML(page.About{
		Command: "traceforge report", Accept: true,
		All: "traceforge report --json --receipt " + gotest.Quote(strings.Join(c.values("receipt"), ",")),
	})
}

// orOne returns list, or a list of only word if it is empty.
func orOne(list []string, word string) []string {
	if len(list) == 0 {
		return []string{word}
	}
	return list
}

// orEmpty returns a copy of list that is never nil, so that it is [] in JSON.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }
