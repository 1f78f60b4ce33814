package coverage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// Adopt returns the command that keeps the stored answers of calls that drifted, without a key. It leaves out tests with a
// call that has no answer. Empty: no other test drifted.
func (c *Calls) Adopt() string {
	unanswered := map[page.Test]bool{}
	for _, d := range c.drifts {
		unanswered[d.Test] = unanswered[d.Test] || d.Kind == usage.Missing
	}
	var adopted drift.Cause
	for _, d := range c.drifts {
		if d.Kind == usage.Drifted && !unanswered[d.Test] {
			adopted.Calls = append(adopted.Calls, drift.Place{Package: d.Package, Test: d.Test.Test, Command: d.command})
		}
	}
	return tagged(page.Adopt([]*drift.Cause{&adopted}), c.tags)
}

// accept returns the command that accepts causes, of tests that were built with tags.
func accept(causes []*drift.Cause, tags string) string { return tagged(page.Accept(causes), tags) }

// tagged returns a command with build tags.
func tagged(command, tags string) string {
	if tags == "" || strings.HasPrefix(command, "traceforge ") { // all are of programs
		return command
	}
	return strings.Replace(command, "go test ", "go test -tags="+gotest.Quote(tags)+" ", 1)
}

// acceptWhere makes the command that accepts all one that works in the working directory, where go does not know
// the modules of the tests: one after the other.
func (c *Report) acceptWhere() {
	wd, err := os.Getwd()
	if err != nil || c.Accept == "" || gotest.Workspace(wd) != "" && os.Getenv("GOWORK") != "off" {
		return
	}
	var roots []string
	of := map[string][]*drift.Cause{}
	for _, cause := range c.Causes {
		for _, at := range cause.Calls {
			root := c.Root(at.Package)
			if !slices.Contains(roots, root) {
				roots = append(roots, root)
			}
			of[root] = append(of[root], &drift.Cause{Calls: []drift.Place{at}})
		}
	}
	own, _ := gotest.Module(wd) // else the command goes there
	if len(roots) == 1 && (roots[0] == "" || roots[0] == own) {
		return
	}
	slices.Sort(roots)
	var commands []string
	for _, root := range roots {
		in := root
		if rel, err := filepath.Rel(wd, root); err == nil && root != "" {
			in = filepath.ToSlash(rel)
		}
		command := accept(of[root], c.tags)
		if in != "." && in != "" {
			command = strings.Replace(command, "go test ", "go -C "+gotest.Quote(in)+" test ", 1)
		}
		commands = append(commands, command)
	}
	c.Accept = strings.Join(commands, "; ")
}
