package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// callersRoom is how much of an issue's text is left to the workflow that opens it, as for a link to its run.
const callersRoom = 500

// check runs tests that hold their stored answers against live ones.
func check(c *call) error {
	options, err := checkOptions(c)
	if err != nil {
		return err
	}
	patterns, run, err := c.selected("--check")
	if err != nil {
		return err
	}
	defer c.sayPrograms("--check")
	packages, err := recording(c, patterns, run)
	if err != nil {
		return err
	}
	if c.is("live") {
		return c.forks(packages, run, options)
	}
	c.say("checking: %s", page.Count(len(packages), "package", "packages"))
	test := &coverage.GoTest{
		Packages: packages, Flags: runFlag(run),
		Env: []string{gotest.UpdateEnv + "=check", usage.CheckEnv + "=" + options.Encode()},
	}
	receipts, ended, err := runTests(c, test)
	if err != nil {
		return err
	}
	r := newChecked(receipts, ended)
	if left := c.unmet(r); left != "" {
		r.OK = false
		defer c.say("%s", left)
	}
	err = c.answer(r, func() {
		if c.is("markdown") {
			c.text(r.markdown(page.MarkdownLimit - callersRoom))
			return
		}
		c.text(r.text())
	})
	return withFindings(!r.OK, err)
}

// unmet says that --from and --model leave no recorded call to check; empty: they do, or are not given. A sample and a shard may be empty.
func (c *call) unmet(r *checkReport) string {
	flags := option(" --from ", c.value("from")) + option(" --model ", strings.Join(c.values("model"), " "))
	n := r.Calls[usage.CheckUnchosen]
	if n == 0 || len(r.Calls) > 1 || flags == "" || c.value("sample")+c.value("shard") != "" {
		return ""
	}
	return fmt.Sprintf("nothing was checked:%s chooses none of %s", flags, page.Count(n, "recorded call", "recorded calls"))
}

// checkOptions returns the flags as the tests take them.
func checkOptions(c *call) (url.Values, error) {
	values := url.Values{}
	for _, name := range []string{"repeat", "sample", "shard", "tier", "from", "kind"} {
		if value := c.value(name); value != "" {
			values.Set(name, value)
		}
	}
	models := c.values("model")
	if len(models) > 1 && !c.is("live") {
		return nil, usagef("--model may be given several times with --live only")
	}
	values.Set("brief", "1") // the answer shows the rest
	for _, model := range append(models, "") {
		if model != "" {
			values.Set("model", model)
		}
		o, err := usage.ParseCheckOptions(values.Encode())
		if err != nil {
			return nil, usagef("--%s", strings.TrimPrefix(err.Error(), usage.CheckEnv+": "))
		}
		if c.is("live") && !o.IsLive() {
			return nil, usagef("--live goes with --kind, --from and --model, and no other flag that chooses calls")
		}
	}
	return values, nil
}
