package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// commandOf returns the command that runs the program of a document with flags, as its latest call was recorded.
func commandOf(doc *snapshot.Document, flags string) string {
	latest := slices.MaxFunc(doc.Snapshots, func(a, b snapshot.Snapshot) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.Number(), b.Number()))
	})
	return page.ProgramCommand(page.TestOf(doc).Test, latest.Source.Function, flags)
}

// programs returns the commands that run the programs of the store here with flags, by their names. What cannot be
// read is for others to say.
func programs(flags string) map[string]string {
	s, _, err := place.OpenStore("")
	if err != nil {
		return nil
	}
	commands := map[string]string{}
	for doc, err := range place.Documents(s) {
		if err != nil {
			continue
		}
		if test := page.TestOf(doc.Document); test.OfProgram() {
			commands[strings.Clone(test.Test)] = strings.Clone(commandOf(doc.Document, flags))
		}
	}
	return commands
}

// sayPrograms says how to run with flags what go test does not run, where all that is recorded is meant.
func (c *call) sayPrograms(flags string) {
	if f := c.cmd.Flag("run"); len(c.args) > 0 || f != nil && f.Changed {
		return
	}
	if all := slices.Sorted(maps.Values(programs(flags))); len(all) > 0 {
		c.say("%s of the store, which go test does not run: %s", page.Count(len(all), "program", "programs"),
			strings.Join(page.Most(filesShown, all, "more"), "; "))
	}
}

// refuseProgram says how to run with flags a program that one of the words names, as go test knows no such name.
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
	for _, name := range documents { // of whatever provider
		command := "go test"
		if doc, err := s.Load(name, "openai"); err == nil && page.TestOf(doc.Document).OfProgram() {
			command = commandOf(doc.Document, "")
		}
		commands = append(commands, command)
	}
	slices.Sort(commands)
	return strings.Join(page.Most(filesShown, slices.Compact(commands), "more"), "; ")
}
