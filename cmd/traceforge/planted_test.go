//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/git/gittest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// A plantedModule is a module with plants in all its directories, as a pull request may bring them.
type plantedModule struct {
	*scene
	top, marker string // the work tree, and what a plant makes that runs
	log         string // of how git was started
}

// dirs are those of the module that have plants.
func (p *plantedModule) dirs() []string {
	all := []string{p.dir, filepath.Join(p.dir, "p1"), p.store, filepath.Join(p.store, "openai")}
	beside, _ := filepath.Glob(filepath.Join(p.store, "openai", "*", "1.json"))
	for _, file := range beside {
		all = append(all, filepath.Dir(file))
	}
	return all
}

// at moves the module to another work tree.
func (p *plantedModule) at(dir string) {
	p.top, p.dir, p.store = dir, dir, filepath.Join(dir, ".ai-snapshots")
}

// plantedPlaces are the ways to have a module, with where its git keeps its config.
var plantedPlaces = []struct {
	name string
	make func(t *testing.T, p *plantedModule) (gitDir string)
}{
	{"checkout", func(t *testing.T, p *plantedModule) string { return filepath.Join(p.top, ".git") }},
	{"clone", func(t *testing.T, p *plantedModule) string {
		to := filepath.Join(toy.Dir(t), "clone")
		gittest.Run(t, os.TempDir(), "clone", "-q", p.top, to)
		p.at(to)
		return filepath.Join(to, ".git")
	}},
	{"submodule", func(t *testing.T, p *plantedModule) string {
		around := toy.Dir(t)
		gittest.Run(t, around, "init", "-q", "-b", "main")
		gittest.Run(t, around, "submodule", "add", "-q", p.top, "below/sub")
		gittest.Plant(t, filepath.Join(around, "below"), p.marker)
		gittest.Run(t, around, "add", "-A")
		gittest.Run(t, around, "commit", "-q", "-m", "one")
		p.at(filepath.Join(around, "below", "sub"))
		return filepath.Join(around, ".git", "modules", "below", "sub")
	}},
	{"work tree", func(t *testing.T, p *plantedModule) string {
		to := filepath.Join(toy.Dir(t), "linked")
		gittest.Run(t, p.top, "worktree", "add", "-q", to)
		gitDir := filepath.Join(p.top, ".git")
		p.at(to)
		return gitDir
	}},
	{"of another user", func(t *testing.T, p *plantedModule) string {
		if os.Geteuid() != 0 {
			t.Skip("only root gives files to another user")
		}
		gitDir := filepath.Join(p.top, ".git")
		require.NoError(t, os.Chown(gitDir, 12345, 12345))
		return gitDir
	}},
	{"no git", func(t *testing.T, p *plantedModule) string {
		require.NoError(t, os.RemoveAll(filepath.Join(p.top, ".git")))
		return ""
	}},
}

// TestPlantedRepositories runs each command that asks git, and each mode of go test, in modules whose files have a git that
// is started among them run a program. None does. Replay starts no git at all.
func TestPlantedRepositories(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test")
	}
	built := newScene(t, 1, 2, 1)
	built.build(1)
	built.record("one ")
	for _, place := range plantedPlaces {
		for _, variables := range []bool{false, true} {
			if variables && place.name != "clone" && place.name != "work tree" {
				continue
			}
			name := place.name + map[bool]string{true: " with variables", false: ""}[variables]
			t.Run(name, func(t *testing.T) {
				p := plant(t, built)
				gitDir := place.make(t, p)
				if gitDir != "" {
					gittest.Configure(t, gitDir, p.marker)
				}
				for _, dir := range p.dirs() {
					if dir != p.top || place.name != "of another user" {
						gittest.RequireLive(t, dir, p.marker)
					}
				}
				p.wrap(t)
				goEnv, err := toy.Env()
				require.NoError(t, err)
				for _, v := range goEnv {
					name, value, _ := strings.Cut(v, "=")
					t.Setenv(name, value)
				}
				if variables {
					for name, value := range map[string]string{
						"GIT_DIR": p.store, "GIT_WORK_TREE": p.store, "GIT_EXTERNAL_DIFF": "touch '" + p.marker + "'",
						"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "touch '" + p.marker + "'",
					} {
						t.Setenv(name, value)
					}
				}
				p.runAll(t, place.name)
			})
		}
	}
}

// TestPlantedMerge: repair merges a conflict of git in a store with plants, and the hook of a commit verifies and shows what it
// commits. Nothing that is planted runs for either.
func TestPlantedMerge(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a test")
	}
	built := newScene(t, 1, 2, 1)
	built.build(1)
	built.record("one ")
	p := plant(t, built)
	t.Chdir(p.dir)
	update := func(prompt string) {
		cmd := p.command(p.binary, prompt, "-update", "-test.run=^TestIt$")
		cmd.Dir = filepath.Join(p.dir, "p1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		gittest.Run(t, p.top, "add", "-A")
		gittest.Run(t, p.top, "commit", "-q", "-m", prompt)
	}
	gittest.Run(t, p.top, "switch", "-q", "-c", "theirs")
	update("theirs ")
	gittest.Run(t, p.top, "switch", "-q", "main")
	update("ours ")
	said, err := gittest.Try(p.top, nil, "merge", "-q", "theirs")
	require.Error(t, err, "there is a conflict")
	require.Contains(t, said, "CONFLICT (content)")
	gittest.Configure(t, filepath.Join(p.top, ".git"), p.marker)
	for _, dir := range p.dirs() {
		gittest.RequireLive(t, dir, p.marker)
	}
	p.wrap(t)
	_, out, _ := run("", "verify")
	require.Contains(t, out, "is a conflict marker of a merge")
	p.started(t, "verify")
	code, out, said := run("", "repair")
	require.Equal(t, exitClean, code, said)
	require.Contains(t, out, "testit")
	require.NotEmpty(t, p.started(t, "repair", out, said), "it asks git which sides there are")
	_, out, _ = run("", "verify")
	require.NotContains(t, out, "conflict")
	p.started(t, "verify")

	exe, err := os.Executable()
	require.NoError(t, err)
	hook := filepath.Join(p.top, ".git", "hooks", "pre-commit")
	text := "#!/bin/sh\nrm -f '%[1]s'\nIN_HOOK='%[1]s' exec '%[2]s' -test.run='^TestPlantedHookInChild$' -test.v\n"
	require.NoError(t, os.WriteFile(hook, fmt.Appendf(nil, text, p.marker, exe), 0o755))
	_, err = gittest.Try(p.top, nil, "add", "-A")
	require.NoError(t, err)
	said, err = gittest.Try(p.top, nil, "commit", "-a", "-m", "merged")
	require.NoError(t, err, said)
	require.Contains(t, said, "in the hook: nothing ran")
}

// TestPlantedHookInChild is what the hook of TestPlantedMerge runs, in the environment that git commit -a gives it.
func TestPlantedHookInChild(t *testing.T) {
	marker := os.Getenv("IN_HOOK")
	if marker == "" {
		t.Skip("not in a hook")
	}
	require.NotEmpty(t, os.Getenv("GIT_INDEX_FILE"), "git commit -a has an index of its own")
	for _, args := range [][]string{{"verify"}, {"verify", "--changed", "HEAD"}, {"diff"}, {"review", "--json"}} {
		_, out, said := run("", args...)
		require.NotContains(t, out, "conflict")
		require.NoFileExists(t, marker, "%s: %s", args, said)
		if len(args) == 3 {
			require.Contains(t, said, "only what differs from ", "it asks git")
		}
	}
	t.Log("in the hook: nothing ran")
}

// TestDiffWaitsForNoPipe: diff asks git about no store in which git would wait for somebody to write to a pipe.
func TestDiffWaitsForNoPipe(t *testing.T) {
	for _, name := range []string{store.AttributesName, store.IgnoreName} {
		dir := newReviewed(t)
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, name), 0o666))
		s, err := store.Open(dir)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // it must end by itself
		objects, err := (&state{Store: s}).objects(ctx)
		require.Nil(t, objects)
		require.ErrorContains(t, err, name+": ")
		require.NoError(t, ctx.Err(), name)
		cancel()
	}
}

// plant returns a copy of a module with plants, in a repository.
func plant(t *testing.T, built *scene) *plantedModule {
	t.Helper()
	copied := *built
	top, err := filepath.EvalSymlinks(toy.Dir(t))
	require.NoError(t, err)
	p := &plantedModule{scene: &copied, marker: filepath.Join(t.TempDir(), "ran"), log: filepath.Join(t.TempDir(), "log")}
	p.t = t
	p.at(top)
	require.NoError(t, os.CopyFS(top, os.DirFS(built.dir)))
	gittest.Run(t, top, "init", "-q", "-b", "main")
	for _, dir := range p.dirs() {
		gittest.Plant(t, dir, p.marker)
	}
	gittest.Write(t, top, map[string]string{".gitattributes": gittest.Attributes})
	gittest.Run(t, top, "add", "-A")
	gittest.Run(t, top, "commit", "-q", "-m", "one")
	return p
}

// wrap has each start of git noted.
func (p *plantedModule) wrap(t *testing.T) {
	t.Helper()
	real, err := osexec.LookPath("git")
	require.NoError(t, err)
	bin := t.TempDir()
	text := "#!/bin/sh\necho \"$@\" >> '" + p.log + "'\nexec '" + real + "' \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(text), 0o755))
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
}

// started returns how git was started since it was last asked, and requires that nothing ran.
func (p *plantedModule) started(t *testing.T, what ...string) string {
	t.Helper()
	require.NoFileExists(t, p.marker, "%s", what)
	log, _ := os.ReadFile(p.log)
	_ = os.Remove(p.log)
	for line := range strings.Lines(string(log)) {
		told := strings.HasPrefix(line, "--no-pager --git-dir=") || strings.HasPrefix(line, "--no-pager config --") || line == "--no-pager lfs version\n"
		require.True(t, told, "%s: git %s", what, line)
	}
	return string(log)
}

func (p *plantedModule) runAll(t *testing.T, place string) {
	t.Helper()
	t.Chdir(p.dir)
	receipt := t.TempDir()
	tests := func(prompt string, flags ...string) string {
		cmd := p.command(p.binary, prompt, append(flags, "-test.run=^TestIt$")...)
		cmd.Dir = filepath.Join(p.dir, "p1")
		cmd.Env = append(cmd.Env, "TRACEFORGE_UPDATE=", "TRACEFORGE_RECEIPT="+receipt)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	require.Equal(t, "PASS\n", tests("one "))
	require.Empty(t, p.started(t, "replay"), "replay starts no git")
	documents, err := filepath.Glob(filepath.Join(p.store, "openai", "*testit*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, documents)
	journal := filepath.Join(p.store, "commit.pending")
	for _, mode := range []string{"-update", "-update=all", "-update=new", "-update=tools", "-update=rekey"} {
		gittest.Write(t, p.store, map[string]string{"commit.pending": "traceforge commit\nready\n"})
		said := tests(mode+" ", mode)
		if strings.Contains(said, "may be a stranger") || strings.Contains(said, "is not used") {
			require.NoError(t, os.Remove(journal))
			tests(mode+" ", mode)
		}
		p.started(t, mode)
	}
	id := strings.TrimSuffix(filepath.Base(documents[0]), ".json")
	asks := 0
	for _, args := range [][]string{
		{"verify"}, {"verify", "--changed", "HEAD"}, {"review", "--json"}, {"diff", "HEAD"}, {"diff"}, {"ls"}, {"show", id}, {"report", "--since", "HEAD", "--receipt", receipt},
		{"accept"}, {"accept", id}, {"reject", id}, {"repair"}, {"repair", "--discard"}, {"init", "--git", "--command", "x"}, {"init", "--lfs"},
		{"prune", "--", "-run=None"}, {"update"}, {"mv", "TestIt1", "TestIt2"}, {"repair", "--take"}, {"repair", "--manifest"}, {"verify"}, {"review", "--json"},
	} {
		code, out, said := run("", args...)
		require.NotContains(t, said, "unknown flag", "%s", args)
		t.Logf("%s: %d", args, code)
		if log := p.started(t, append(args, out, said)...); log != "" {
			asks++
		}
	}
	want := map[bool]int{true: 0, false: 5}[place == "no git" || place == "of another user"]
	require.GreaterOrEqual(t, asks, want, "the commands are to ask git")
	require.NoError(t, os.Remove(documents[0])) // what is beside it is orphaned, which git is asked about
	_, out, _ := run("", "verify")
	require.Contains(t, out, "its document ")
	for _, name := range []string{"HEAD", "config", "objects", "refs"} {
		require.Contains(t, out, ".ai-snapshots/"+name+": stray: is of what makes a directory a repository to git")
	}
	p.started(t, "verify")
}
