package schematest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
)

var _ = flag.Bool("update", false, "write the schemas")

// TestSchemas holds docs/schemas against the code that reads what they describe. The schemas of the command's answers are
// held in its own tests.
func TestSchemas(t *testing.T) {
	Golden(t, "document", Document(t))
	Golden(t, "manifest", Manifest(t))
	Golden(t, "model_io", ModelIO(t))
	Golden(t, "run", Run(t))
	Golden(t, "receipt", Receipt(t))
	for name, s := range Contract(t) {
		Golden(t, name, s)
	}
}

// TestCompile: all schemas are ones.
func TestCompile(t *testing.T) {
	for _, name := range Names(t) {
		if _, err := compile(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManifestIsWritten: the manifest that a store writes is one.
func TestManifestIsWritten(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(Checkout(".ai-snapshots"))))
	require.NoError(t, os.Remove(filepath.Join(dir, "manifest.json")))
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.WriteManifest())
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	require.NoError(t, err)
	require.NoError(t, Validate("manifest", text))
}
