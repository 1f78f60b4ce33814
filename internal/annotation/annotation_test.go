package annotation

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestError(t *testing.T) {
	for _, c := range []struct {
		name, file string
		line       int
		want       string
	}{
		{"line", "a,b/c_test.go", 7, "::error file=a%2Cb/c_test.go,line=7,title=T%3A x::100%25%0Amore: a, b"},
		{"file", "c.json", 0, "::error file=c.json,title=T%3A x::100%25%0Amore: a, b"},
		{"job", "", 0, "::error title=T%3A x::100%25%0Amore: a, b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, Error(c.file, c.line, "T: x", "100%\nmore: a, b"))
		})
	}
}

func TestPath(t *testing.T) {
	checkout := t.TempDir()
	root := filepath.Join(checkout, "module")
	for _, c := range []struct{ name, workspace, root, file, want string }{
		{"module in the checkout", checkout, root, "a/b.go", "module/a/b.go"},
		{"module is the checkout", root, root, "a/b.go", "a/b.go"},
		{"elsewhere", filepath.Join(checkout, "other"), root, "a/b.go", "a/b.go"},
		{"no checkout", "", root, "a/b.go", "a/b.go"},
		{"no root", checkout, "", "a/b.go", "a/b.go"},
		{"no file", checkout, root, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GITHUB_WORKSPACE", c.workspace)
			require.Equal(t, c.want, Path(c.root, c.file))
		})
	}
}
