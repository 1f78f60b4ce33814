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
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// crashing is the number of a committer that does the work of a scene of the same name.
const crashing = "crash-"

// crashBegins is a file that a crashing child looks for before it begins, for the traces.
const crashBegins = "traceforge-crash-begins"

func init() {
	if strings.HasPrefix(os.Getenv(committerNumber), crashing) {
		runtime.LockOSThread() // strace follows the first thread alone, so that its calls have their numbers
	}
}

// A crashScene is a store, and what a process does to it that is cut short.
type crashScene struct {
	name   string
	before func(t *testing.T, dir string)
	work   func(s *Store) error
}

// crashScenes: a commit that does all that commits do, the first of a store, and a Repair that finishes one.
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
	}, func(s *Store) error { _, err := s.Repair(); return err }},
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

// crash does the work of a scene in a child.
func crash(out io.Writer, dir, number string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(crashScenes, func(scene crashScene) bool { return scene.name == number })
	_, _ = os.Lstat(crashBegins)
	if err := crashScenes[i].work(s); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "done")
	return err
}

// A fault is what befalls the n-th of some system calls.
type fault struct{ name, calls, inject, from string }

const (
	allCalls     = "%file,%desc"
	writingCalls = "openat,mkdirat,renameat,?renameat2,unlinkat,write,pwrite64,ftruncate"
)

var faults = []fault{
	{"killed", allCalls, "signal=KILL", ""},
	{"ENOSPC", writingCalls, "error=ENOSPC", ""},
	{"EIO", writingCalls, "error=EIO", ""},
	{"EACCES", writingCalls, "error=EACCES", ""},
	{"disk full", "write,pwrite64,mkdirat", "error=ENOSPC", "+"}, // from then on
}

// strace runs the child of a scene and returns what it and strace say.
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

// TestCrash cuts commits short at every system call that has to do with files, and lets each that writes
// fail: the same update heals the store, and so does what Verify tells users to do. No record is lost.
func TestCrash(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil || runtime.GOOS != "linux" {
		t.Skip("strace is not here: the Debian package of that name has it")
	}
	type point struct {
		scene  crashScene
		before string
		after  map[string]string
		fault  fault
		n, of  int // the number of the call, and how many there are before the commit begins
	}
	var points []point
	for _, scene := range crashScenes {
		before, whole := t.TempDir(), t.TempDir()
		scene.before(t, filepath.Join(before, ".ai-snapshots"))
		require.NoError(t, os.CopyFS(whole, os.DirFS(before)))
		require.NoError(t, scene.work(openAt(t, filepath.Join(whole, ".ai-snapshots"))))
		for _, f := range faults {
			dir, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
			require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
			said, err := strace(t, scene, filepath.Join(dir, ".ai-snapshots"), "-o", trace, "-e", "trace="+f.calls+",newfstatat")
			if err != nil {
				t.Skipf("strace cannot trace here: %v: %s", err, said)
			}
			log, err := os.ReadFile(trace)
			require.NoError(t, err)
			startup, work, found := strings.Cut(string(log), crashBegins)
			require.True(t, found)
			traced := func(log string) int {
				n := strings.Count(log, "\n")
				if f.calls != allCalls {
					n -= strings.Count(log, "newfstatat(")
				}
				return n
			}
			first, last := traced(startup), traced(work)
			for n := 1; n <= last; n++ {
				points = append(points, point{scene, before, tree(t, whole), f, first + n, first})
			}
		}
	}
	step := max(1, len(points)/sampled(20, len(points)))
	t.Logf("every %d. of %d points", step, len(points))
	left := map[string]int{}
	for i := step / 2; i < len(points); i += step {
		p := points[i]
		name := fmt.Sprintf("%s: %s at call %d", p.scene.name, p.fault.name, p.n-p.of)
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(p.before)))
			store := filepath.Join(dir, ".ai-snapshots")
			said, err := strace(t, p.scene, store, "-o", os.DevNull, "-e", "trace="+p.fault.calls,
				"-e", fmt.Sprintf("inject=%s:%s:when=%d%s", p.fault.calls, p.fault.inject, p.n, p.fault.from))
			again := t.TempDir()
			require.NoError(t, os.CopyFS(again, os.DirFS(dir)))

			became := requireRemedied(t, name+": "+said, store, tree(t, p.before), p.after, err == nil)
			left[p.fault.name+" "+became]++
			s := openAt(t, filepath.Join(again, ".ai-snapshots"))
			err = p.scene.work(s)
			if errors.Is(err, fs.ErrNotExist) { // what it removes was gone already
				change := crashChange()
				change.Remove = nil
				err = s.Commit(change)
			}
			require.NoError(t, err, "%s: %s", name, said)
			require.Equal(t, p.after, tree(t, again), "%s: %s", name, said)
			requireWhole(t, s)
		})
	}
	t.Log(left)
}

// requireRemedied does what Verify tells the user to do, and fails unless the store is then as it was before
// the commit or as it should be after it. It returns which.
func requireRemedied(t *testing.T, name, dir string, before, after map[string]string, done bool) string {
	t.Helper()
	s := openAt(t, dir)
	result, err := s.Verify()
	if errors.Is(err, fs.ErrNotExist) {
		require.Empty(t, before, name)
		return "undone"
	}
	require.NoError(t, err, name)
	if len(result.Findings) > 0 {
		names := func(f snapshot.Finding) bool { return strings.Contains(f.Message, "traceforge repair") }
		require.True(t, slices.ContainsFunc(result.Findings, names), "%s: %v", name, result.Findings)
		report, err := s.Repair()
		require.NoError(t, err, name)
		require.Empty(t, report.Left, name)
	}
	result, err = s.Verify()
	require.NoError(t, err, name)
	require.Empty(t, result.Findings, name)
	require.Empty(t, result.Notes, name)
	got := tree(t, filepath.Dir(dir))
	if len(before) == 0 { // a store without documents is as good as none
		for _, file := range []string{attributesName, ignoreName} {
			before[".ai-snapshots/"+file] = got[".ai-snapshots/"+file]
		}
	}
	delete(got, ".ai-snapshots/"+holderName)
	if done || len(got) == len(after) && got[".ai-snapshots/"+fileOf("TestX")] == after[".ai-snapshots/"+fileOf("TestX")] {
		require.Equal(t, after, got, name)
		return "finished"
	}
	require.Equal(t, before, got, name)
	return "undone"
}
