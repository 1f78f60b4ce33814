package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
)

// updateScripted lists the tests that have scripted answers, or the named ones among them, and records these tests. A
// test that still has its script keeps its answers and is reported as a finding.
func updateScripted(c *call) error {
	if c.value("run") != "" {
		return usagef("--scripted finds the tests by itself: name some of them to narrow it, instead of --run")
	}
	rows, err := scriptedTests(c.args)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		c.say("no answer is of a script")
		return nil
	}
	c.sayAll(scriptedLines(rows))
	var packages, tests []string
	for _, l := range rows {
		packages = append(packages, l.Package)
		tests = append(tests, l.Test.Name)
	}
	if err := record(c, "1", page.Distinct(packages), page.RunPattern(tests)); err != nil {
		return err
	}
	left, err := scriptedTests(c.args)
	if err != nil || len(left) == 0 {
		return err
	}
	return exit{exitFindings, fmt.Errorf("nothing was bought where the script still answers: take it away, and run this again\n  %s",
		strings.Join(scriptedLines(left), "\n  "))}
}

// scriptedTests returns the tests in the store that have scripted answers: the named ones, or all.
func scriptedTests(names []string) ([]entry, error) {
	s, _, err := place.OpenStore("")
	if err != nil {
		return nil, err
	}
	return rowsOf(s, false, func(l *entry) bool {
		named := func(word string) bool { return isOf(l.Test, word) }
		return l.Scripted > 0 && !l.OfProgram() && (len(names) == 0 || slices.ContainsFunc(names, named))
	})
}

// scriptedLines returns a line for each test with the number of its scripted answers.
func scriptedLines(rows []entry) (lines []string) {
	for _, l := range rows {
		lines = append(lines, fmt.Sprintf("%s.%s: %s of a script", l.Package, l.Test.Name, page.Count(l.Scripted, "answer", "answers")))
	}
	return lines
}
