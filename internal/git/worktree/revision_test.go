package worktree

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git/gittest"
)

// TestKnown says how revisions are made known that a clone lacks.
func TestKnown(t *testing.T) {
	const unshallow, inCI = "fetch it with git fetch --unshallow", ", or in CI with fetch-depth: 0 of actions/checkout"
	top := t.TempDir()
	clone := filepath.Join(top, "clone")
	gittest.Run(t, top, "init", "-q", "-b", "main", "origin")
	for _, text := range []string{"1", "2"} {
		gittest.Write(t, filepath.Join(top, "origin"), map[string]string{"a": text})
		gittest.Run(t, filepath.Join(top, "origin"), "add", "-A")
		gittest.Run(t, filepath.Join(top, "origin"), "commit", "-q", "-m", text)
	}
	gittest.Run(t, top, "clone", "-q", "--depth", "1", "file://"+filepath.Join(top, "origin"), "clone")
	gittest.Run(t, clone, "remote", "add", "fork", "../fork")
	for _, c := range []struct{ revision, flag, want, why string }{
		{"HEAD~", "--unshallow ", unshallow + inCI, "a commit before one that is there"},
		{"0123abc", "--unshallow ", unshallow + inCI, "a fetch finds no part of a hash"},
		{"0123abc~2", "", "fetch the branch that has it" + inCI, "a fetch finds no part of a hash"},
		{"20240131", "", "fetch it with git fetch fork 20240131, and name FETCH_HEAD" + inCI, "a date"},
		{"v@1", "", "fetch it with git fetch fork v@1, and name FETCH_HEAD" + inCI, "a name may contain @"},
		{"origin/x^", "", "fetch it with git fetch origin x:refs/remotes/origin/x" + inCI, "its remote, not the first"},
	} {
		require.Equal(t, c.want, known(t.Context(), clone, c.revision, c.flag), c.why)
	}
	gittest.Run(t, clone, "remote", "remove", "fork")
	gittest.Run(t, clone, "remote", "remove", "origin")
	require.Equal(t, unshallow+inCI, known(t.Context(), clone, "v1", "--unshallow "))
	require.Empty(t, known(t.Context(), clone, "v1", ""))
}
