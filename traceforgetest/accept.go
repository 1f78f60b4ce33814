package traceforgetest

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// testCommand is the command that runs the tests of the package, from anywhere in the module or its workspace.
func (p place) testCommand() string {
	var tags string
	if p.tags != "" {
		tags = " -tags " + gotest.Quote(p.tags)
	}
	return fmt.Sprintf("go test%s %s", tags, gotest.Quote(p.pkg))
}

// selection is the flags of go test that run the named test or benchmark alone. Nothing selects
// what a framework named otherwise: then all tests of the package run.
func selection(name string) string {
	top, _, _ := strings.Cut(name, "/")
	switch gotest.Kind(top) {
	case "":
		return ""
	case "Benchmark":
		return " -run '^$' -bench " + gotest.Quote(gotest.Pattern(name))
	default:
		return " -run " + gotest.Quote(gotest.Pattern(name))
	}
}
