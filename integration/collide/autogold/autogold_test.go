package autogold

import (
	"testing"

	"github.com/hexops/autogold/v2"

	"github.com/traceforge/traceforge-go/integration/collide/internal/ask"
)

func TestIt(t *testing.T) {
	ask.Ask(t)
	autogold.ExpectFile(t, "text")
}
