package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git/gittest"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestGoneTests: a test that found no record may be the one that is gone, unless it has a document of its own.
func TestGoneTests(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("go.mod", []byte("module example.com/agents\n"), 0o666))
	require.NoError(t, os.WriteFile("a_test.go", []byte("package agents\n\nimport \"testing\"\n\nfunc TestOther(t *testing.T) {}\n"), 0o666))
	require.NoError(t, pagetest.MakeStore(".ai-snapshots", "plain"))
	const renamed = ": TestPlain: if one was renamed, traceforge update keeps its answers; traceforge prune --write removes the others\n"
	for _, tt := range []struct {
		receipt usage.Receipt
		want    string
	}{
		{usage.Receipt{Test: "TestOther", Missing: 1}, renamed},
		{usage.Receipt{Test: "TestOther", Missing: 1, Document: "openai/other.json"}, ": TestPlain: traceforge prune --write removes them\n"},
		{usage.Receipt{Test: "TestOther"}, ": TestPlain: traceforge prune --write removes them\n"},
		{usage.Receipt{Test: "TestPlain"}, ""},
	} {
		tt.receipt.Package = "example.com/agents"
		var out bytes.Buffer
		c := &call{console: newConsole(nil, &out, &out), ctx: t.Context()}
		c.sayGone([]usage.Receipt{tt.receipt}, func(line string) { c.line("traceforge: " + line) })
		c.stdout.Flush()
		if tt.want != "" {
			tt.want = "traceforge: 1 document is of tests that are gone" + tt.want
		}
		require.Equal(t, tt.want, out.String())
		require.NoError(t, c.failed)
	}
}

// TestLostTests: a missing document is of a test that exists where the test is found, and not where its package is unknown.
func TestLostTests(t *testing.T) {
	top := t.TempDir()
	for file, lost := range map[string]int{"plain_test.go": 1, "": 0} {
		dir := filepath.Join(top, "store"+file)
		require.NoError(t, os.MkdirAll(dir, 0o777))
		module := "module example.com/other\n"
		if file != "" {
			module = "module example.com/agents\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("package agents\n\nfunc TestPlain(t *testing.T) {}\n"), 0o666))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o666))
		snapshots := filepath.Join(dir, ".ai-snapshots")
		require.NoError(t, pagetest.MakeStore(snapshots, "plain"))
		commitAll(t, dir)
		require.NoError(t, os.RemoveAll(filepath.Join(snapshots, "openai")))
		_, _, said := run("", "verify", "--dir", snapshots)
		require.Equal(t, lost, strings.Count(said, ": lost: "), said)
	}
}

// TestLostFormerDocument: no document is lost of a test that has one under another name, as one of version 1.0.0 had.
func TestLostFormerDocument(t *testing.T) {
	dir := t.TempDir()
	gittest.Write(t, dir, map[string]string{
		"go.mod": "module example.com/agents\n", "plain_test.go": "package agents\n\nfunc TestPlain(t *testing.T) {}\n",
	})
	snapshots := filepath.Join(dir, ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(snapshots, "plain"))
	now := filepath.Join(snapshots, "openai", snapshot.DocumentName("example.com/agents", "TestPlain")+".json")
	former := filepath.Join(snapshots, "openai", snapshot.FormerName("example.com/agents", "TestPlain")+".json")
	text, err := os.ReadFile(now)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(former, text, 0o666))
	commitAll(t, dir)
	for _, file := range []string{former, now} {
		require.NoError(t, os.Remove(file))
		_, _, said := run("", "verify", "--dir", snapshots)
		require.Equal(t, file == now, strings.Contains(said, ": lost: "), said)
	}
}
