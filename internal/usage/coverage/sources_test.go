package coverage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOpenSourcesAsksGo: go, which is not there, is asked only where go.mod alone does not say which modules are the main ones.
func TestOpenSourcesAsksGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	below := filepath.Join(dir, "agents")
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	require.NoError(t, os.Mkdir(below, 0o777))
	write("go.mod", "module example.com/shop\n")
	write("agents/agents_test.go", "package agents\n\nfunc TestIt() {}\n")

	for _, test := range []struct {
		name, work string
		workspace  bool
		asks       bool
	}{
		{name: "module"},
		{name: "workspace", workspace: true, asks: true},
		{name: "workspace is off", work: "off", workspace: true},
		{name: "workspace elsewhere", work: filepath.Join(dir, "other", "go.work"), asks: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("GOWORK", test.work)
			if test.workspace {
				write("go.work", "go 1.25\n\nuse .\n")
				defer os.Remove(filepath.Join(dir, "go.work"))
			}
			src, err := OpenSources(t.Context(), below)
			if test.asks {
				require.ErrorContains(t, err, "go list")
				require.Empty(t, src.Gone("example.com/shop/agents", "TestOther"), "of an unknown module nothing is known")
				return
			}
			require.NoError(t, err)
			require.Empty(t, src.Gone("example.com/shop/agents", "TestIt"))
			require.NotEmpty(t, src.Gone("example.com/shop/agents", "TestOther"))
		})
	}
	write("go.mod", "module (\n\texample.com/shop\n)\n")
	_, err := OpenSources(t.Context(), below)
	require.ErrorContains(t, err, "go list", "a go.mod that only go reads")
}

// TestPackageOfNoModule: any text may stand for a package in a document, as one that begins like a file.
func TestPackageOfNoModule(t *testing.T) {
	src := &Sources{modules: map[string]string{"example.com/shop": t.TempDir()}, tests: map[string]*testFuncs{}}
	for _, pkg := range []string{"", ".", "/", "/shop", "shop", "//shop//", "example.com/shop/../.."} {
		require.Empty(t, src.Gone(pkg, "TestIt"), pkg)
	}
}
