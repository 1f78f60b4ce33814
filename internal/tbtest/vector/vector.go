// Package vector finds what the specifications' origin systems answer, for tests.
package vector

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// File returns the path of a file among the vectors of the specifications' origin systems, and skips the test where there are none.
func File(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("TRACEFORGE_VECTORS")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for !exists(filepath.Join(dir, "go.mod")) {
			if dir == filepath.Dir(dir) {
				t.Fatal("no go.mod above the working directory")
			}
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

// Read reads a vector of JSON.
func Read(t testing.TB, name string, value any) {
	t.Helper()
	data, err := os.ReadFile(File(t, name))
	if err == nil {
		err = json.Unmarshal(data, value)
	}
	if err != nil {
		t.Fatal(err)
	}
}
