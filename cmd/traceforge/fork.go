package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A comparison is the result of check --live: the outcome of each test with live answers of several models.
type comparison struct {
	OK   bool   `json:"ok"`   // all tests passed with all models
	Runs []fork `json:"runs"` // one for each test and model
}

// A fork is a run of a test on live answers.
type fork struct {
	Model string `json:"model,omitempty"` // the requested model, as --model names it; empty for the model in the code
	page.Test
	Outcome string       `json:"outcome"`        // pass, fail or skip
	Why     string       `json:"why,omitempty"`  // the first message of a test that failed
	Calls   int          `json:"calls"`          // number of live calls
	Input   int64        `json:"input"`          // input tokens of the live calls
	Output  int64        `json:"output"`         // tokens of the live answers
	Cost    *float64     `json:"cost,omitempty"` // cost by the prices of config.json; omitted if a price is unknown
	Seconds float64      `json:"seconds"`        // duration in seconds
	Models  []usage.Live `json:"models"`         // the models that answered
}

// forks runs tests on live answers, once for each model.
func (c *call) forks(packages []coverage.Package, run string, values url.Values) error {
	s, _, err := place.OpenStore("")
	if err != nil {
		return err
	}
	config, err := s.Config()
	if err != nil {
		return err
	}
	found := comparison{OK: true, Runs: []fork{}}
	for _, model := range orOne(c.values("model"), "") {
		if values.Del("model"); model != "" {
			values.Set("model", model)
		}
		c.say("live: %s%s", page.Count(len(packages), "package", "packages"), strings.TrimRight(", "+model, ", "))
		test := &coverage.GoTest{Packages: packages, Env: []string{gotest.UpdateEnv + "=live", usage.CheckEnv + "=" + values.Encode()}}
		receipts, ended, err := runTests(c, test, run)
		if err != nil {
			return err
		}
		found.OK = found.OK && len(ended.Failed()) == 0
		for _, receipt := range receipts {
			found.Runs = append(found.Runs, forkOf(config, model, receipt, test))
		}
	}
	slices.SortStableFunc(found.Runs, func(a, b fork) int { return a.Test.Compare(b.Test) })
	c.answer(found, func() { c.table(found.table()) })
	if len(found.Runs) == 0 {
		return errors.New("no test with a recorder ran")
	}
	return withFindings(!found.OK)
}

// forkOf combines a receipt and the result of go test for one run.
func forkOf(config *store.Config, model string, r usage.Receipt, test *coverage.GoTest) fork {
	name := page.Test{Package: r.Package, Name: r.Test}
	f := fork{Model: model, Test: name, Outcome: r.Outcome, Why: test.Said[name], Seconds: test.Elapsed[name], Models: orEmpty(r.Live)}
	_, asked, _ := strings.Cut(model, "=")
	cost, known := 0.0, len(r.Live) > 0
	for _, l := range r.Live {
		f.Calls, f.Input, f.Output = f.Calls+l.Calls, f.Input+l.Input, f.Output+l.Output
		used := &modelio.Usage{InputTokens: &l.Input, OutputTokens: &l.Output}
		more, ok := lint.Prices(config.Prices).Cost(&snapshot.Snapshot{
			Request: modelio.Request{Model: asked}, Response: snapshot.Response{Response: modelio.Response{Model: l.Model, Usage: used}},
		})
		cost, known = cost+more, known && ok
	}
	if known {
		f.Cost = &cost
	}
	return f
}

// table has a line for each test and model. A test with the name of one in another package has its package.
func (r *comparison) table() *page.Table {
	named := func(f *fork) string {
		if slices.ContainsFunc(r.Runs, func(o fork) bool { return o.Test.Name == f.Test.Name && o.Package != f.Package }) {
			return f.Test.Name + " in " + f.Package
		}
		return f.Test.Name
	}
	of := func(cell func(*fork) string) func(int) string {
		return func(row int) string { return cell(&r.Runs[row]) }
	}
	return &page.Table{Rows: len(r.Runs), Columns: []page.Column{
		{Name: "test", Shrinks: true, Cell: of(named)},
		{Name: "model", Shrinks: true, Cell: of(func(f *fork) string { return cmp.Or(f.Model, "(as it is)") })},
		{Name: "outcome", Shrinks: true, Cell: of(func(f *fork) string { return strings.TrimSuffix(f.Outcome+": "+f.Why, ": ") })},
		{Name: "calls", Right: true, Cell: of(func(f *fork) string { return fmt.Sprint(f.Calls) })},
		{Name: "tokens", Right: true, Cell: of(func(f *fork) string { return fmt.Sprint(f.Input + f.Output) })},
		{Name: "cost", Right: true, Cell: of(func(f *fork) string {
			if f.Cost == nil {
				return ""
			}
			return fmt.Sprintf("%.4f", *f.Cost)
		})},
		{Name: "time", Right: true, Cell: of(func(f *fork) string { return fmt.Sprintf("%.2fs", f.Seconds) })},
	}}
}
