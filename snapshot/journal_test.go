package snapshot

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
)

// TestRecovery cuts a commit short after each of its steps: the next one leaves the store as
// it was before it, or as it should be after it, whatever the step.
func TestRecovery(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	store := openAt(t, before)
	var blobs [][]byte
	put := func(provider, content string, n int) Record {
		blobs = append(blobs, []byte(content))
		r := &Snapshot{
			ID: ID("p", "TestX", n), Timestamp: time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC),
			Source:   Source{File: "x.go", Line: 1, Function: "F", Package: "p", Test: "TestX", Ordinal: n},
			Request:  Request{Model: "m", Messages: []Message{}},
			Response: Response{Content: content, FinishReason: "stop", RawOutputRef: canon.Sum([]byte(content))},
		}
		return Record{provider, r}
	}
	first := Change{Put: []Record{put("a", "one", 1), put("a", "two", 2), put("b", "three", 3)}}
	first.Blobs = blobs
	require.NoError(t, store.Commit(first))
	require.NoError(t, os.CopyFS(after, os.DirFS(before)))
	change := Change{
		Put:    []Record{put("a", "changed", 1), put("c", "new", 4)},
		Remove: []Entry{entriesOf(t, store)[2]},
	}
	change.Blobs = blobs[3:]
	require.NoError(t, openAt(t, after).Commit(change))

	// The steps of the commit, as apply makes them.
	steps := func(root *os.Root) (steps []func() error, ready int) {
		p, err := newPlan(change)
		require.NoError(t, err)
		s := openAt(t, root.Name())
		m, err := s.manifest()
		require.NoError(t, err)
		tx := &transaction{root: root}
		require.NoError(t, s.plan(tx, m, p))
		require.Len(t, tx.writes, 5)
		require.Equal(t, manifestName, tx.writes[4].file, "the manifest comes last")
		require.Contains(t, tx.writes[0].file, blobDir, "and blobs first")
		require.Len(t, tx.removes, 3)

		journal := journalHead + "\n"
		for _, w := range tx.writes {
			journal += journalWrite + w.file + "\n"
		}
		for _, file := range tx.removes {
			journal += journalRemove + file + "\n"
		}
		file := func(name, data string) func() error {
			return func() error {
				return errFirst(root.MkdirAll(filepath.Dir(name), 0o777), root.WriteFile(name, []byte(data), 0o666))
			}
		}
		steps = append(steps, file(journalName, ""), file(journalName, journal[:30]), file(journalName, journal))
		for _, w := range tx.writes {
			steps = append(steps, file(w.file+tempSuffix, string(w.data[:1])), file(w.file+tempSuffix, string(w.data)))
		}
		steps = append(steps, file(journalName, journal+journalReady), file(journalName, journal+journalReady+"\n"))
		ready = len(steps)
		for _, w := range tx.writes {
			steps = append(steps, func() error { return root.Rename(w.file+tempSuffix, w.file) })
		}
		for _, file := range tx.removes {
			steps = append(steps, func() error { return root.Remove(file) })
		}
		return steps, ready
	}

	for n := 1; ; n++ {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(before)))
		root, err := os.OpenRoot(dir)
		require.NoError(t, err)
		all, ready := steps(root)
		if n > len(all) {
			break
		}
		for _, step := range all[:n] {
			require.NoError(t, step())
		}
		require.NoError(t, root.Close())

		s := openAt(t, dir)
		found, err := s.Verify()
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == rulePending && f.File == journalName }), "step %d", n)
		want := before
		if n >= ready {
			want = after
		}
		require.NoError(t, s.RebuildManifest())
		require.Equal(t, files(t, want), files(t, dir), "step %d", n)
		found, err = s.Verify()
		require.NoError(t, err)
		require.Empty(t, found)
	}
}

// TestJournalOfAStranger: a journal does no more than the commits of this package do.
func TestJournalOfAStranger(t *testing.T) {
	dir := t.TempDir()
	store := openAt(t, filepath.Join(dir, "store"))
	_, err := store.PutBlob([]byte("x"))
	require.NoError(t, err)
	for _, file := range []string{"outside.json", "outside.json.tmp", "store/README", "store/README.tmp", "store/.gitattributes.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(file), 0o666))
	}
	journal := strings.Join([]string{
		journalHead, "write ../outside.json", "remove ../outside.json", "write /outside.json", "write README", "remove README",
		"write .gitattributes", "remove .gitattributes", "chmod README", "remove ", journalReady, "",
	}, "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "store", journalName), []byte(journal), 0o666))
	before := files(t, dir)
	_, err = store.PutBlob([]byte("y"))
	require.NoError(t, err)
	got := files(t, dir)
	for file, content := range before {
		if file != "store/"+journalName {
			require.Equal(t, content, got[file], file)
		}
	}
}

// TestCommitAfterAnError: a commit that fails on its way leaves the store as it was.
func TestCommitAfterAnError(t *testing.T) {
	dir := t.TempDir()
	store := openAt(t, dir)
	_, err := store.PutBlob([]byte("x"))
	require.NoError(t, err)
	before := files(t, dir)
	root, err := store.open()
	require.NoError(t, err)
	tx := &transaction{root: root}
	tx.write("a/one.json", []byte("1"))
	tx.write("b/two.json", []byte("2"))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "b", "two.json"+tempSuffix, "in-the-way"), 0o777))
	require.Error(t, tx.apply())
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "b")))
	require.NoError(t, store.RebuildManifest())
	require.Equal(t, before, files(t, dir))
}

func openAt(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func entriesOf(t *testing.T, s *Store) []Entry {
	t.Helper()
	m, err := s.manifest()
	require.NoError(t, err)
	return m.Snapshots
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, file))
		found[file] = string(data)
		return err
	}))
	return found
}

func errFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
