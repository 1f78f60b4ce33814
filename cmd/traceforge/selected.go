package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
)

// selected returns the packages and the pattern of the tests that the arguments and --run name; by default all. An argument is
// the name of a test, also with its package in front (example.com/shop.TestAsk), or a pattern of packages. flags are what runs a
// program, whose name is refused.
func (c *call) selected(flags string) (patterns []string, run string, err error) {
	run = c.value("run")
	if err := refuseProgram(append(slices.Clip(c.args), run), flags); err != nil {
		return nil, "", err
	}
	var tests []string
	for _, arg := range c.args {
		pkg, test := splitTest(arg)
		if top, _, _ := strings.Cut(test, "/"); gotest.Kind(top) == "" {
			patterns = append(patterns, arg)
			continue
		}
		tests = append(tests, test)
		if pkg != "" {
			patterns = append(patterns, pkg)
		}
	}
	if len(tests) > 0 && run != "" {
		return nil, "", usagef("--run goes without names of tests")
	}
	if len(patterns) == 0 {
		patterns, err = packagesOf(tests)
	}
	return patterns, cmp.Or(run, gotest.Patterns(tests)), err
}

// packagesOf returns the packages that tests have records in; by default, or if none has any, all.
func packagesOf(tests []string) ([]string, error) {
	all := []string{"./..."}
	if len(tests) == 0 {
		return all, nil
	}
	s, _, err := place.OpenStore("")
	if err != nil {
		return nil, err
	}
	var packages []string
	for doc, err := range place.Documents(s) {
		if err != nil {
			return nil, err
		}
		test := page.TestOf(doc.Document)
		if slices.ContainsFunc(tests, func(word string) bool { return isOf(test, word) }) && !test.OfProgram() {
			packages = append(packages, test.Package)
		}
	}
	if len(packages) == 0 {
		return all, nil
	}
	slices.Sort(packages)
	return slices.Compact(packages), nil
}
