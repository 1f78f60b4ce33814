package gotest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKind(t *testing.T) {
	for name, want := range map[string]string{
		"Test": "Test", "TestX": "Test", "Test_x": "Test", "Test1": "Test", "TestÄ": "Test", "BenchmarkX": "Benchmark", "FuzzX": "Fuzz",
		"Example": "Example", "Example_suffix": "Example",
		"": "", "Testing": "", "Testärger": "", "TestX is asked": "", "Agent when asked": "", "test": "", "Agent": "", "TestX.y": "",
	} {
		require.Equal(t, want, Kind(name), name)
	}
}

func TestPattern(t *testing.T) {
	require.Equal(t, "^TestIt$", Pattern("TestIt"))
	require.Equal(t, `^TestIt$/^a\.b$`, Pattern("TestIt/a.b"))
}

func TestQuote(t *testing.T) {
	require.Equal(t, "./agents", Quote("./agents"))
	require.Equal(t, "'^TestIt$'", Quote("^TestIt$"))
	require.Equal(t, `'it'\''s'`, Quote("it's"))
	require.Equal(t, "''", Quote(""))
	require.Equal(t, `$'a\012\072\072b\072\072'`, Quote("a\n::b::"), "what would not be printed as it is")
	require.Equal(t, `$'\043\043[x]\047\134 \342\200\256\377ä'`, Quote("##[x]'\\ \u202e\xffä"))
}

// TestModule finds the module that a directory is in, and never one above where it cannot tell.
func TestModule(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	require.NoError(t, os.MkdirAll(filepath.Join(inner, "go.mod"), 0o777)) // a directory is none
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o666))
	for _, at := range []string{dir, inner, filepath.Join(dir, "go.mod", "a")} {
		root, err := Module(at)
		require.NoError(t, err)
		require.Equal(t, dir, root)
	}
	require.NoError(t, os.Remove(filepath.Join(inner, "go.mod")))
	if err := os.Symlink("go.mod", filepath.Join(inner, "go.mod")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	root, err := Module(inner)
	require.ErrorContains(t, err, "looking for go.mod: stat "+filepath.Join(inner, "go.mod"))
	require.Empty(t, root)
}
