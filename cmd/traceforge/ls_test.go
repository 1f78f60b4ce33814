package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page/pagetest"
)

// On a terminal ls is for people: columns with names, that fit.
func TestListOnTerminal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(dir, "plain", "other", "turn1", "turn2"))
	listing := func(columns string, args ...string) []string {
		t.Setenv("COLUMNS", columns)
		var stdout bytes.Buffer
		con := newConsole(nil, &stdout, &bytes.Buffer{})
		con.terminal = true
		root := rootCommand(con)
		root.SetArgs(append([]string{"ls", "--dir", dir}, args...))
		require.NoError(t, root.Execute())
		require.NoError(t, con.stdout.Flush())
		return strings.Split(strings.TrimSpace(stdout.String()), "\n")
	}
	lines := listing("200", "--sort", "tokens")
	require.Equal(t, []string{"TEST", "PACKAGE", "CALLS", "MODEL", "IN", "OUT", "AGE", "SIZE"}, strings.Fields(lines[0]), "nothing is stale or pending")
	require.Regexp(t, `^TestPlain +example.com/agents +1  gpt-4o-mini → gpt-4o-mini-2024-07-18 +30 +12 +\d+d +2 kB$`, lines[1])
	require.Regexp(t, `^TestAgent .* 2  gpt-4o-mini → gpt-4o-mini-2024-07-18 +\d+d +5 kB$`, lines[3], "what was not reported is no number")

	for _, line := range listing("72") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 72, line)
	}
	require.Regexp(t, `(?m)^TestPlain .* gpt-4o.*…`, strings.Join(listing("72"), "\n"))
	require.Regexp(t, `^TEST +PACKAGE +CALL +MODEL`, listing("", "--calls")[0])
}
