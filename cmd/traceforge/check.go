package main

import (
	"fmt"
	"net/url"
	"strings"

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
	packages, err := recording(c, patterns)
	if err != nil {
		return err
	}
	if err := hasTests(c, packages, patterns, run); err != nil {
		return err
	}
	c.say("checking: %s", page.Count(len(packages), "package", "packages"))
	test := &coverage.GoTest{
		Packages: packages, Flags: runFlag(run),
		Env: []string{coverage.UpdateEnv + "=check", usage.CheckEnv + "=" + options},
	}
	receipts, ended, err := runTests(c, test)
	if err != nil {
		return err
	}
	r := newChecked(receipts, ended)
	err = c.answer(r, func() {
		if c.is("markdown") {
			c.text(r.markdown(page.MarkdownLimit - callersRoom))
			return
		}
		c.text(r.text())
	})
	if err == nil && !r.OK {
		return exit{code: exitFindings}
	}
	return err
}

// checkOptions returns the flags as the tests take them.
func checkOptions(c *call) (string, error) {
	values := url.Values{}
	for _, name := range []string{"repeat", "sample", "shard", "tier", "model", "from", "kind"} {
		if value := c.value(name); value != "" {
			values.Set(name, value)
		}
	}
	values.Set("brief", "1") // the answer shows the rest
	text := values.Encode()
	if _, err := usage.ParseCheckOptions(text); err != nil {
		return "", usageError{fmt.Errorf("--%s", strings.TrimPrefix(err.Error(), usage.CheckEnv+": "))}
	}
	return text, nil
}
