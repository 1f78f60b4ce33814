package store

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// decisionScenes apply Accept, Reject and Move to two stores with pending answers. A second process that finds nothing
// to do must still finish interrupted work.
var decisionScenes = []crashScene{
	{crashing + "accept", undecided, func(s *Store) error {
		_, err := Audit.Accept(s, []string{nameOf("TestX"), nameOf("TestNew")})
		return finishedBefore(s, err)
	}},
	{crashing + "accept-log", undecidedLogs, func(s *Store) error {
		_, err := Audit.Accept(s, []string{nameOf("TestX"), nameOf("TestNew")})
		return finishedBefore(s, err)
	}},
	{crashing + "move-log", undecidedLogs, func(s *Store) error {
		_, err := s.Move(Move{nameOf("TestX"), testPackage, "TestY"})
		return finishedBefore(s, err)
	}},
	{crashing + "reject", undecided, func(s *Store) error {
		return finishedBefore(s, Audit.Reject(s, nameOf("TestX"), nameOf("TestNew")))
	}},
	{crashing + "move", undecided, func(s *Store) error {
		_, err := s.Move(Move{nameOf("TestX"), testPackage, "TestY"})
		return finishedBefore(s, err)
	}},
}

func undecided(t *testing.T, dir string) {
	s := openAt(t, dir)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}))
	pend(t, s, recordedAt.Add(time.Hour), "TestX", call{1, "one?", "changed"}, call{3, "three?", "three"})
	pend(t, s, recordedAt.Add(time.Hour), "TestNew", call{1, "n?", "n"})
}

// undecidedLogs is undecided with logs that killed tests left.
func undecidedLogs(t *testing.T, dir string) {
	s := openAt(t, dir)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}))
	require.NoError(t, newBuyer(s, "TestX").buy(putOf("TestX", call{1, "one?", "changed"}, call{3, "three?", "three"})))
	require.NoError(t, newBuyer(s, "TestNew").buy(putOf("TestNew", call{1, "n?", "n"})))
}

func finishedBefore(s *Store, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return errors.Join(s.Commit(Change{}), s.Pending().Commit(Change{}))
	}
	return err
}

// documentsIn returns the documents in a tree with the files beside them, and each test's pending answers.
func documentsIn(files map[string]string) map[string]string {
	found := map[string]string{}
	for file, text := range files {
		file = strings.TrimPrefix(strings.TrimPrefix(file, ".ai-snapshots/"), ".pending/")
		if name, n := parseLogFile(file); n > 0 {
			found[name] += strings.TrimSuffix(text, logClosed)
		} else if IsStoreFile(file) && file != ManifestName {
			found[file] = text
		}
	}
	return found
}

// TestCrashDecision interrupts decisions at every system call about files, and lets each call that writes fail. No
// bought answer may be lost: it is pending or recorded. Deciding again must give the same result as deciding once.
func TestCrashDecision(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("strace"); err != nil || runtime.GOOS != "linux" {
		t.Skip("strace is not here: the Debian package of that name has it")
	}
	for _, scene := range decisionScenes {
		before, after, trace := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "trace")
		scene.before(t, filepath.Join(before, ".ai-snapshots"))
		require.NoError(t, os.CopyFS(after, os.DirFS(before)))
		said, err := strace(t, scene, filepath.Join(after, ".ai-snapshots"), "-o", trace, "-e", "trace=%file,%desc")
		if err != nil {
			t.Skipf("strace cannot trace here: %v: %s", err, said)
		}
		want := documentsIn(tree(t, after))
		require.NotEqual(t, documentsIn(tree(t, before)), want)
		log, err := os.ReadFile(trace)
		require.NoError(t, err)
		points := crashPoints(scene, string(log))
		step := max(1, len(points)/sampled(12, len(points)))
		t.Logf("%s: every %d. of %d points", scene.name, step, len(points))
		for i := step / 2; i < len(points); i += step {
			p := points[i]
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
				s := openAt(t, filepath.Join(dir, ".ai-snapshots"))
				said, _ := strace(t, scene, s.Dir(), append([]string{"-o", os.DevNull, "-e", "trace=%file,%desc"}, p.inject...)...)
				require.NoError(t, s.Commit(Change{}), said) // the first action of the next process
				require.NoError(t, s.Pending().Commit(Change{}), said)
				requireWhole(t, s)
				now := documentsIn(tree(t, dir))
				if scene.name != crashing+"reject" {
					requireKept(t, now, "changed", "three", `n`)
				}
				require.NoError(t, scene.work(s), said)
				require.Equal(t, want, documentsIn(tree(t, dir)), said)
				requireWhole(t, s)
			})
		}
	}
}

// requireKept checks that the answers are in the store or pending.
func requireKept(t *testing.T, files map[string]string, answers ...string) {
	t.Helper()
	var all strings.Builder
	for _, text := range files {
		all.WriteString(text)
	}
	for _, answer := range answers {
		require.Contains(t, all.String(), `{"answer":"`+answer+`"}`)
	}
}
