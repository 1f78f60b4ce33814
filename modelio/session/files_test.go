package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// vectorFile returns the path of a file among the vectors of MIO's reference, and skips the test
// where there are none.
func vectorFile(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("TRACEFORGE_VECTORS")
	if root == "" {
		dir, err := os.Getwd()
		require.NoError(t, err)
		for !exists(filepath.Join(dir, "go.mod")) {
			require.NotEqual(t, filepath.Dir(dir), dir, "no go.mod above the working directory")
			dir = filepath.Dir(dir)
		}
		root = filepath.Join(filepath.Dir(dir), "shared", "vectors")
	}
	path := filepath.Join(root, filepath.FromSlash(name))
	if !exists(path) {
		t.Skipf("no test vectors: %s does not exist; TRACEFORGE_VECTORS says where they are", path)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func readVectors(t testing.TB, name string, value any) {
	t.Helper()
	data, err := os.ReadFile(vectorFile(t, name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, value))
}
