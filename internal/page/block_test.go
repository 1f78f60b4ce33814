package page_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/page"
)

func TestBlocks(t *testing.T) {
	text := func(s string) *string { return &s }
	at := func(pkg, test string, call int) page.Place { return page.Place{Package: pkg, Test: test, Call: call} }
	change := func(component string, before, after *string) drift.Change {
		return drift.Change{Component: component, Kind: component, Before: before, After: after}
	}
	one, two := text("0"), text("1\n2")
	var c page.Causes
	c.Add(page.Call{Place: at("p", "TestA", 1), Request: []drift.Change{
		change("model", text("a"), text("b")), change("parameters: top_p", one, text("1")), change("tool look", nil, one), change("tool find", two, nil),
		change("the same messages in another order", one, two), change("user message", one, two),
	}})
	c.Add(page.Call{Place: at("p", "TestB", 1), Request: []drift.Change{change("parameters: seed", one, text("1"))}})
	c.Add(page.Call{Place: at("q", "TestB", 2), Request: []drift.Change{change("parameters: seed", one, text("1"))}, Answer: []drift.Change{change("answer: text", one, two)}})
	c.Add(page.Call{Place: at("q", "TestB", 3), Answer: []drift.Change{change("answer: text", one, two)}})
	var headlines []string
	for _, b := range page.Blocks(c.List()) {
		headlines = append(headlines, b.Headline())
	}
	require.Equal(t, []string{
		"parameters: seed changed in 2 packages: 2 calls of 2 tests; 1 answer changed",
		"model, parameters: top_p changed, tool look added, tool find removed, the same messages in another order, and 1 more in 1 package: " +
			"1 call of 1 test, 9 lines",
		"answers changed in 1 package: 1 call of 1 test, and nothing of what was sent",
	}, headlines)
}

// TestSubject: a title says once what several of its causes have in common, with their number if they are messages.
func TestSubject(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, tt := range []struct {
		want    string
		changes []drift.Change
	}{
		{"2 tool messages changed", []drift.Change{
			{Kind: "tool message", Before: text("a"), After: text("b")}, {Kind: "tool message", Before: text("c"), After: text("d")}}},
		{"2 user messages added, model message changed, user message removed", []drift.Change{
			{Kind: "user message", After: text("a")}, {Kind: "model message", Before: text("a"), After: text("b")},
			{Kind: "user message", After: text("c")}, {Kind: "user message", Before: text("d")}}},
		{"output format changed", []drift.Change{
			{Kind: "output format", Before: text("a"), After: text("b")}, {Kind: "output format", Before: text("c"), After: text("d")}}},
		{"system prompt: cache_control, 2 user messages changed", []drift.Change{
			{Kind: "system: cache_control", Before: text("a"), After: text("b")},
			{Kind: "user message", Before: text("a"), After: text("b")}, {Kind: "user message", Before: text("c"), After: text("d")}}},
		{"tool renamed: a → b, model changed", []drift.Change{
			{Kind: "tool renamed: a → b", Component: "tool renamed: a → b", Before: text("a"), After: text("b")},
			{Kind: "model", Before: text("a"), After: text("b")}}},
	} {
		t.Run(tt.want, func(t *testing.T) {
			var block page.Block
			for _, c := range tt.changes {
				block = append(block, &page.Cause{Change: c})
			}
			require.Equal(t, tt.want, block.Subject())
		})
	}
}

func TestAgain(t *testing.T) {
	calls := func(tests ...string) (calls []page.Place) {
		for _, test := range tests {
			pkg, name, _ := strings.Cut(test, " ")
			calls = append(calls, page.Place{Package: pkg, Test: name})
		}
		return calls
	}
	var many, packages []string
	for i := range 13 {
		many = append(many, fmt.Sprintf("p Test%d", i))
		packages = append(packages, fmt.Sprintf("p%d TestA", i))
	}
	for _, tt := range []struct {
		name, why string
		tests     []string
		want      string
	}{
		{"one", "a test", []string{"example.com/p TestA"}, "go test example.com/p -run '^TestA$' -update"},
		{"subtests", "are run by their test", []string{"p TestA/x", "p TestA/y"}, "go test p -run '^TestA$' -update"},
		{"several", "tests of two packages", []string{"p TestA", "q TestB"}, "go test p q -run '^(TestA|TestB)$' -update"},
		{"many", "more than people can read", many, "go test p -update"},
		{"packages", "of which some may not know -update", packages, "TRACEFORGE_UPDATE=1 go test ./... -run '^TestA$'"},
		{"named by a framework", "nothing selects it", []string{"p a test"}, "go test p -update"},
		{"hostile", "a shell takes it for a word", []string{"$(x) TestA"}, `go test '$(x)' -run '^TestA$' -update`},
		{"hostile flag", "go takes it for one, which runs a program", []string{"-exec=./evil.sh TestA", "p TestB"}, "go test p -run '^TestB$' -update"},
		{"none", "there is nothing to run", nil, ""},
		{"no test", "as in a store of another tool", []string{" "}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, page.Again(calls(tt.tests...), ""), tt.why) })
	}
}
