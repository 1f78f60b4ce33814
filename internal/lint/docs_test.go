package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/provider"
)

// TestFormatListsTheSeededAPIs checks that format.md names the APIs whose answers need a seed, and no others.
func TestFormatListsTheSeededAPIs(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "format.md"))
	require.NoError(t, err)
	_, list, found := strings.Cut(strings.Join(strings.Fields(string(docs)), " "), "APIs with a seed, which MUST be present, are ")
	require.True(t, found)
	list, _, _ = strings.Cut(list, ". Section")
	for _, codec := range provider.Codecs() {
		require.Equal(t, codec.Seeded, strings.Contains(list, "`"+codec.API+"`"), codec.API)
	}
}

// The table of rules in docs/lint.md is that of the code, and the command's help names it.
func TestDocs(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| rule | finds | why | what to do |\n|---|---|---|---|\n")
	for _, r := range lint.Rules() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", r.Name, r.Asks, r.Why, r.Fix)
	}
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "lint.md"))
	require.NoError(t, err)
	require.Contains(t, strings.ReplaceAll(string(docs), "\r\n", "\n"), "\n\n"+table.String()+"\n", "the whole table:\n%s", table.String())

	help, err := os.ReadFile(filepath.Join("..", "..", "cmd", "traceforge", "help", "verify.txt"))
	require.NoError(t, err)
	require.Contains(t, string(help), "docs/lint.md has the rules")
}
