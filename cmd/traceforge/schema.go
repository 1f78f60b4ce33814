package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/docs/schemas"
	"github.com/traceforge/traceforge-go/internal/gotest"
)

// schema prints the JSON Schema with the given name, or lists all schemas.
func schema(c *call) error {
	names := schemaNames()
	for _, name := range names {
		text, _ := schemas.Files.ReadFile(name + ".json") // it is there, and tests hold what is in it
		var s struct{ Title string }
		_ = json.Unmarshal(text, &s)
		switch {
		case len(c.args) == 0:
			fmt.Fprintf(c.stdout, "%s\t%s\n", name, s.Title)
		case slices.Contains([]string{name, s.Title}, c.args[0]):
			c.text(string(text))
			return nil
		}
	}
	if len(c.args) == 0 {
		return nil
	}
	return usagef("no schema is called %s%s: traceforge schema lists them", gotest.Quote(c.args[0]),
		meant(c.args[0], names))
}

// schemaNames returns the names of the schemas.
func schemaNames() []string {
	names, _ := fs.Glob(schemas.Files, "*.json") // the pattern is valid
	for i, file := range names {
		names[i] = strings.TrimSuffix(file, ".json")
	}
	return names
}

// schemaOfAnswer returns the name of the schema for the --json output of a command.
func schemaOfAnswer(command string) string { return "answer-" + strings.ReplaceAll(command, " ", "-") }
