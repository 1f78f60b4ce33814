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

// The table of rules in docs/lint.md has the rules of the code with their advice, and says of each what it finds and
// why. The command's help names the document.
func TestDocs(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "lint.md"))
	require.NoError(t, err)
	const head = "\n| rule | finds | why | what to do |\n|---|---|---|---|\n"
	_, rows, found := strings.Cut(strings.ReplaceAll(string(docs), "\r\n", "\n"), head)
	require.True(t, found)
	rows, _, found = strings.Cut(rows, "\n\n")
	require.True(t, found)
	var want, got []string
	for _, r := range lint.Rules() {
		want = append(want, fmt.Sprintf("`%s`: %s", r.Name, r.Fix))
	}
	for row := range strings.SplitSeq(rows, "\n") {
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		require.Len(t, cells, 4, row)
		require.NotContains(t, cells, "", row)
		got = append(got, cells[0]+": "+cells[3])
	}
	require.Equal(t, want, got)

	help, err := os.ReadFile(filepath.Join("..", "..", "cmd", "traceforge", "help", "verify.txt"))
	require.NoError(t, err)
	require.Contains(t, string(help), "docs/lint.md has the rules")
}
