package snapshot_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// put commits records of openai, each with a blob of its own.
func put(t *testing.T, store *snapshot.Store, records ...*snapshot.Snapshot) {
	t.Helper()
	var c snapshot.Change
	for _, r := range records {
		body := []byte("body of " + r.ID)
		r.Response.RawOutputRef = canon.Sum(body)
		c.Put = append(c.Put, snapshot.Record{Provider: "openai", Snapshot: r})
		c.Blobs = append(c.Blobs, body)
	}
	require.NoError(t, store.Commit(c))
}

// all returns the entries of a store.
func all(t *testing.T, store *snapshot.Store) []snapshot.Entry {
	t.Helper()
	var entries []snapshot.Entry
	for e, err := range store.All() {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	return entries
}

// requireWhole fails if Verify finds anything.
func requireWhole(t *testing.T, store *snapshot.Store) {
	t.Helper()
	found, err := store.Verify()
	require.NoError(t, err)
	require.Empty(t, found)
}

// tree returns the files in dir and their content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)] = string(readFile(t, path))
		return nil
	}))
	return files
}

func TestEmptyStore(t *testing.T) {
	store, dir := newStore(t)
	entries, err := store.Test(testPackage, "TestX")
	require.NoError(t, err)
	require.Empty(t, entries)
	require.Empty(t, all(t, store))
	_, err = store.Get("testx-1-000000000000")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = store.Blob(canon.Sum(nil))
	require.ErrorIs(t, err, snapshot.ErrBlob)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = store.Verify()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, store.Commit(snapshot.Change{}))
	_, err = os.Stat(dir)
	require.ErrorIs(t, err, fs.ErrNotExist, "nothing is written before a commit")
}

func TestStore(t *testing.T) {
	store, dir := newStore(t)
	first, second := record("TestX", 1), record("TestX", 2)
	put(t, store, first, second)
	require.NoError(t, store.Put("anthropic", record("TestX", 3)))
	require.NoError(t, store.Put("openai", record("TestX/sub", 1)))
	requireWhole(t, store)

	entries, err := store.Test(testPackage, "TestX")
	require.NoError(t, err)
	require.Len(t, entries, 3)
	require.Equal(t, []string{"openai", "openai", "anthropic"}, []string{entries[0].Provider, entries[1].Provider, entries[2].Provider})
	require.Len(t, all(t, store), 4)

	sealed, err := store.Load(entries[0])
	require.NoError(t, err)
	require.Equal(t, first.Response.RawOutputRef, sealed.RawOutputRef)
	body, err := store.Blob(sealed.RawOutputRef)
	require.NoError(t, err)
	require.Equal(t, "body of "+first.ID, string(body))
	whole, err := sealed.Snapshot()
	require.NoError(t, err)
	require.NoError(t, first.Seal())
	require.Equal(t, first, whole)
	got, err := store.Get(first.ID)
	require.NoError(t, err)
	require.Equal(t, first, got)

	require.Contains(t, tree(t, dir), ".gitattributes")
	require.Equal(t, "* -text\nmanifest.json linguist-generated\nblobs/** -merge linguist-generated\n", tree(t, dir)[".gitattributes"])
	require.NoError(t, store.Remove(first.ID))
	_, err = store.Get(first.ID)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, store.Remove(first.ID), fs.ErrNotExist)
	requireWhole(t, store)

	require.NoError(t, store.Close())
	_, err = store.Test(testPackage, "TestX")
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, store.Put("openai", first), fs.ErrClosed)
}

// TestLoad checks that Load decodes what replay needs.
func TestLoad(t *testing.T) {
	store, _ := newStore(t)
	snap := fullRecord()
	require.NoError(t, store.Commit(snapshot.Change{
		Put:   []snapshot.Record{{Provider: "openai", Snapshot: snap}},
		Blobs: [][]byte{[]byte("raw"), []byte("output"), []byte("media")},
	}))
	sealed, err := store.Load(all(t, store)[0])
	require.NoError(t, err)
	require.NoError(t, snap.Seal())
	require.Equal(t, snap.Request.PromptHash, sealed.PromptHash)
	require.Equal(t, snap.Request.WireHash, sealed.WireHash)
	require.Equal(t, 200, sealed.Status)
	require.Equal(t, snap.Response.Headers, sealed.Headers)
	require.Equal(t, snap.Response.RawOutputRef, sealed.RawOutputRef)
	require.Equal(t, "error", sealed.Incomplete)
	got, err := sealed.Snapshot()
	require.NoError(t, err)
	require.Equal(t, snap, got)

	least := record("TestLeast", 1)
	require.NoError(t, store.Put("openai", least))
	entries, err := store.Test(testPackage, "TestLeast")
	require.NoError(t, err)
	sealed, err = store.Load(entries[0])
	require.NoError(t, err)
	require.Empty(t, sealed.WireHash)
	require.Zero(t, sealed.Status)
	require.Nil(t, sealed.Headers)
}

// TestLoadReformatted: white space does not matter to Load, only to Verify.
func TestLoadReformatted(t *testing.T) {
	store, dir := newStore(t)
	require.NoError(t, store.Put("openai", fullRecordWithoutBlobs()))
	e := all(t, store)[0]
	text := string(readFile(t, dir, e.File))
	for name, reformatted := range map[string]string{
		"crlf":    strings.ReplaceAll(text, "\n", "\r\n"),
		"tabs":    strings.ReplaceAll(text, "  ", "\t"),
		"compact": strings.ReplaceAll(strings.ReplaceAll(text, "\n", ""), "  ", ""),
		"no-end":  strings.TrimSuffix(text, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			writeFile(t, []byte(reformatted), dir, e.File)
			sealed, err := store.Load(e)
			require.NoError(t, err)
			require.Equal(t, 200, sealed.Status)
			found, err := store.Verify()
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.Equal(t, e.File, found[0].File)
			require.Equal(t, "canonical", found[0].Rule)
		})
	}
}

func fullRecordWithoutBlobs() *snapshot.Snapshot {
	snap := fullRecord()
	snap.Request.Blobs, snap.Response.RawOutputRef, snap.Response.OutputRef = nil, "", ""
	return snap
}

// TestTestFindsItsOwn holds Test against all entries of a store whose tests have names that are
// easily taken for each other.
func TestTestFindsItsOwn(t *testing.T) {
	names := []string{
		"Test", "TestA", "TestA/1", "TestA/1/1", "TestA/b", "TestA_b", "TestAb", "TestA/1-1", "TestA/é", "TestA/日本", "TestA/日",
		"Test" + strings.Repeat("Long", 20), "Test" + strings.Repeat("Long", 20) + "/a", "Test" + strings.Repeat("Long", 20) + "/b",
		"TestZ", "日本", "/", "TestA/#00", "TestA/#01", "TestA/10",
	}
	type test struct{ pkg, name string }
	want := map[test]map[int]bool{}
	var c snapshot.Change
	rng := rand.New(rand.NewPCG(1, 2))
	for _, provider := range []string{"a", "a-b", "anthropic", "openai", "openai-compatible", "z"} {
		for _, pkg := range []string{testPackage, "example.com/other"} {
			for _, name := range names {
				for range rng.IntN(5) {
					n := 1 + rng.IntN(120)
					key := test{pkg, name}
					if want[key] == nil {
						want[key] = map[int]bool{}
					}
					if want[key][n] {
						continue
					}
					want[key][n] = true
					snap := record(name, n)
					snap.Source.Package, snap.ID = pkg, snapshot.ID(pkg, name, n)
					c.Put = append(c.Put, snapshot.Record{Provider: provider, Snapshot: snap})
				}
			}
		}
	}
	store, _ := newStore(t)
	require.NoError(t, store.Commit(c))
	requireWhole(t, store)
	for _, pkg := range []string{testPackage, "example.com/other", "example.com/none"} {
		for _, name := range append(names, "TestNone", "") {
			entries, err := store.Test(pkg, name)
			require.NoError(t, err)
			require.Len(t, entries, len(want[test{pkg, name}]), "%s %s", pkg, name)
			last := 0
			for _, e := range entries {
				snap, err := store.Get(e.ID)
				require.NoError(t, err)
				require.Equal(t, name, snap.Source.Test)
				require.Greater(t, snap.Source.Ordinal, last, "in the order of ordinals")
				last = snap.Source.Ordinal
			}
		}
	}
}

// TestLargeManifest finds every test of a store whose manifest is read in pieces.
func TestLargeManifest(t *testing.T) {
	const tests = 700
	var c snapshot.Change
	for i := range tests {
		for n := range 2 {
			c.Put = append(c.Put, snapshot.Record{Provider: []string{"anthropic", "openai"}[n], Snapshot: record(fmt.Sprintf("Test%d", i), n+1)})
		}
	}
	store, dir := newStore(t)
	require.NoError(t, store.Commit(c))
	require.Greater(t, len(readFile(t, dir, "manifest.json")), 200_000)
	for i := range tests {
		entries, err := store.Test(testPackage, fmt.Sprintf("Test%d", i))
		require.NoError(t, err)
		require.Len(t, entries, 2)
		_, err = store.Get(entries[1].ID)
		require.NoError(t, err)
	}
}

// TestLargeBlob serves a blob that no buffer holds at once.
func TestLargeBlob(t *testing.T) {
	store, _ := newStore(t)
	big := []byte(strings.Repeat("0123456789abcdef", 1<<17)) // 2 MiB
	snap := record("TestBig", 1)
	snap.Response.Content = string(big)
	snap.Response.RawOutputRef = canon.Sum(big)
	require.NoError(t, store.Commit(snapshot.Change{Put: []snapshot.Record{{Provider: "openai", Snapshot: snap}}, Blobs: [][]byte{big}}))
	requireWhole(t, store)
	sealed, err := store.Load(all(t, store)[0])
	require.NoError(t, err)
	got, err := store.Blob(sealed.RawOutputRef)
	require.NoError(t, err)
	require.Equal(t, string(big), string(got))
}

// TestNoStore: what is not there is not made by looking after it.
func TestNoStore(t *testing.T) {
	store, dir := newStore(t)
	require.ErrorIs(t, store.RebuildManifest(), fs.ErrNotExist)
	_, err := store.Prune()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoDirExists(t, dir)
	writeFile(t, nil, dir)
	_, err = snapshot.Open(dir)
	require.ErrorContains(t, err, "open store: ")
}

// TestRelativeDir: the store stays where it is when the working directory changes.
func TestRelativeDir(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	store := openStore(t, ".ai-snapshots")
	t.Chdir(t.TempDir())
	put(t, store, record("TestX", 1))
	require.FileExists(t, filepath.Join(dir, ".ai-snapshots", "manifest.json"))
	writeFile(t, nil, dir, ".ai-snapshots", "manifest.json")
	_, err := store.Test(testPackage, "TestX")
	require.ErrorContains(t, err, ".ai-snapshots/manifest.json: manifest: line 1 is not complete", "messages name the directory as it was given")
}

// TestReplacedDir: git may replace the whole directory under an open store.
func TestReplacedDir(t *testing.T) {
	store, dir := newStore(t)
	put(t, store, record("TestX", 1))
	_, err := store.Blob(record("TestX", 1).Response.RawOutputRef)
	require.Error(t, err)
	require.NoError(t, os.Rename(dir, dir+".old"))
	put(t, store, record("TestY", 1))
	requireWhole(t, store)
	require.Len(t, all(t, store), 1)
	require.Len(t, all(t, openStore(t, dir)), 1)
}
