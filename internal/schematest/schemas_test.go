package schematest

import (
	"flag"
	"testing"
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
