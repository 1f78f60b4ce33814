package git_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/git/gittest"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/gotest"
)

// A planted repository has a module with a store, and in each directory what has a git that is started there run a program.
type planted struct {
	top, store, marker string
}

const storeBelow = "mod/.ai-snapshots"

// makePlanted makes one, of two commits.
func makePlanted(t *testing.T) *planted {
	t.Helper()
	top := realTempDir(t)
	p := &planted{top: top, store: filepath.Join(top, storeBelow), marker: filepath.Join(t.TempDir(), "ran")}
	gittest.Run(t, top, "init", "-q", "-b", "main")
	gittest.Write(t, p.store, map[string]string{"openai/a.json": "a\n", "openai/a/1.json": "raw\n", "openai/b.json": "b\n"})
	for _, dir := range p.dirs() {
		gittest.Plant(t, dir, p.marker)
	}
	gittest.Write(t, top, map[string]string{".gitattributes": gittest.Attributes})
	for range 2 {
		gittest.Run(t, top, "add", "-A")
		gittest.Run(t, top, "commit", "-q", "-m", "one")
		gittest.Write(t, p.store, map[string]string{"openai/a.json": "a, changed\n"})
	}
	gittest.Write(t, p.store, map[string]string{"openai/a.json": "a\n"})
	p.arm(t, top, filepath.Join(top, ".git"))
	return p
}

// realTempDir returns a temporary directory by the name that git prints, which has no symbolic link.
func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func (p *planted) dirs() []string {
	return []string{p.top, filepath.Join(p.top, "mod"), filepath.Join(p.top, "mod", "p1"), p.store, filepath.Join(p.store, "openai")}
}

// arm gives the work tree at top changes, so that git reads files, and its config what is planted elsewhere.
func (p *planted) arm(t *testing.T, top, gitDir string) {
	p.top, p.store = top, filepath.Join(top, storeBelow)
	gittest.Configure(t, gitDir, p.marker)
	soon := time.Now().Add(time.Hour)
	for name, text := range map[string]string{"openai/b.json": "c\n", "openai/new.json": "new\n"} {
		gittest.Write(t, p.store, map[string]string{name: text})
		require.NoError(t, os.Chtimes(filepath.Join(p.store, name), soon, soon))
	}
}

// places are the ways to have a repository.
var places = map[string]func(t *testing.T, p *planted){
	"checkout": func(*testing.T, *planted) {},
	"clone": func(t *testing.T, p *planted) {
		to := filepath.Join(realTempDir(t), "clone")
		gittest.Run(t, os.TempDir(), "-c", "core.fsmonitor=", "clone", "-q", p.top, to)
		p.arm(t, to, filepath.Join(to, ".git"))
	},
	"linked work tree": func(t *testing.T, p *planted) {
		to := filepath.Join(realTempDir(t), "linked")
		gittest.Run(t, p.top, "worktree", "add", "-q", to)
		p.top, p.store = to, filepath.Join(to, storeBelow)
		gittest.Write(t, p.store, map[string]string{"openai/b.json": "c\n", "openai/new.json": "new\n"})
	},
	"submodule": func(t *testing.T, p *planted) {
		around := realTempDir(t)
		gittest.Run(t, around, "init", "-q", "-b", "main")
		gittest.Run(t, around, "submodule", "add", "-q", p.top, "below/sub")
		gittest.Plant(t, filepath.Join(around, "below"), p.marker)
		gittest.Run(t, around, "add", "-A")
		gittest.Run(t, around, "commit", "-q", "-m", "one")
		p.arm(t, filepath.Join(around, "below", "sub"), filepath.Join(around, ".git", "modules", "below", "sub"))
	},
}

// TestNothingRuns asks all that is asked of git in a repository that has plants in every directory and in its own config.
func TestNothingRuns(t *testing.T) {
	for name, place := range places {
		for _, variables := range []bool{false, true} {
			t.Run(name+" "+strconv.FormatBool(variables), func(t *testing.T) {
				p := makePlanted(t)
				for _, dir := range p.dirs() {
					gittest.RequireLive(t, dir, p.marker)
				}
				place(t, p)
				gittest.RequireLive(t, p.top, p.marker) // what its own config says
				if variables {
					t.Setenv("GIT_DIR", p.store)
					t.Setenv("GIT_WORK_TREE", p.store)
					t.Setenv("GIT_EXTERNAL_DIFF", "touch '"+p.marker+"'")
					t.Setenv("GIT_INDEX_FILE", filepath.Join(p.store, "index"))
					t.Setenv("GIT_CONFIG_COUNT", "1")
					t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
					t.Setenv("GIT_CONFIG_VALUE_0", "touch '"+p.marker+"'")
				}
				p.askAll(t)
				require.NoFileExists(t, p.marker)
			})
		}
	}
}

// askAll calls all functions of the package, and requires that they tell what is so.
func (p *planted) askAll(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	r, err := git.Find(p.store)
	require.NoError(t, err)
	require.Equal(t, p.top, r.Top)
	rel, err := r.Rel(p.store)
	require.NoError(t, err)
	require.Equal(t, storeBelow, rel)
	revision, err := worktree.OfSubmodule(ctx, p.top, p.store, "HEAD")
	require.NoError(t, err)
	require.Equal(t, "HEAD", revision)
	_, files, err := worktree.Changed(ctx, p.store, "HEAD")
	require.NoError(t, err)
	require.Contains(t, files, "openai/b.json")
	require.Contains(t, files, "openai/new.json")
	require.NotContains(t, files, "openai/a/1.json")
	files, err = worktree.Unstaged(ctx, p.store)
	require.NoError(t, err)
	require.Contains(t, files, "openai/b.json")
	require.Equal(t, []string{"openai/b.json"}, worktree.InHead(ctx, p.store, []string{"openai/b.json", "openai/none.json"}))
	_, err = worktree.Hidden(ctx, p.store, []string{"openai/b.json"})
	require.NoError(t, err)
	staged, err := worktree.Staged(ctx, p.store, []string{"openai/b.json"})
	require.NoError(t, err)
	require.Len(t, staged, 1)
	to := t.TempDir()
	require.NoError(t, worktree.Copy(ctx, p.store, to, staged))
	require.Equal(t, "b\n", read(t, filepath.Join(to, "openai", "b.json")))
	_, committed, err := worktree.At(ctx, "HEAD", p.store)
	require.NoError(t, err)
	require.NoError(t, worktree.Copy(ctx, p.store, to, committed))
	require.Equal(t, "a, changed\n", read(t, filepath.Join(to, "openai", "a.json")))
	_, _, err = worktree.At(ctx, "nothing", p.store)
	require.ErrorContains(t, err, "is neither a directory nor a revision")
	_, err = git.Output(ctx, p.store, nil, "cat-file", "--filters", "--path="+storeBelow+"/openai/b.json", staged[0].Object)
	require.EqualError(t, err, "git cat-file may run filters")
	_, err = git.Output(ctx, p.store, nil, "--literal-pathspecs", "add", "-A")
	require.EqualError(t, err, "git add may run filters")
	_, err = worktree.Output(ctx, p.store, nil, "cat-file", "--filters", "--path="+storeBelow+"/openai/b.json", staged[0].Object)
	require.NoError(t, err)
	_, err = git.Run(ctx, p.store, "cat-file", "-e", strings.Repeat("1", 40)) // a promisor would be asked
	require.Error(t, err)
	_ = git.HasLFS(ctx)
	require.ErrorContains(t, worktree.Stage(ctx, p.store, []string{"openai/new.json"}), "clean filter 'planted' failed")
	require.Error(t, worktree.Restore(ctx, p.store, []string{"openai/b.json"}), "a filter that does not run is not left out")
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}

// TestForeign holds that a repository of another user is none, unless the user's own config says that it is safe.
func TestForeign(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to another user")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	for _, of := range []string{".", ".git", ".git/HEAD"} {
		p := makePlanted(t)
		require.NoError(t, os.Chown(filepath.Join(p.top, of), 12345, 12345))
		_, err := git.Run(t.Context(), p.store, "rev-parse", "HEAD")
		if of == ".git/HEAD" {
			require.NoError(t, err, "as for git")
			continue
		}
		require.ErrorIs(t, err, git.ErrNoRepository)
		require.ErrorContains(t, err, "belongs to somebody else; if you trust it: git config --global --add safe.directory "+gotest.Quote(p.top))
		t.Setenv("GIT_CONFIG_COUNT", "1")
		t.Setenv("GIT_CONFIG_KEY_0", "safe.directory")
		t.Setenv("GIT_CONFIG_VALUE_0", "*")
		gittest.Run(t, p.top, "-c", "safe.directory=*", "config", "safe.directory", "*")
		_, err = git.Run(t.Context(), p.store, "rev-parse", "HEAD")
		require.ErrorIs(t, err, git.ErrNoRepository, "neither what the repository says of itself counts, nor the environment")
		for safe, want := range map[string]bool{
			p.top: true, "*": true, p.top + "/": true, filepath.Dir(p.top) + "/*": true, p.store: false, p.top + "/*": false, "*\n\tdirectory =": false,
		} {
			gittest.Write(t, home, map[string]string{".gitconfig": "[safe]\n\tdirectory = " + safe + "\n"})
			_, err = git.Run(t.Context(), p.store, "rev-parse", "HEAD")
			require.Equal(t, want, err == nil, "%s: %v", safe, err)
		}
		require.NoError(t, os.Remove(filepath.Join(home, ".gitconfig")))
		require.NoFileExists(t, p.marker)
	}
}

// TestSudo: root has the repositories of who called it by sudo, as for git.
func TestSudo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to another user")
	}
	p := makePlanted(t)
	for _, of := range []string{".", ".git"} {
		require.NoError(t, os.Chown(filepath.Join(p.top, of), 12345, 12345))
	}
	t.Setenv("SUDO_UID", "12345")
	_, err := git.Find(p.store)
	require.NoError(t, err)
}

// TestBroken: a .git that is none is an error, and none above it is asked.
func TestBroken(t *testing.T) {
	for name, plant := range map[string]func(dir string) error{
		"empty":   func(dir string) error { return os.Mkdir(filepath.Join(dir, ".git"), 0o777) },
		"text":    func(dir string) error { return os.WriteFile(filepath.Join(dir, ".git"), []byte("HEAD"), 0o666) },
		"nowhere": func(dir string) error { return os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: x\n"), 0o666) },
		"a link":  func(dir string) error { return os.Symlink("x", filepath.Join(dir, ".git")) },
	} {
		p := makePlanted(t)
		dir := filepath.Join(p.top, "mod")
		require.NoError(t, plant(dir))
		_, err := git.Run(t.Context(), dir, "rev-parse", "HEAD")
		require.Error(t, err, name)
		require.NotErrorIs(t, err, git.ErrNoRepository, name)
		require.NoFileExists(t, p.marker)
	}
}

const hookText = `#!/bin/sh
rm -f '%[1]s'
IN_HOOK='%[2]s' IN_HOOK_MARKER='%[1]s' exec '%[3]s' -test.run='^TestHookInChild$' -test.v
`

// TestHook holds that the index of git commit -a, whose hook this is, is the one that is read.
func TestHook(t *testing.T) {
	p := makePlanted(t)
	require.NoError(t, os.Remove(filepath.Join(p.store, "openai", "new.json")))
	gittest.Run(t, p.top, "config", "--remove-section", "filter.planted")
	exe, err := os.Executable()
	require.NoError(t, err)
	hook := filepath.Join(p.top, ".git", "hooks", "pre-commit")
	require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o777))
	require.NoError(t, os.WriteFile(hook, fmt.Appendf(nil, hookText, p.marker, p.store, exe), 0o755))
	out, err := gittest.Try(p.top, nil, "commit", "-a", "-m", "hooked")
	require.NoError(t, err, out)
	require.Contains(t, out, "in the hook: []\n", "all is staged")
}

// TestHookInChild is what the hook of TestHook runs.
func TestHookInChild(t *testing.T) {
	store := os.Getenv("IN_HOOK")
	if store == "" {
		t.Skip("not in a hook")
	}
	files, err := worktree.Unstaged(t.Context(), store)
	require.NoError(t, err)
	t.Logf("in the hook: %v", files)
	require.NoFileExists(t, os.Getenv("IN_HOOK_MARKER"))
}

// TestOfSubmodule: the commit of a submodule where the branch around it left a revision.
func TestOfSubmodule(t *testing.T) {
	p := makePlanted(t)
	places["submodule"](t, p)
	around := filepath.Dir(filepath.Dir(p.top))
	commit, err := worktree.OfSubmodule(t.Context(), around, p.store, "HEAD")
	require.NoError(t, err)
	head, err := git.Run(t.Context(), p.store, "rev-parse", "HEAD")
	require.NoError(t, err)
	require.Equal(t, head, commit)
	require.NoFileExists(t, p.marker)
}

// TestFiltersOfTheUser holds that a filter of the user's own config, as that of Git LFS, runs as that says, whatever the
// repository says of it.
func TestFiltersOfTheUser(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	gittest.Write(t, home, map[string]string{".gitconfig": "[filter \"planted\"]\n\tclean = tr a-z A-Z\n\tsmudge = tr A-Z a-z\n\trequired = true\n"})
	p := makePlanted(t)
	require.NoError(t, worktree.Stage(t.Context(), p.store, []string{"openai/new.json"}))
	staged, err := worktree.Staged(t.Context(), p.store, []string{"openai/new.json"})
	require.NoError(t, err)
	blob, err := git.Output(t.Context(), p.store, nil, "cat-file", "blob", staged[0].Object)
	require.NoError(t, err)
	require.Equal(t, "NEW\n", blob)
	gittest.Write(t, p.store, map[string]string{"openai/new.json": "other\n"})
	require.NoError(t, worktree.Restore(t.Context(), p.store, []string{"openai/new.json"}))
	require.Equal(t, "new\n", read(t, filepath.Join(p.store, "openai", "new.json")))
	smudged, err := worktree.Output(t.Context(), p.store, nil, "cat-file", "--filters", "--path="+storeBelow+"/openai/new.json", staged[0].Object)
	require.NoError(t, err)
	require.Equal(t, "new\n", smudged)
	require.NoFileExists(t, p.marker)
}
