package goldie

import (
	"testing"

	"github.com/sebdah/goldie/v2"

	"github.com/traceforge/traceforge-go/integration/collide/internal/ask"
)

func TestIt(t *testing.T) {
	ask.Ask(t)
	goldie.New(t).Assert(t, "mine", []byte("text\n"))
}
