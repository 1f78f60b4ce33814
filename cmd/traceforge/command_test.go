package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Flags have one dash or two, as those of go have, and stand anywhere.
func TestLongFlags(t *testing.T) {
	tests := []struct {
		name, why  string
		args, want []string
	}{
		{"two", "as the library wants it", []string{"--json", "a"}, []string{"--json", "a"}},
		{"one", "as Go's users type it", []string{"a", "-run=X", "-json"}, []string{"a", "--run=X", "--json"}},
		{"letter", "a letter is a flag of its own", []string{"-o", "x", "-n=true"}, []string{"-o", "x", "-n=true"}},
		{"stdin", "a dash is a file", []string{"-"}, []string{"-"}},
		{"end", "what follows two dashes is for go test", []string{"-json", "--", "-run", "X"}, []string{"--json", "--", "-run", "X"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, longFlags(tt.args), tt.why)
		})
	}
}

func TestExitCode(t *testing.T) {
	broken := &snapshot.Error{File: "x.json", Violations: []snapshot.Violation{{Rule: "seal", Message: "says"}}}
	tests := []struct {
		name, why string
		err       error
		want      int
	}{
		{"clean", "all is well", nil, 0},
		{"broken", "a broken text is a finding", fmt.Errorf("show: %w", broken), 1},
		{"joined", "also among other errors", errors.Join(io.EOF, broken), 1},
		{"usage", "a wrong call", usagef("too few arguments"), 2},
		{"io", "all else", io.ErrUnexpectedEOF, 2},
		{"own", "a code of the command's own", exit{exitSessionInvalid, nil}, 3},
		{"own_usage", "wins over what the error would give", exit{exitSessionTrouble, usagef("x")}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, exitCode(tt.err, exitTrouble), tt.why)
		})
	}
}

// An answer that could not be written is no answer.
func TestUnwritableAnswer(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, pagetest.MakeStore(dir, "plain"))
	session := `{"model_io_schema_version":"1.0.0","adapter_id":"a","model_id":"m","mode":"replay","interactions":[]}`
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"help"}, exitTrouble},
		{[]string{"version"}, exitTrouble},
		{[]string{"verify", "--json", "--dir", dir}, exitTrouble},
		{[]string{"show", "--dir", dir, "testp"}, exitTrouble},
		{[]string{"show", "--json", "--dir", dir, "testp"}, exitTrouble},
		{[]string{"modelio", "verify", "-"}, exitSessionTrouble},
		{[]string{"modelio", "hash", "-"}, exitSessionTrouble},
	} {
		var said strings.Builder
		code := traceforge(t.Context(), tt.args, strings.NewReader(session), brokenWriter{}, &said)
		require.Equal(t, tt.want, code, "%s", tt.args)
		require.Equal(t, 1, strings.Count(said.String(), "disk full"), "%s: %s", tt.args, &said)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// The command that a failure of a program prints repeats every flag of exec that says how to record, and no other.
func TestRunFlags(t *testing.T) {
	exec, _, err := rootCommand(newConsole(nil, io.Discard, io.Discard)).Find([]string{"exec"})
	require.NoError(t, err)
	flags := map[string]bool{}
	exec.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"help", "update", "check"}, f.Name) {
			flags[f.Name] = f.Value.Type() != "bool"
		}
	})
	require.Equal(t, page.RunFlags, flags)

	text, err := os.ReadFile("../../docs/exec.md")
	require.NoError(t, err)
	for name := range flags {
		require.Regexp(t, "`--"+name+"[ `]", string(text), "docs/exec.md lists the flags")
	}
}

// Every command has help, and the overview has every command.
func TestHelp(t *testing.T) {
	_, overview, _ := run("", "help")
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), "traceforge")
		if c.HasParent() && !c.Parent().HasParent() {
			require.Regexp(t, `(?m)^  `+c.Name()+` +\S`, overview)
		}
		code, help, said := run("", append(strings.Fields(path), "--help")...)
		require.Equal(t, exitClean, code, path)
		require.Empty(t, said, path)
		require.Contains(t, help, "Usage:\n  traceforge"+path)
		if c.HasParent() {
			require.LessOrEqual(t, strings.Count(help, "\n"), 45, "help is for one screen: %s", path)
		}
		for line := range strings.Lines(help) {
			require.LessOrEqual(t, len([]rune(line)), 110, "help is for terminals: %s", line)
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand(newConsole(nil, io.Discard, io.Discard)))
}

// TestMembersOfAnswers: the schema of what a command prints with --json, which its help names, says of each member of the
// command's own what it is.
func TestMembersOfAnswers(t *testing.T) {
	files, err := filepath.Glob("../../docs/schemas/answer-*.json")
	require.NoError(t, err)
	type object struct {
		Properties map[string]struct{ Description string }
	}
	for _, file := range files {
		if strings.HasSuffix(file, "-show.json") {
			continue // records
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var schema struct {
			object
			Defs map[string]object `json:"$defs"`
		}
		require.NoError(t, json.Unmarshal(text, &schema))
		objects := map[string]object{"answer": schema.object}
		maps.Copy(objects, schema.Defs)
		for name, of := range objects {
			for member, says := range of.Properties {
				clear := slices.Contains([]string{"package", "test", "causes"}, member) || strings.Contains(name, ".") // of another package
				require.True(t, clear || says.Description != "", "%s: %s of %s has no comment", file, member, name)
			}
		}
		command := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "answer-"), ".json")
		for _, group := range []string{"pack", "modelio", "snapshot"} {
			command = strings.Replace(command, group+"-", group+" ", 1)
		}
		_, help, _ := run("", append(strings.Fields(command), "--help")...)
		require.Contains(t, help, "traceforge schema "+strings.TrimSuffix(filepath.Base(file), ".json")+"\n")
	}
}

// Manual pages are written for all commands.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	code, _, said := run("", "man", dir)
	require.Equal(t, exitClean, code, said)
	for _, name := range []string{"traceforge.1", "traceforge-verify.1", "traceforge-modelio-hash.1"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
}

// The command is no test: it links neither the testing package nor the harness.
func TestCommandIsNoTest(t *testing.T) {
	deps, err := osexec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(deps))
	require.NotContains(t, packages, "testing")
	require.NotContains(t, packages, coverage.Harness)
}

func TestIsTerminal(t *testing.T) {
	device, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer device.Close()
	require.False(t, isTerminal(device), "which is a device of characters, as terminals are")

	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	require.False(t, isTerminal(file), "a file is read by programs")
	require.False(t, isTerminal(io.Discard), "so is what is no file")
}

func TestWantsColor(t *testing.T) {
	for _, tt := range []struct {
		name, value string
		want        bool
	}{{"TERM", "xterm", true}, {"NO_COLOR", "", true}, {"NO_COLOR", "1", false}, {"TERM", "dumb", false}} {
		got := wantsColor(func(name string) string {
			if name == tt.name {
				return tt.value
			}
			return ""
		})
		require.Equal(t, tt.want, got, "%s=%s", tt.name, tt.value)
	}
}
