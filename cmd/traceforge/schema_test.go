package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/schematest"
)

// answers are the types of what commands print with --json, by their names.
var answers = map[string][]any{
	"verify": {verifyReport{}}, "ls": {testList{}}, "diff": {page.Comparison{}}, "report": {runReport{}},
	"init": {setup{}}, "test": {testReport{}}, "update": {updateReport{}}, "review": {listedGroups{}, decisions{}},
	"accept": {acceptance{}, waitingList{}, decisions{}}, "reject": {rejection{}, waitingList{}}, "mv": {moveReport{}}, "check": {checkReport{}, comparison{}},
	"prune": {pruneReport{}}, "pack": {packReport{}}, "pack verify": {pack.Answer{}}, "modelio verify": {verifiedSession{}}, "snapshot migrate": {imports{}}, "import": {imports{}},
	"version": {version{}}, "contract show": nil, "show": nil, // records, in a form that no Go type has
}

// TestSchemasOfAnswers holds the schemas of what commands print with --json against their types; there is one for each command.
func TestSchemasOfAnswers(t *testing.T) {
	var commands []string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Flag("json") != nil {
			commands = append(commands, strings.TrimPrefix(c.CommandPath(), "traceforge "))
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand(newConsole(strings.NewReader(""), io.Discard, io.Discard)))
	slices.Sort(commands)
	for _, command := range commands {
		types, ok := answers[command]
		require.True(t, ok, "no schema is made of the answer of %s --json: name its type in answers", command)
		title := "What traceforge " + command + " --json prints"
		if command == "contract show" { // whose types have readers of their own
			schematest.Golden(t, schemaOfAnswer(command), schematest.Journal(t, title))
			continue
		}
		if types == nil {
			schematest.Golden(t, schemaOfAnswer(command), schematest.Shown(t, title))
			continue
		}
		schematest.Golden(t, schemaOfAnswer(command), schematest.Answer(t, title, types...))
	}
	for command := range answers {
		require.Contains(t, commands, command)
	}
	for _, name := range schematest.Names(t) {
		if command, ok := strings.CutPrefix(name, "answer-"); ok {
			require.Contains(t, commands, strings.NewReplacer("snapshot-", "snapshot ", "contract-", "contract ", "modelio-", "modelio ", "pack-", "pack ").Replace(command), "of no command: docs/schemas/%s.json", name)
		}
	}
}

// checkedMain is main for scripts. It holds what is printed with --json against its schema, and the lines of receipts that
// are read, so that every script proves them.
func checkedMain() {
	args := os.Args[1:]
	cmd, _, err := rootCommand(newConsole(os.Stdin, io.Discard, io.Discard)).Find(args)
	isJSON := slices.ContainsFunc(args, func(arg string) bool { return arg == "--json" || arg == "-json" })
	if err != nil || !isJSON || cmd.Flag("json") == nil || cmd.Name() == "test" && slices.Contains(args, "-json") {
		main()
		return
	}
	var answer bytes.Buffer
	code := traceforge(context.Background(), args, os.Stdin, io.MultiWriter(os.Stdout, &answer), os.Stderr)
	name := strings.TrimPrefix(cmd.CommandPath(), "traceforge ")
	if i := slices.Index(args, "--json") + 1; i > 0 && i < len(args) && isResult(args[i]) && cmd.Flag("json").Value.Type() == "string" {
		text, _ := os.ReadFile(args[i]) // where it is not there, the command was called wrongly
		answer = *bytes.NewBuffer(text)
	}
	if err := checkAnswer(name, args, answer.Bytes()); err != nil {
		fmt.Fprintf(os.Stderr, "%s --json does not print what its schema says: %v\n", name, err)
		code = 99
	}
	os.Exit(code)
}

func checkAnswer(name string, args []string, answer []byte) error {
	for values := json.NewDecoder(bytes.NewReader(answer)); values.More(); { // modelio verify prints one a file
		var value json.RawMessage
		if err := values.Decode(&value); err != nil {
			return err
		}
		if err := schematest.Validate(schemaOfAnswer(name), value); err != nil {
			return err
		}
	}
	i := slices.Index(args, "--receipt")
	if i < 0 || i+1 == len(args) {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(args[i+1], "*.receipt"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			if !bytes.HasSuffix(line, []byte("\n")) {
				continue // it was cut short
			}
			if err := schematest.Validate("receipt", line); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return nil
}
