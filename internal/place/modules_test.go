package place

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWorkspace(t *testing.T) {
	dir := t.TempDir()
	require.Empty(t, Workspace(""))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.work"), nil, 0o666))
	require.Equal(t, dir, Workspace(filepath.Join(dir, "a", "b")))
	require.Equal(t, dir, Workspace(dir))
}

// TestNoModuleNamesDirectories: what is named can be copied into a command, whatever the directories are called.
func TestNoModuleNamesDirectories(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.MkdirAll(filepath.Join("svc x", "go"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join("svc x", "go", "go.mod"), []byte("module m\n"), 0o666))
	require.ErrorContains(t, noModule(), "run it in one of 'svc x/go', or name a store, such as --dir 'svc x/go/.ai-snapshots', or set TRACEFORGE_DIR")
	require.NoError(t, os.WriteFile("go.work", nil, 0o666))
	require.ErrorContains(t, NoModuleForTests(), "run it in one of 'svc x/go', or name packages of the workspace, such as './svc x/go/...'")
}
