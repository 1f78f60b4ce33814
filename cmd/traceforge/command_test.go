package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

func TestArguments(t *testing.T) {
	tests := []struct {
		name, why string
		args      []string
		want      []string
		value     string
		wrong     string
	}{
		{"none", "flags may be left out", []string{"a"}, []string{"a"}, "", ""},
		{"before", "as the flag package wants it", []string{"-o", "x", "a", "b"}, []string{"a", "b"}, "x", ""},
		{"after", "as people type it", []string{"a", "--o=x", "b"}, []string{"a", "b"}, "x", ""},
		{"stdin", "a dash is a file", []string{"-", "-o", "x"}, []string{"-"}, "x", ""},
		{"end", "what follows two dashes is no flag", []string{"a", "--", "-o", "--"}, []string{"a", "-o", "--"}, "", ""},
		{"unknown", "a misspelled flag is not ignored", []string{"a", "-p"}, nil, "", "flag provided but not defined: -p"},
		{"no_value", "a flag without its value neither", []string{"a", "-o"}, nil, "", "flag needs an argument: -o"},
		{"few", "the command needs one", nil, nil, "", "too few arguments"},
		{"many", "and takes three", []string{"a", "b", "c", "d", "e"}, nil, "", `too many arguments, from "d" on`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			flags := newFlags()
			value := flags.String("o", "", "")
			got, err := arguments(flags, tt.args, 1, 3)
			if tt.wrong != "" {
				require.EqualError(t, err, tt.wrong, tt.why)
				require.ErrorAs(t, err, new(usageError))
				return
			}
			require.NoError(t, err, tt.why)
			require.Equal(t, tt.want, got, tt.why)
			require.Equal(t, tt.value, *value, tt.why)
		})
	}
	_, err := arguments(newFlags(), []string{"a", "-h"}, 1, math.MaxInt)
	require.ErrorIs(t, err, flag.ErrHelp)
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
			require.Equal(t, tt.want, exitCode(tt.err), tt.why)
		})
	}
}

// An answer that could not be written is no answer.
func TestUnwritableAnswer(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeStore(dir, []string{"plain"}))
	session := `{"model_io_schema_version":"1.0.0","adapter_id":"a","model_id":"m","mode":"replay","interactions":[]}`
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"help"}, exitTrouble},
		{[]string{"version"}, exitTrouble},
		{[]string{"verify", "--json", dir}, exitTrouble},
		{[]string{"show", "--dir", dir, "testp"}, exitTrouble},
		{[]string{"show", "--json", "--dir", dir, "testp"}, exitTrouble},
		{[]string{"modelio", "verify", "-"}, exitSessionTrouble},
		{[]string{"modelio", "hash", "-"}, exitSessionTrouble},
	} {
		var said strings.Builder
		code := exec(t.Context(), tt.args, strings.NewReader(session), brokenWriter{}, &said)
		require.Equal(t, tt.want, code, "%s", tt.args)
		require.Equal(t, 1, strings.Count(said.String(), "disk full"), "%s: %s", tt.args, &said)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"verify", "verify", 0}, {"verfy", "verify", 1}, {"shwo", "show", 2}, {"kitten", "sitting", 3}} {
		require.Equal(t, tt.want, editDistance(tt.a, tt.b), "%s, %s", tt.a, tt.b)
		require.Equal(t, tt.want, editDistance(tt.b, tt.a), "%s, %s", tt.b, tt.a)
	}
}

// Every command has help, and the overview has every command.
func TestHelp(t *testing.T) {
	_, overview, _ := run("", "help")
	for _, c := range commands() {
		require.Contains(t, overview, "  "+c.name+" ")
		code, help, said := run("", append(strings.Fields(c.name), "--help")...)
		require.Equal(t, exitClean, code, c.name)
		require.Empty(t, said, c.name)
		require.Contains(t, help, "usage: traceforge "+c.name)
		for line := range strings.Lines(help) {
			require.LessOrEqual(t, len([]rune(line)), 90, "help is for terminals: %s", line)
		}
	}
}

// The help of a command names all that its --json may print.
func TestHelpOfJSON(t *testing.T) {
	for _, tt := range []struct {
		name  string
		types []any
	}{
		{"verify", []any{packageCoverage{}, finding{}}},
		{"report", []any{packageCoverage{}, unused{}, unanswered{}, testOf{}}},
		{"prune", []any{unused{}}},
		{"update", []any{change{}}},
		{"manifest", []any{change{}}},
		{"diff", []any{change{}}},
		{"init", []any{setup{}, gitSetting{}, gitAttributes{}}},
	} {
		_, help, _ := run("", tt.name, "--help")
		for _, v := range tt.types {
			for _, field := range reflect.VisibleFields(reflect.TypeOf(v)) {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if tt.name == "manifest" && len(field.Index) > 1 { // it knows no tests
					continue
				}
				require.Regexp(t, `\b`+name+`\b`, help, "%s: %T", tt.name, v)
			}
		}
	}
}

func TestIsTerminal(t *testing.T) {
	device, err := os.Open(os.DevNull) // a character device where there is one, as terminals are
	require.NoError(t, err)
	defer device.Close()
	info, err := device.Stat()
	require.NoError(t, err)
	require.Equal(t, info.Mode()&os.ModeCharDevice != 0, isTerminal(device))

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

// On a terminal canonical JSON has another spelling, which is the same JSON.
func TestCanonical(t *testing.T) {
	const line = "{\"a\":\"\u009b31m\"}"
	for terminal, want := range map[bool]string{false: line + "\n", true: `{"a":"\u009b31m"}` + "\n"} {
		var out strings.Builder
		con := newConsole(nil, &out, nil)
		con.terminal = terminal
		con.canonical(line)
		require.NoError(t, con.stdout.Flush())
		require.Equal(t, want, out.String())
	}
}
