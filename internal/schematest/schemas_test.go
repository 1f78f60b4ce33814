package schematest

import (
	"flag"
	"testing"
)

var _ = flag.Bool("update", false, "write the schemas")

// TestSchemas holds docs/schemas against the code that reads what they describe.
func TestSchemas(t *testing.T) {
	Golden(t, "document", Document(t))
}
