package recorder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormatListsTheHeaders checks that format.md names the response headers that a recording keeps.
func TestFormatListsTheHeaders(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "format.md"))
	require.NoError(t, err)
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(docs), "`", "")), " ")
	for before, names := range map[string][]string{
		"A writer keeps these response headers, and those that the test names: ": keptHeaders,
		"it also keeps the ids of requests ":                                     requestIDs,
	} {
		sorted := slices.Sorted(slices.Values(names))
		last := len(sorted) - 1
		require.Contains(t, text, before+strings.Join(sorted[:last], ", ")+" and "+sorted[last])
	}
}
