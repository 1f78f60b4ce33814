package traceforgetest

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// acceptCommand is the one command that records the test named name again, from the module's
// directory, or from anywhere in a workspace.
func (p place) acceptCommand(name string) string {
	target := "."
	switch {
	case gotest.Workspace(p.root) != "":
		target = p.pkg
	case p.dir != ".":
		target = "./" + p.dir
	}
	var tags string
	if p.tags != "" {
		tags = " -tags " + p.tags
	}
	return fmt.Sprintf("go test%s %s%s -update", tags, target, selection(name))
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
