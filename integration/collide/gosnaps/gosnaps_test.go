package gosnaps

import (
	"testing"

	"github.com/gkampitakis/go-snaps/snaps"

	"github.com/traceforge/traceforge-go/integration/collide/internal/ask"
)

func TestIt(t *testing.T) {
	ask.Ask(t)
	snaps.MatchSnapshot(t, "text")
}
