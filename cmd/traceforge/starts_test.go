package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git/gittest"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
)

// started returns the git commands that do starts, without the options before their names.
func started(t *testing.T, do func()) (starts []string) {
	t.Helper()
	file := filepath.Join(os.Getenv("HOME"), "trace")
	require.NoError(t, os.RemoveAll(file))
	do()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var event struct {
			Event string
			Argv  []string
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		if event.Event != "start" {
			continue
		}
		words := event.Argv[1:]
		for strings.HasPrefix(words[0], "-") {
			words = words[1:]
		}
		starts = append(starts, strings.Join(words, " "))
	}
	return starts
}

// traceGit makes git note each of its starts, by the user's own config.
func traceGit(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	gittest.Write(t, home, map[string]string{".gitconfig": "[trace2]\n\teventTarget = " + filepath.ToSlash(filepath.Join(home, "trace")) + "\n"})
}

// makeCommits makes a repository whose module has a store with the documents of n tests, each with a commit of its own.
func makeCommits(t *testing.T, n int) (dir string) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, ".ai-snapshots")
	gittest.Write(t, top, map[string]string{"go.mod": "module example.com/shop\n"})
	gittest.Run(t, top, "init", "-q", "-b", "main")
	for i := range n {
		keepRaw(t, dir, fmt.Sprint("TestIt", i), `{"id":"c1"}`)
		gittest.Run(t, top, "add", "-A")
		gittest.Run(t, top, "commit", "-q", "-m", "one")
	}
	return dir
}

// testFile returns a file with the n tests of makeCommits.
func testFile(n int) string {
	var b strings.Builder
	b.WriteString("package agents\n")
	for i := range n {
		fmt.Fprintf(&b, "func TestIt%d(t *testing.T) {}\n", i)
	}
	return b.String()
}

// TestQuestionsToGit: a command asks git once for each commit, tree and config, however often it looks at them.
func TestQuestionsToGit(t *testing.T) {
	traceGit(t)
	dir := makeCommits(t, 3)
	keepRaw(t, dir, "TestNew", `{"id":"c1"}`)
	gittest.Write(t, dir, map[string]string{"config.json": "{}\n"})
	for _, args := range [][]string{
		{"diff"}, {"diff", "HEAD"}, {"diff", "HEAD~2", "HEAD"}, {"diff", "HEAD~1", "HEAD~1"}, {"verify", "--changed", "HEAD~1"},
	} {
		starts := started(t, func() { run("", append(args, "--dir", dir)...) })
		require.Contains(t, strings.Join(starts, "\n"), "rev-parse", "%s", args)
		slices.Sort(starts)
		for i, start := range starts[1:] {
			question := strings.HasPrefix(start, "config ") || strings.HasPrefix(start, "rev-parse ") || strings.HasPrefix(start, "ls-tree -z ")
			require.False(t, question && start == starts[i], "%s asks again: git %s", args, start)
		}
	}
}

// TestFiltersOfManyFiles: a list of more files than a command line takes asks for the filters once.
func TestFiltersOfManyFiles(t *testing.T) {
	traceGit(t)
	dir := makeCommits(t, 1)
	var names []string
	for i := range 900 {
		names = append(names, fmt.Sprint("openai/", i, ".json"))
	}
	starts := started(t, func() {
		_, err := worktree.Staged(t.Context(), dir, names)
		require.NoError(t, err)
	})
	all := strings.Join(starts, "\n")
	require.Equal(t, 5, strings.Count(all, "diff-files "), all)
	require.Equal(t, 1, strings.Count(all, "config "), all)
}

// TestMissingDocuments: git is started as often for many documents that are missing as for one, with and without the
// answers beside them, and all are named.
func TestMissingDocuments(t *testing.T) {
	traceGit(t)
	for _, pattern := range []string{"*.json", "*"} {
		var counts []int
		for _, n := range []int{1, 7} {
			dir := makeCommits(t, n)
			gittest.Write(t, filepath.Dir(dir), map[string]string{"agents/a_test.go": testFile(n)})
			files, err := filepath.Glob(filepath.Join(dir, "openai", pattern))
			require.NoError(t, err)
			for _, file := range files {
				require.NoError(t, os.RemoveAll(file))
			}
			var told, said string
			starts := started(t, func() { _, told, said = run("", "verify", "--dir", dir) })
			require.Equal(t, n, strings.Count(said, ": lost: "), said)
			if pattern == "*.json" {
				require.Equal(t, n, strings.Count(told, " checkout HEAD -- "), told)
			}
			counts = append(counts, len(starts))
		}
		require.Equal(t, counts[0], counts[1], pattern)
	}
}

// TestMissingInAPartialClone: what is missing is named also where the clone lacks the text of another missing document.
func TestMissingInAPartialClone(t *testing.T) {
	top := filepath.Dir(makeCommits(t, 4))
	gittest.Write(t, top, map[string]string{"agents/a_test.go": testFile(4)})
	gittest.Run(t, top, "add", "-A")
	gittest.Run(t, top, "commit", "-q", "-m", "tests")
	gittest.Run(t, top, "config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, top, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+filepath.ToSlash(top), clone)
	gittest.Run(t, clone, "read-tree", "HEAD")
	gittest.Run(t, clone, "checkout", "-q", "HEAD", "--", "go.mod", "agents", ".ai-snapshots/.gitattributes")
	for _, test := range []string{"TestIt0", "TestIt1", "TestIt3"} {
		gittest.Run(t, clone, "cat-file", "blob", ":.ai-snapshots/openai/"+documentOf(test)+".json")
	}
	_, _, said := run("", "verify", "--dir", filepath.Join(clone, ".ai-snapshots"))
	require.Equal(t, 3, strings.Count(said, ": lost: "), said)
}

// TestRepairStarts: repair starts git as often for many documents in conflict as for one.
func TestRepairStarts(t *testing.T) {
	traceGit(t)
	var counts []int
	for _, n := range []int{1, 7} {
		dir := makeCommits(t, n)
		top := filepath.Dir(dir)
		answer := func(branch, body string) {
			gittest.Run(t, top, "checkout", "-q", branch)
			for i := range n {
				keepRaw(t, dir, fmt.Sprint("TestIt", i), body)
			}
			gittest.Run(t, top, "commit", "-q", "-a", "-m", "change")
		}
		gittest.Run(t, top, "branch", "theirs")
		answer("main", `{"id":"c2"}`)
		answer("theirs", `{"id":"c3"}`)
		_, err := gittest.Try(top, nil, "merge", "-q", "main")
		require.Error(t, err)
		var out string
		starts := started(t, func() { _, out, _ = run("", "repair", "--dir", dir) })
		require.Contains(t, out, "merged: ")
		require.Contains(t, out, "both sides changed it")
		counts = append(counts, len(starts))
	}
	require.Equal(t, counts[0], counts[1])
}
