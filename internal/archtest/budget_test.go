package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the code may weigh. Who needs more says in docs/decisions.md why; who needs less lowers the number.
const (
	linkedLines = 35_190 // of ours that a plain test of a user's links; the aim is 24,000
	mostMethods = 58     // of one type
)

// TestBudgets holds what a user's test compiles, and how large a type is. An API is added without raising a number, so that of
// testdata/added counts.
func TestBudgets(t *testing.T) {
	lines := 0
	for _, dir := range append([]string{"traceforgetest"}, linked...) {
		for _, file := range sources(t, dir) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			lines += linesOfCode(text)
		}
	}
	for _, file := range sources(t, filepath.Join("testdata", "added", "internal", "provider")) {
		if _, err := os.Stat(filepath.Join("..", "provider", filepath.Base(file))); err == nil {
			continue // it was added: .ci/check added
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines += linesOfCode(text)
	}
	t.Logf("with an API that is added, a user's test links %d of %d lines", lines, linkedLines)
	require.LessOrEqual(t, lines, linkedLines, "lines that a test of a user's links")
	require.Greater(t, lines, linkedLines-500, "lower linkedLines: so many lines are gone")

	all, _ := packages(t)
	for _, p := range all {
		methods := map[string]int{}
		for _, file := range sources(t, p.name()) {
			countMethods(t, file, methods)
		}
		for name, n := range methods {
			if n > mostMethods/2 {
				t.Logf("%s.%s has %d of %d methods", p.name(), name, n, mostMethods)
			}
			require.LessOrEqual(t, n, mostMethods, "methods of %s.%s", p.name(), name)
		}
	}
}

// sources returns the files of a package that are no tests.
func sources(t *testing.T, dir string) (files []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*.go"))
	require.NoError(t, err)
	for _, file := range found {
		if !strings.HasSuffix(file, "_test.go") {
			files = append(files, file)
		}
	}
	return files
}

// linesOfCode counts lines that are neither blank nor comments, as .ci/lines does.
func linesOfCode(text []byte) (n int) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && !bytes.HasPrefix(line, []byte("//")) {
			n++
		}
	}
	return n
}

// countMethods adds the methods that a file declares, by their types.
func countMethods(t *testing.T, file string, methods map[string]int) {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	for _, decl := range syntax.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		of := f.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if name, ok := of.(*ast.Ident); ok {
			methods[name.Name]++
		}
	}
}
