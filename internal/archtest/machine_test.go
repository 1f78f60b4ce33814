package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMissing holds that make test says in one line what a machine lacks, before any test.
func TestMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go in each module")
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	programs := t.TempDir()
	for _, name := range []string{"bash", "dirname"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(programs, name)))
	}
	for name, c := range map[string]struct {
		env  []string
		says string
	}{
		"no network, empty cache": {
			[]string{"GOMODCACHE=" + t.TempDir(), "GOPROXY=off", "GOFLAGS=-modcacherw"},
			"lacks what tests need, and it cannot be fetched: ",
		},
		"cache that cannot be written": {
			[]string{"GOMODCACHE=" + filepath.Join(file, "cache"), "GOPROXY=file://" + strings.TrimSpace(string(cache)) + "/cache/download", "GOSUMDB=off"},
			"could not create module cache: ",
		},
		"no git": {[]string{"PATH=" + programs}, "git is missing: "},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(bash, filepath.Join("..", "..", ".ci", "fetch"))
			cmd.Env = append(append(os.Environ(), "LC_ALL=C"), c.env...) // bash warns of a locale that is missing
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Contains(t, string(out), c.says)
			require.Equal(t, 1, strings.Count(string(out), "\n"), "%s", out)
		})
	}
}
