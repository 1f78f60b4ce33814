// Package vector finds what tests compare with and no clone has: what the specifications' origin systems answer, and recorded traffic.
package vector

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// File returns the path of a file among the vectors of the specifications' origin systems, which lie beside the checkout or
// where TRACEFORGE_VECTORS says. It skips the test where there are none.
func File(t testing.TB, name string) string {
	t.Helper()
	return find(t, "TRACEFORGE_VECTORS", "vectors", name)
}

// Corpus returns the path of a file of the recorded traffic, as File does for TRACEFORGE_CORPUS.
func Corpus(t testing.TB, name string) string {
	t.Helper()
	return find(t, "TRACEFORGE_CORPUS", "corpus", name)
}

func find(t testing.TB, variable, folder, name string) string {
	t.Helper()
	root := os.Getenv(variable)
	if root == "" {
		checkout, err := toy.Checkout()
		if err != nil {
			t.Fatal(err)
		}
		root = filepath.Join(filepath.Dir(checkout), "shared", folder)
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no %s: %v; %s says where they are", folder, err, variable)
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// Text returns the bytes of a vector.
func Text(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(File(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Read reads a vector of JSON.
func Read(t testing.TB, name string, value any) {
	t.Helper()
	if err := json.Unmarshal(Text(t, name), value); err != nil {
		t.Fatal(err)
	}
}
