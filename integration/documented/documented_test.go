package documented

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestDocumentedLines checks that each line of code in docs/sdks.md is in this package, in package agents, in the
// adapters, or in the example.
func TestDocumentedLines(t *testing.T) {
	page, err := os.ReadFile("../../docs/sdks.md")
	require.NoError(t, err)
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, others := range []string{"../agents/*_test.go", "../../adapters/*/*_test.go", "../../adapters/genkit/hooks/*_test.go", "../../examples/genkit/*_test.go"} {
		more, err := filepath.Glob(others)
		require.NoError(t, err)
		require.NotEmpty(t, more)
		files = append(files, more...)
	}
	var code strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		code.Write(source)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			require.True(t, strings.Contains(code.String(), "\n\t"+line), "no test has the line %s", line)
		}
	}
}

var _ = func(t *testing.T) *traceforgetest.Recorder {
	tf := traceforgetest.New(t)
	return tf
}
