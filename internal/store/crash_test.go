package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// crashing is the prefix of the names of scenes. A committer with such a name as number runs that scene.
const crashing = "crash-"

// crashBegins is a file that a crashing child looks up before it begins, as a mark in traces.
const crashBegins = "traceforge-crash-begins"

func init() {
	if strings.HasPrefix(os.Getenv(committerNumber), crashing) {
		runtime.LockOSThread() // strace follows only the first thread, so only its calls are counted
	}
}

// A crashScene is a store, and work on it that is interrupted.
type crashScene struct {
	name   string
	before func(t *testing.T, dir string)
	work   func(s *Store) error
}

// crashScenes are a commit with all kinds of changes, the first commit of a store, and a Repair that finishes a commit.
var crashScenes = []crashScene{
	{crashing + "update", recorded, func(s *Store) error { return s.Commit(crashChange()) }},
	{crashing + "first", func(*testing.T, string) {}, func(s *Store) error {
		return s.Commit(Change{Put: []Put{putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"})}})
	}},
	{crashing + "repair", func(t *testing.T, dir string) {
		recorded(t, dir)
		steps, ready := stepsOf(t, dir, crashChange())
		for _, step := range steps[:ready+1] {
			require.NoError(t, step())
		}
	}, func(s *Store) error { _, err := Audit.Repair(s); return err }},
}

func recorded(t *testing.T, dir string) {
	commit(t, openAt(t, dir), putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}),
		putOf("TestGone", call{1, "g?", "g"}), putOf("TestMoved", call{1, "m?", "m"}))
}

// crashChange replaces a document, adds one, moves one and removes one.
func crashChange() Change {
	moves := putOf("TestMoved", call{1, "m?", "m"})
	moves.Provider = "anthropic"
	return Change{
		Put:    []Put{putOf("TestX", call{1, "one?", "changed"}), putOf("TestNew", call{1, "n?", "n"}), moves},
		Remove: []string{fileOf("TestGone")},
	}
}

// crash runs the work of a scene in a child.
func crash(out io.Writer, dir, number string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	scenes := append(slices.Concat(crashScenes, decisionScenes), logScene)
	i := slices.IndexFunc(scenes, func(scene crashScene) bool { return scene.name == number })
	_, _ = os.Lstat(crashBegins)
	if err := scenes[i].work(s); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "done")
	return err
}

// A fault is an injected failure of system calls.
type fault struct {
	name, inject string
	calls        []string // nil for all calls about files, without the runtime's calls on descriptors
	from         bool     // all calls from one on, not a single one
}

var (
	writingCalls = []string{"openat", "mkdirat", "renameat", "renameat2", "unlinkat", "write", "pwrite64", "ftruncate"}
	faults       = []fault{
		{"killed", "signal=KILL", nil, false},
		{"ENOSPC", "error=ENOSPC", writingCalls, false},
		{"EIO", "error=EIO", writingCalls, false},
		{"EACCES", "error=EACCES", writingCalls, false},
		{"disk full", "error=ENOSPC", []string{"mkdirat", "write", "pwrite64"}, true},
	}
)

// A crashPoint is a place in the work of a scene, and the fault there.
type crashPoint struct {
	name   string
	inject []string // options of strace
}

// crashPoints returns the places in a scene's trace. strace counts each kind of call separately.
func crashPoints(scene crashScene, trace string) (points []crashPoint) {
	startup, _, _ := strings.Cut(trace, crashBegins)
	for _, f := range faults {
		counts := map[string]int{}
		place, read := 0, 0
		for line := range strings.Lines(trace) {
			call, _, _ := strings.Cut(line, "(")
			counts[call]++
			read += len(line)
			ofRuntime := slices.Contains([]string{"epoll_create1", "epoll_ctl", "eventfd2", "fcntl", "fstat"}, call)
			if read <= len(startup)+len(line) || f.calls == nil && ofRuntime || f.calls != nil && !slices.Contains(f.calls, call) {
				continue
			}
			place++
			p := crashPoint{name: fmt.Sprintf("%s: %s at %d, %s", scene.name, f.name, place, call)}
			if !f.from {
				p.inject = []string{"-e", fmt.Sprintf("inject=%s:%s:when=%d", call, f.inject, counts[call])}
			}
			for _, other := range f.calls {
				if f.from {
					n := counts[other]
					if other != call {
						n++
					}
					p.inject = append(p.inject, "-e", fmt.Sprintf("inject=%s:%s:when=%d+", other, f.inject, n))
				}
			}
			points = append(points, p)
		}
	}
	return points
}

// strace runs the child of a scene under strace, and returns the output of both.
func strace(t *testing.T, scene crashScene, dir string, args ...string) (said string, err error) {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "strace", append(append([]string{"-qq"}, args...), exe)...)
	cmd.Env = append(os.Environ(), committerDir+"="+dir, committerNumber+"="+scene.name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestCrash interrupts commits at every system call about files, and lets each call that writes fail. The same update
// must repair the store. The remedy that Verify names must repair it too. No record may be lost.
func TestCrash(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil || runtime.GOOS != "linux" {
		t.Skip("strace is not here: the Debian package of that name has it")
	}
	type point struct {
		crashPoint
		scene  crashScene
		before string
		after  map[string]string
	}
	var points []point
	for _, scene := range crashScenes {
		before, after, trace := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "trace")
		scene.before(t, filepath.Join(before, ".ai-snapshots"))
		require.NoError(t, os.CopyFS(after, os.DirFS(before)))
		said, err := strace(t, scene, filepath.Join(after, ".ai-snapshots"), "-o", trace, "-e", "trace=%file,%desc")
		if err != nil {
			t.Skipf("strace cannot trace here: %v: %s", err, said)
		}
		log, err := os.ReadFile(trace)
		require.NoError(t, err)
		require.Contains(t, string(log), crashBegins)
		for _, p := range crashPoints(scene, string(log)) {
			points = append(points, point{p, scene, before, tree(t, after)})
		}
	}
	step := max(1, len(points)/sampled(20, len(points)))
	t.Logf("every %d. of %d points", step, len(points))
	var finished atomic.Int64
	t.Run("points", func(t *testing.T) {
		for i := step / 2; i < len(points); i += step {
			p := points[i]
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				dir, again := t.TempDir(), t.TempDir()
				require.NoError(t, os.CopyFS(dir, os.DirFS(p.before)))
				store := filepath.Join(dir, ".ai-snapshots")
				said, err := strace(t, p.scene, store, append([]string{"-o", os.DevNull, "-e", "trace=%file,%desc"}, p.inject...)...)
				require.NoError(t, os.CopyFS(again, os.DirFS(dir)))
				if requireRemedied(t, said, store, tree(t, p.before), p.after, err == nil) {
					finished.Add(1)
				}

				s := openAt(t, filepath.Join(again, ".ai-snapshots"))
				err = p.scene.work(s)
				if errors.Is(err, fs.ErrNotExist) { // the file was already removed
					change := crashChange()
					change.Remove = nil
					err = s.Commit(change)
				}
				require.NoError(t, err, said)
				require.Equal(t, p.after, tree(t, again), said)
				requireWhole(t, s)
			})
		}
	})
	t.Logf("%d were finished, the others undone", finished.Load())
}

// requireRemedied applies the remedy that Verify names. The store must then be as before the commit, or as after it,
// which is finished.
func requireRemedied(t *testing.T, name, dir string, before, after map[string]string, done bool) (finished bool) {
	t.Helper()
	s := openAt(t, dir)
	result, err := Audit.Verify(s)
	if errors.Is(err, fs.ErrNotExist) {
		require.Empty(t, before, name)
		return false
	}
	require.NoError(t, err, name)
	if len(result.Findings) > 0 {
		names := func(f snapshot.Finding) bool { return strings.Contains(f.Message, "traceforge repair") }
		require.True(t, slices.ContainsFunc(result.Findings, names), "%s: %v", name, result.Findings)
		report, err := Audit.Repair(s)
		require.NoError(t, err, name)
		require.Empty(t, report.Left, name)
	}
	result, err = Audit.Verify(s)
	require.NoError(t, err, name)
	require.Empty(t, result.Findings, name)
	require.Empty(t, result.Notes, name)
	got := tree(t, filepath.Dir(dir))
	delete(got, ".ai-snapshots/"+HolderName)
	if done || len(got) == len(after) && got[".ai-snapshots/"+fileOf("TestX")] == after[".ai-snapshots/"+fileOf("TestX")] {
		require.Equal(t, after, got, name)
		return true
	}
	if len(before) == 0 { // a store without documents equals no store
		delete(got, ".ai-snapshots/"+AttributesName)
		delete(got, ".ai-snapshots/"+IgnoreName)
	}
	require.Equal(t, before, got, name)
	return false
}
