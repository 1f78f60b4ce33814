package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git/gittest"
)

// TestChanged holds that a file has changed when its content has, whatever its time says.
func TestChanged(t *testing.T) {
	top := t.TempDir()
	store := filepath.Join(top, ".ai-snapshots")
	gittest.Run(t, top, "init", "-q", "-b", "main")
	gittest.Write(t, top, map[string]string{"beside.txt": "1\n"})
	gittest.Write(t, store, map[string]string{
		"openai/same.json": "1\n", "openai/touched.json": "1\n", "openai/two words.json": "1\n", "openai/edited.json": "1\n",
		"openai/staged.json": "1\n", "openai/back.json": "1\n", "openai/gone.json": "1\n", "openai/mode.json": "1\n",
		"openai/undone.json": "1\n", "openai/removed.json": "1\n", "openai/both.json": "1\n",
	})
	gittest.Run(t, top, "add", "-A")
	gittest.Run(t, top, "commit", "-q", "-m", "one")
	gittest.Run(t, top, "checkout", "-q", "-b", "branch")
	gittest.Write(t, store, map[string]string{"openai/staged.json": "2\n", "openai/back.json": "2\n", "openai/committed.json": "1\n"})
	gittest.Run(t, top, "add", "-A")
	gittest.Run(t, top, "commit", "-q", "-m", "two")
	gittest.Write(t, top, map[string]string{"beside.txt": "2\n"})
	gittest.Write(t, store, map[string]string{"openai/edited.json": "2\n", "openai/back.json": "1\n", "openai/new.json": "1\n"})
	gittest.Write(t, store, map[string]string{"openai/undone.json": "2\n", "openai/both.json": "2\n", "openai/never.json": "1\n"})
	gittest.Run(t, store, "add", "openai/undone.json", "openai/both.json", "openai/never.json")
	gittest.Run(t, store, "rm", "-q", "--cached", "openai/removed.json") // and is there
	gittest.Write(t, store, map[string]string{"openai/undone.json": "1\n", "openai/both.json": "3\n", "openai/announced.json": ""})
	gittest.Run(t, store, "add", "--intent-to-add", "openai/announced.json")
	require.NoError(t, os.Remove(filepath.Join(store, "openai/never.json")))
	require.NoError(t, os.Remove(filepath.Join(store, "openai/gone.json")))
	require.NoError(t, os.Chmod(filepath.Join(store, "openai/mode.json"), 0o755))
	gittest.Run(t, store, "update-index", "--chmod=+x", "openai/mode.json") // on Windows files have no such mode
	soon := time.Now().Add(time.Hour)
	for _, name := range []string{"touched", "two words"} {
		require.NoError(t, os.Chtimes(filepath.Join(store, "openai", name+".json"), soon, soon))
	}

	since, files, err := Changed(context.Background(), store, "main")
	require.NoError(t, err)
	require.Len(t, since, 40)
	require.Equal(t, []string{"openai/announced.json", "openai/both.json", "openai/committed.json", "openai/edited.json", "openai/gone.json",
		"openai/mode.json", "openai/new.json", "openai/removed.json", "openai/staged.json"}, files)
}

// TestChangedSubmodule holds that a submodule below the directory is a change, whatever the repository says about it.
func TestChangedSubmodule(t *testing.T) {
	top := t.TempDir()
	gittest.Run(t, top, "init", "-q", "-b", "main")
	gittest.Write(t, top, map[string]string{"store/openai/a.json": "1\n", ".gitmodules": "[submodule \"x\"]\npath = store/x\nurl = y\nignore = all\n"})
	gittest.Run(t, top, "add", "-A")
	gittest.Run(t, top, "commit", "-q", "-m", "one")
	gittest.Run(t, top, "checkout", "-q", "-b", "branch")
	gittest.Run(t, top, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",store/x")
	check := func() {
		_, files, err := Changed(context.Background(), filepath.Join(top, "store"), "main")
		require.NoError(t, err)
		require.Equal(t, []string{"x"}, files)
	}
	check()
	gittest.Run(t, top, "commit", "-q", "-m", "two")
	check()
}

// TestChangedLink holds that all files of a store are changed ones where it, or a directory on the way to it, is a link that led
// elsewhere.
func TestChangedLink(t *testing.T) {
	top := t.TempDir()
	link, middle := filepath.Join(top, ".ai-snapshots"), filepath.Join(top, "current")
	gittest.Run(t, top, "init", "-q", "-b", "main")
	files := map[string]string{"one/store/openai/a.json": "1\n", "two/store/openai/a.json": "2\n", "three/openai/a.json": "3\n"}
	gittest.Write(t, top, files)
	turn := func(link, target string) {
		_ = os.Remove(link)
		require.NoError(t, os.Symlink(target, link))
	}
	turn(link, "current/store")
	turn(middle, "one")
	gittest.Run(t, top, "add", "-A")
	gittest.Run(t, top, "commit", "-q", "-m", "one")
	for _, step := range []struct {
		link, target string
		want         []string
	}{
		{middle, "one", nil},
		{middle, "two", []string{"openai/a.json"}},
		{middle, "one", nil},
		{link, "three", []string{"openai/a.json"}},
		{link, "current/store", nil},
	} {
		turn(step.link, step.target)
		_, files, err := Changed(t.Context(), link, "main")
		require.NoError(t, err)
		require.Equal(t, step.want, files, step)
	}
	turn(filepath.Join(top, "new"), "one") // which is of no commit
	gittest.Run(t, top, "add", "-A")
	_, changed, err := Changed(t.Context(), filepath.Join(top, "new", "store"), "main")
	require.NoError(t, err)
	require.Equal(t, []string{"openai/a.json"}, changed)
}
