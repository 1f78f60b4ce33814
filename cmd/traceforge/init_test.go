package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/git/gittest"
	"github.com/traceforge/traceforge-go/internal/store"
)

// TestInitExplainsTheConfiguration: the help names every member that config.json may have.
func TestInitExplainsTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"unknown": 1}`), 0o666))
	s, err := store.Open(dir)
	require.NoError(t, err)
	_, err = s.Config()
	known := regexp.MustCompile(`there are ([a-z_, ]+)`).FindStringSubmatch(err.Error())
	require.NotNil(t, known, err)
	text, err := os.ReadFile("help/init.txt")
	require.NoError(t, err)
	for member := range strings.SplitSeq(known[1], ", ") {
		require.Regexp(t, `(?m)^  ([a-z_]+, )*`+member+`\b`, string(text))
	}
}

// TestInitNeedsPrograms: a store whose answers git itself would take is not made, nor a setting that git cannot follow.
func TestInitNeedsPrograms(t *testing.T) {
	t.Setenv("PATH", "")
	for flag, want := range map[string]string{
		"--lfs": "git has no Git LFS here, install git-lfs first: ",
		"--git": "git would not find this program: go install ",
	} {
		dir := filepath.Join(t.TempDir(), "store")
		var said bytes.Buffer
		require.Equal(t, exitTrouble, traceforge(t.Context(), []string{"init", flag, "--dir", dir}, nil, &said, &said))
		require.Contains(t, said.String(), want)
		if flag == "--lfs" {
			require.NoDirExists(t, dir)
		}
	}
}

// TestAddLines adds only the lines that a file lacks, and each as a line of its own.
func TestAddLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "info", "attributes")
	for _, tt := range []struct{ before, lines, added, after string }{
		{"", "a b", "a b", "a\nb\n"},
		{"a\nb\n", "a b", "", "a\nb\n"},
		{"last", "a", "a", "last\na\n"},
		{"b\n\n", "a b", "a", "b\n\na\n"},
	} {
		if tt.before != "" {
			require.NoError(t, os.WriteFile(file, []byte(tt.before), 0o666))
		}
		added, err := addLines(file, strings.Fields(tt.lines))
		require.NoError(t, err)
		require.Equal(t, tt.added, strings.Join(added, " "))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, tt.after, string(text))
	}
}

// TestAttributesOfALine: git reads the attributes of a store whose directory has line ends in its name, and they are in git's
// own file.
func TestAttributesOfALine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such file names")
	}
	top := t.TempDir()
	t.Chdir(t.TempDir())
	gittest.Run(t, top, "init", "-q", "-b", "main")
	dir := filepath.Join(top, "a\nb\r", "store")
	var said bytes.Buffer
	require.Equal(t, exitClean, traceforge(t.Context(), []string{"init", "--git", "--command", "tf", "--dir", dir}, nil, &said, &said), said.String())
	printed, err := git.Output(t.Context(), dir, nil, "check-attr", "-z", "diff", "openai/a.json", "openai/a/1.json")
	require.NoError(t, err)
	require.Equal(t, "openai/a.json\x00diff\x00traceforge\x00openai/a/1.json\x00diff\x00unset\x00", printed)
	beside, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, beside)
}
