package moving_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRecipesAreRun checks that each function of docs/migrating.md is in this package or in the script of the recipes.
func TestRecipesAreRun(t *testing.T) {
	page, err := os.ReadFile("../../docs/migrating.md")
	require.NoError(t, err)
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var code strings.Builder
	for _, file := range append(files, "../../traceforgetest/testdata/workflow/moving.txt") {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		code.Write(source)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		require.Contains(t, code.String(), block[1])
	}
}
