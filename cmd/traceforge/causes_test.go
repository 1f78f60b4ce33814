package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// TestCausesAreBounded: a step shows ten errors, and the last says how many causes it leaves out. Tests that no command
// runs have none.
func TestCausesAreBounded(t *testing.T) {
	drifted := func(pkg string, n int) usage.Receipt {
		change := usage.DriftChange{Key: fmt.Sprint(n), Component: "system", Kind: fmt.Sprint("system ", n)}
		return usage.Receipt{Package: pkg, Test: fmt.Sprintf("Test%d", n), Outcome: "fail", Played: []string{"x"},
			Drifts: []usage.Drift{{Kind: "drifted", Record: "x", Call: 1, Provider: "openai", Changes: []usage.DriftChange{change}}}}
	}
	for n, left := range map[int]string{10: "", 11: "and 1 more cause", 12: "and 2 more causes"} {
		var receipts []usage.Receipt
		for i := range n {
			receipts = append(receipts, drifted("p", i))
		}
		var said bytes.Buffer
		c := &call{console: newConsole(nil, &said, &said)}
		c.annotateCauses(coverage.CallsOf(receipts), func(page.Place) string { return "a.go" })
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		require.Len(t, lines, 10, n)
		require.True(t, strings.HasSuffix(lines[9], left), lines[9])
		require.Equal(t, left != "", strings.Contains(said.String(), "more cause"))
	}

	var out bytes.Buffer
	c := &call{console: newConsole(nil, &out, &out)}
	c.causes(coverage.CallsOf([]usage.Receipt{drifted("-p", 1)}))
	c.stdout.Flush()
	require.Contains(t, out.String(), "system 1")
	require.NotContains(t, out.String(), "accept all")
}
