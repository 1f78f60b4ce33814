// Package vector finds test data that clones do not have: answers of the specifications' origin systems, and recorded
// traffic.
package vector

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// File returns the path of a file in the vectors of the specifications' origin systems. They are next to the checkout,
// or in the directory that TRACEFORGE_VECTORS names. It skips the test if they are missing.
func File(t testing.TB, name string) string {
	t.Helper()
	return find(t, "TRACEFORGE_VECTORS", "vectors", name)
}

// Corpus returns the path of a file in the recorded traffic, like File but with TRACEFORGE_CORPUS.
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

// Read reads a JSON vector into value.
func Read(t testing.TB, name string, value any) {
	t.Helper()
	if err := json.Unmarshal(Text(t, name), value); err != nil {
		t.Fatal(err)
	}
}
