package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMap holds that CONTRIBUTING.md names each package that is published and each module, and nothing that is not there.
func TestMap(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "\n## Where things are\n")
	require.True(t, found)
	section, _, _ := strings.Cut(after, "\n## ")

	named := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(section, -1) {
		for _, name := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[1], -1) {
			require.False(t, named[name[1]], "%s is named twice", name[1])
			named[name[1]] = true
			require.DirExists(t, filepath.Join(root, filepath.FromSlash(name[1])))
		}
	}
	for _, folder := range modules {
		if folder != "." && !named[folder] {
			t.Errorf("the module %s is not in CONTRIBUTING.md", folder)
		}
	}
	all, _ := packages(t)
	for _, p := range all {
		inside := slices.Contains([]string{".", "cmd/traceforge"}, p.folder)
		if inside && !named[p.name()] {
			t.Errorf("the package %s is not in CONTRIBUTING.md", p.name())
		}
	}
}
