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
