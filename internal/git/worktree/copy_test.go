package worktree

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git/gittest"
)

// TestAt holds that a directory is found at a revision wherever its files are kept.
func TestAt(t *testing.T) {
	commit := func(dir, text string) {
		gittest.Write(t, dir, map[string]string{"snaps/openai/a.json": text})
		gittest.Run(t, dir, "add", "-A")
		gittest.Run(t, dir, "commit", "-q", "-m", text)
	}
	repository := func(dir string) string {
		gittest.Run(t, dir, "init", "-q", "-b", "main")
		commit(dir, "1")
		commit(dir, "2")
		return dir
	}
	for name, prepare := range map[string]func(top string) string{
		"below the top": func(top string) string { return filepath.Join(repository(top), "snaps") },
		"a link": func(top string) string {
			gittest.Write(t, top, map[string]string{"mod/go.mod": ""})
			require.NoError(t, os.Symlink("../snaps", filepath.Join(top, "mod", "store")))
			return filepath.Join(repository(top), "mod", "store")
		},
		"a link that led elsewhere": func(top string) string {
			link := filepath.Join(repository(top), "store")
			require.NoError(t, os.Symlink("snaps", link))
			for _, text := range []string{"1", "2"} {
				commit(top, text)
			}
			require.NoError(t, os.Remove(link))
			gittest.Write(t, top, map[string]string{"others/openai/a.json": "3"})
			require.NoError(t, os.Symlink("others", link))
			return link
		},
		"behind a link that led elsewhere": func(top string) string {
			link, middle := filepath.Join(repository(top), "store"), filepath.Join(top, "deep", "middle")
			gittest.Write(t, top, map[string]string{"deep/x": "", "others/openai/a.json": "3"})
			require.NoError(t, os.Symlink("deep/middle/../snaps", link))
			require.NoError(t, os.Symlink("../snaps", middle))
			for _, text := range []string{"1", "2"} {
				commit(top, text)
			}
			require.NoError(t, os.Remove(middle))
			require.NoError(t, os.Symlink("../others/openai", middle))
			return link
		},
		"in a directory that became a link": func(top string) string {
			require.NoError(t, os.Rename(filepath.Join(repository(top), "snaps"), filepath.Join(top, "others")))
			require.NoError(t, os.Symlink("others", filepath.Join(top, "snaps")))
			return filepath.Join(top, "snaps")
		},
		"a link that git does not know": func(top string) string {
			require.NoError(t, os.Symlink("snaps", filepath.Join(repository(top), "store")))
			return filepath.Join(top, "store")
		},
		"a link into another repository": func(top string) string {
			repository(top)
			link := filepath.Join(top, "store")
			require.NoError(t, os.Symlink(filepath.Join(repository(t.TempDir()), "snaps"), link))
			return link
		},
		"a submodule": func(top string) string {
			of := t.TempDir()
			gittest.Run(t, of, "init", "-q", "-b", "main")
			gittest.Run(t, top, "init", "-q", "-b", "main")
			store := filepath.Join(top, "store")
			for _, text := range []string{"1", "2"} {
				gittest.Write(t, of, map[string]string{"openai/a.json": text})
				gittest.Run(t, of, "add", "-A")
				gittest.Run(t, of, "commit", "-q", "-m", text)
				if text == "1" {
					gittest.Run(t, top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", of, "store")
				}
				gittest.Run(t, store, "pull", "-q")
				gittest.Run(t, top, "commit", "-q", "-a", "-m", text)
			}
			return store
		},
		"a repository of its own": func(top string) string {
			repository(top)
			store := filepath.Join(top, "own")
			gittest.Write(t, store, map[string]string{"openai/a.json": "1"})
			gittest.Run(t, store, "init", "-q", "-b", "main")
			for _, text := range []string{"1", "2"} {
				gittest.Write(t, store, map[string]string{"openai/a.json": text})
				gittest.Run(t, store, "add", "-A")
				gittest.Run(t, store, "commit", "-q", "-m", text)
			}
			return store
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := prepare(t.TempDir())
			for revision, want := range map[string]string{"HEAD": "2", "HEAD~1": "1"} {
				in, files, err := At(t.Context(), revision, dir)
				require.NoError(t, err)
				require.Len(t, files, 1)
				to := t.TempDir()
				require.NoError(t, Copy(t.Context(), in, to, files))
				text, err := os.ReadFile(filepath.Join(to, "openai", "a.json"))
				require.NoError(t, err)
				require.Equal(t, want, string(text), revision)
			}
			_, _, err := At(t.Context(), "HEAD~7", dir)
			require.ErrorContains(t, err, "is neither a directory nor a revision")
			_, files, err := At(t.Context(), "HEAD", dir+"s")
			require.NoError(t, err)
			require.Empty(t, files, "it is not there")
		})
	}
}

// TestAtBefore holds that nothing was where there is a link that git did not know yet, and that links in a circle end.
func TestAtBefore(t *testing.T) {
	top := t.TempDir()
	link := filepath.Join(top, "store")
	gittest.Run(t, top, "init", "-q", "-b", "main")
	gittest.Write(t, top, map[string]string{"snaps/openai/a.json": "1"})
	for _, to := range []string{"snaps", "store/store"} {
		gittest.Run(t, top, "add", "-A")
		gittest.Run(t, top, "commit", "-q", "-m", to)
		_ = os.Remove(link)
		require.NoError(t, os.Symlink(to, link))
	}
	gittest.Run(t, top, "add", "-A")
	gittest.Run(t, top, "commit", "-q", "-m", "circle")
	for revision, want := range map[string]int{"HEAD~2": 0, "HEAD~1": 1} {
		_, files, err := At(t.Context(), revision, link)
		require.NoError(t, err)
		require.Len(t, files, want, revision)
	}
	_, _, err := At(t.Context(), "HEAD", link)
	require.ErrorContains(t, err, "too many links lead to it")
}

// TestAtTogether holds that goroutines may share a context that remembers what git says.
func TestAtTogether(t *testing.T) {
	top := t.TempDir()
	gittest.Run(t, top, "init", "-q", "-b", "main")
	gittest.Write(t, top, map[string]string{"snaps/openai/a.json": "1"})
	gittest.Run(t, top, "add", "-A")
	gittest.Run(t, top, "commit", "-q", "-m", "one")
	ctx := Remember(t.Context())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, files, err := At(ctx, "main", filepath.Join(top, "snaps"))
			assert.NoError(t, err)
			assert.Len(t, files, 1)
		})
	}
	group.Wait()
}
