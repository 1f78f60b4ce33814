package main

import (
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
)

// rekey has tests adopt their stored answers for requests that changed, without a call.
func rekey(c *call) error {
	if err := refuseProgram(c.args, "--update=rekey"); err != nil {
		return err
	}
	defer c.sayPrograms("--update=rekey")
	var tests, patterns []string
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
	if len(patterns) == 0 {
		found, err := packagesOf(tests)
		if err != nil {
			return err
		}
		patterns = found
	}
	return record(c, "rekey", patterns, gotest.Patterns(tests))
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
