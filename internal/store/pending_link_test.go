package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPendingIsNoLink checks that nothing is written or removed through a link in place of the pending answers.
func TestPendingIsNoLink(t *testing.T) {
	for _, target := range []string{".", "../elsewhere"} {
		t.Run(target, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			elsewhere := filepath.Join(filepath.Dir(dir), "elsewhere", ".gitignore")
			require.NoError(t, os.MkdirAll(filepath.Dir(elsewhere), 0o777))
			require.NoError(t, os.WriteFile(elsewhere, []byte("mine\n"), 0o666))
			require.NoError(t, os.MkdirAll(dir, 0o777))
			require.NoError(t, os.Symlink(target, filepath.Join(dir, ".pending")))

			s, err := Open(dir)
			require.NoError(t, err)
			require.ErrorContains(t, s.Pending().Commit(Change{Put: []Put{putOf("TestX", call{1, "a", "b"})}}), "is no directory: pending answers are written to a directory")
			kept, err := os.ReadFile(elsewhere)
			require.NoError(t, err)
			require.Equal(t, "mine\n", string(kept))
			require.NoFileExists(t, filepath.Join(dir, ".gitignore"))
		})
	}
}

// TestLogIsNoLink checks that nothing is written through a link in place of a log.
func TestLogIsNoLink(t *testing.T) {
	s, dir := newStore(t)
	pend(t, s, recordedAt, "TestX", call{1, "Where is it?", "On its way."})
	outside := filepath.Join(t.TempDir(), "mine")
	require.NoError(t, os.WriteFile(outside, []byte("mine\n"), 0o666))
	log := logOf(t, dir)
	require.NoError(t, os.Remove(log))
	require.NoError(t, os.Symlink(outside, log))
	require.NoError(t, s.Pending().CloseLogs(nameOf("TestX")))
	require.Equal(t, "mine\n", readFile(t, outside))
}

// TestPendingOfAStranger checks that an answer from git does not count as bought here.
func TestPendingOfAStranger(t *testing.T) {
	root := t.TempDir()
	s, err := Open(filepath.Join(root, ".ai-snapshots"))
	require.NoError(t, err)
	put := pend(t, s, recordedAt, "TestX", call{1, "Where is it?", "On its way."})
	_, err = s.Pending().Load(put.Name, put.Provider)
	require.NoError(t, err)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", ".ai-snapshots/.pending"}} {
		_, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput()
		require.NoError(t, err)
	}
	_, err = s.Pending().Load(put.Name, put.Provider)
	require.NoError(t, err, "it is signed")
	s.keys = func() keyFile { return keyFile{} }
	_, err = s.Pending().Load(put.Name, put.Provider)
	require.ErrorIs(t, err, ErrDoubt)
	unsigned := pend(t, s, recordedAt, "TestY", call{1, "Where is it?", "On its way."})
	_, err = exec.Command("git", "-C", root, "add", "-f", ".ai-snapshots/.pending").CombinedOutput()
	require.NoError(t, err)
	_, unmarked := s.Pending().Load(unsigned.Name, unsigned.Provider)
	require.ErrorIs(t, unmarked, ErrDoubt, "neither has a key, nor does the file have a mark")
	_, err = s.Pending().Load(put.Name, put.Provider)
	require.ErrorContains(t, err, "holds answers that a test bought, and is not used: it has no mark of this user, and git tracks it")
}
