package testmain

import (
	"flag"
	"os"
	"testing"

	"github.com/traceforge/traceforge-go/traceforgetest"

	"github.com/traceforge/traceforge-go/integration/collide/internal/ask"
)

var updating bool

func TestMain(m *testing.M) {
	flag.Parse()
	updating = traceforgetest.Updating()
	os.Exit(m.Run())
}

func TestIt(t *testing.T) {
	ask.Ask(t)
	if updating != traceforgetest.Updating() {
		t.Fatal("TestMain and the test disagree")
	}
}
