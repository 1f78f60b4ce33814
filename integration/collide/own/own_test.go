package own

import (
	"flag"
	"testing"

	"github.com/traceforge/traceforge-go/traceforgetest"

	"github.com/traceforge/traceforge-go/integration/collide/internal/ask"
)

var update = flag.Bool("update", false, "update my own golden files")

func TestIt(t *testing.T) {
	ask.Ask(t)
	if *update && !traceforgetest.Updating() {
		t.Fatal("my flag is set, and nothing is updated")
	}
}
