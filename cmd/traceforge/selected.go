package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/near"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// selected returns the packages and the pattern of the tests that the arguments and --run name; by default all. An
// argument is the name of a test, optionally with its package in front (example.com/shop.TestAsk), or a pattern of
// packages. flags are the flags that run a program; the name of a program is refused.
func (c *call) selected(flags string) (patterns []string, run string, err error) {
	run = c.value("run")
	if err := refuseProgram(append(slices.Clip(c.args), run), flags); err != nil {
		return nil, "", err
	}
	var tests []string
	for _, arg := range c.args {
		pkg, test := splitTest(arg)
		if !isRun(test) {
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
	return patterns, cmp.Or(run, page.RunPattern(tests)), err
}

// packagesOf returns the packages in which tests have records; by default, or if none has any, all packages.
func packagesOf(tests []string) ([]string, error) {
	if len(tests) == 0 {
		return []string{"./..."}, nil
	}
	s, dir, err := place.OpenStore("")
	if err != nil {
		return nil, err
	}
	files, err := s.List()
	if err != nil {
		return nil, err
	}
	var packages []string
	for _, file := range files {
		test, _ := place.TestOfBroken(dir, file) // whether it can be read does not matter here
		if slices.ContainsFunc(tests, func(word string) bool { return isOf(test, word) }) && !test.OfProgram() {
			packages = append(packages, test.Package)
		}
	}
	return orOne(page.Distinct(packages), "./..."), nil
}

// commandOf returns the command that runs the program of a document with flags, as recorded by its latest call.
func commandOf(doc *snapshot.Document, flags string) string {
	latest := slices.MaxFunc(doc.Snapshots, func(a, b snapshot.Snapshot) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.Number(), b.Number()))
	})
	return page.ProgramCommand(page.TestOf(doc).Name, latest.Source.Function, flags)
}

// programs returns the commands that run the programs of the store here with flags, by program name.
func programs(flags string) map[string]string {
	s, _, err := place.OpenStore("")
	if err != nil {
		return nil
	}
	commands := map[string]string{}
	for doc := range place.Readable(s, nil) {
		if test := page.TestOf(doc.Document); test.OfProgram() {
			commands[test.Name] = commandOf(doc.Document, flags)
		}
	}
	return commands
}

// sayPrograms prints how to run the programs with flags if everything recorded is meant, since go test does not run
// them.
func (c *call) sayPrograms(flags string) {
	if f := c.cmd.Flag("run"); len(c.args) > 0 || f != nil && f.Changed {
		return
	}
	if all := slices.Sorted(maps.Values(programs(flags))); len(all) > 0 {
		c.say("%s of the store, which go test does not run: %s", page.Count(len(all), "program", "programs"),
			strings.Join(page.Most(filesShown, all, "more"), "; "))
	}
}

// refuseProgram reports how to run a program with flags if one of the words names it, since go test has no such test.
func refuseProgram(words []string, flags string) error {
	named := func(word string) bool { return word != "" && word[0] != '.' && !strings.Contains(word, "...") }
	if !slices.ContainsFunc(words, named) {
		return nil
	}
	commands := programs(flags)
	for _, word := range words {
		name := strings.TrimPrefix(word, snapshot.ProgramPackage+".")
		if command, ok := commands[name]; ok && gotest.Kind(name) == "" {
			return fmt.Errorf("%s is a program, which go test does not run: %s", gotest.Quote(word), command)
		}
	}
	return nil
}

// replays returns the commands that replay documents of a store.
func replays(s *store.Store, documents []string) string {
	var commands []string
	for _, name := range documents { // of any provider
		command := "go test"
		if doc, err := s.Load(name, store.UnknownProvider); err == nil && page.TestOf(doc.Document).OfProgram() {
			command = commandOf(doc.Document, "")
		}
		commands = append(commands, command)
	}
	return strings.Join(page.Most(filesShown, page.Distinct(commands), "more"), "; ")
}

// isOf reports whether word names a test or one of its parents, by name or with the package in front
// (example.com/shop.TestAsk).
func isOf(t page.Test, word string) bool {
	if ofPackage, ok := strings.CutPrefix(word, t.Package+"."); ok {
		word = ofPackage
	}
	return t.Name == word || strings.HasPrefix(t.Name, word+"/")
}

// meant suggests which of the names a word was meant to be; "" if no name is similar.
func meant(word string, names []string) string {
	if name := near.Name(word, names); name != "" {
		return ", did you mean " + gotest.Quote(name) + "?"
	}
	return ""
}
