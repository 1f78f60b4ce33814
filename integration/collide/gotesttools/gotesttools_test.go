package gotesttools

import (
	"testing"

	"gotest.tools/v3/golden"

	"github.com/traceforge/traceforge-go/integration/collide/internal/ask"
)

func TestIt(t *testing.T) {
	ask.Ask(t)
	golden.Assert(t, "text\n", "mine.golden")
}
