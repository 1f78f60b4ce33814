package snapshot_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestCommitLeavesUnchangedFilesAlone(t *testing.T) {
	store, dir := newStore(t)
	snap := record("TestX", 1)
	put(t, store, snap, record("TestY", 1))
	before := tree(t, dir)
	old := time.Now().Add(-time.Hour)
	for file := range before {
		require.NoError(t, os.Chtimes(filepath.Join(dir, file), old, old))
	}
	put(t, store, snap, record("TestY", 1))
	require.Equal(t, before, tree(t, dir))
	changed := record("TestY", 1)
	changed.Response.Content = "other"
	put(t, store, changed)
	for file := range before {
		info, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		written := info.ModTime().After(old.Add(time.Minute))
		require.Equal(t, file == "manifest.json" || strings.Contains(file, "testy"), written, file)
	}
}

func TestManifestTimes(t *testing.T) {
	store, dir := newStore(t)
	at := func(test string, minutes int) *snapshot.Snapshot {
		snap := record(test, 1)
		snap.Timestamp = recordedAt.Add(time.Duration(minutes) * time.Minute)
		return snap
	}
	times := func(created, updated string) {
		t.Helper()
		manifest := string(readFile(t, dir, "manifest.json"))
		require.Contains(t, manifest, `"created_at": "2026-01-09T`+created+`:00Z"`)
		require.Contains(t, manifest, `"updated_at": "2026-01-09T`+updated+`:00Z"`)
		requireWhole(t, store)
	}
	put(t, store, at("TestB", 10))
	times("10:40", "10:40")
	put(t, store, at("TestA", 0), at("TestC", 20))
	times("10:30", "10:50")
	put(t, store, at("TestA", 15)) // the oldest becomes younger
	times("10:40", "10:50")
	require.NoError(t, store.Remove(at("TestC", 0).ID)) // the newest goes
	times("10:40", "10:45")
}

func TestOrphansGoWithTheirRecords(t *testing.T) {
	store, dir := newStore(t)
	blobs := func() (n int) {
		for file := range tree(t, dir) {
			if strings.HasPrefix(file, "blobs/") {
				n++
			}
		}
		return n
	}
	shared := []byte("shared")
	commit := func(test string, remove []snapshot.Entry, bodies ...string) {
		t.Helper()
		c := snapshot.Change{Remove: remove, Blobs: [][]byte{shared}}
		for i, body := range bodies {
			snap := record(test, i+1)
			snap.Response.RawOutputRef, snap.Response.OutputRef = canon.Sum([]byte(body)), canon.Sum(shared)
			c.Put = append(c.Put, snapshot.Record{Provider: "openai", Snapshot: snap})
			c.Blobs = append(c.Blobs, []byte(body))
		}
		require.NoError(t, store.Commit(c))
		requireWhole(t, store)
	}
	commit("TestX", nil, "a", "b")
	require.Equal(t, 3, blobs())
	commit("TestY", nil, "b", "c")
	require.Equal(t, 4, blobs())
	commit("TestX", nil, "a", "d") // b is TestY's too
	require.Equal(t, 5, blobs())
	commit("TestY", nil, "d", "c") // and now nobody's
	require.Equal(t, 4, blobs())
	for _, e := range all(t, store) {
		require.NoError(t, store.Remove(e.ID))
		requireWhole(t, store)
	}
	require.Equal(t, []string{".gitattributes"}, keys(tree(t, dir)), "empty directories and the manifest go too")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func keys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// TestEnvelopeKeepsItsBlobs: what an output envelope names lives as long as it (LC "Normalized
// Output Envelope").
func TestEnvelopeKeepsItsBlobs(t *testing.T) {
	store, _ := newStore(t)
	arguments := []byte(`{"a":1}`)
	calls := []byte(`[{"arguments_ref":"` + string(canon.Sum(arguments)) + `"}]`)
	envelope := []byte(`{"tool_calls_ref":"` + string(canon.Sum(calls)) + `"}`)
	snap := record("TestX", 1)
	snap.Response.OutputRef = canon.Sum(envelope)
	require.NoError(t, store.Commit(snapshot.Change{
		Put:   []snapshot.Record{{Provider: "openai", Snapshot: snap}},
		Blobs: [][]byte{arguments, calls, envelope},
	}))
	requireWhole(t, store)
	put(t, store, record("TestY", 1))
	orphans, err := store.Prune()
	require.NoError(t, err)
	require.Empty(t, orphans)
	require.NoError(t, store.Remove(snap.ID))
	requireWhole(t, store)
	for _, data := range [][]byte{arguments, calls, envelope} {
		_, err := store.Blob(canon.Sum(data))
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestPutBlobAndPrune(t *testing.T) {
	store, _ := newStore(t)
	h, err := store.PutBlob([]byte("lonely"))
	require.NoError(t, err)
	require.Equal(t, canon.Sum([]byte("lonely")), h)
	data, err := store.Blob(h)
	require.NoError(t, err)
	require.Equal(t, "lonely", string(data))
	put(t, store, record("TestX", 1))
	found, err := store.Verify()
	require.NoError(t, err)
	require.Equal(t, []snapshot.Finding{{File: "blobs/sha256/" + h.Hex(), Rule: "orphan", Message: "no record refers to it"}}, found)
	pruned, err := store.Prune()
	require.NoError(t, err)
	require.Equal(t, []canon.Hash{h}, pruned)
	requireWhole(t, store)
	_, err = store.Blob("sha256:../../x")
	require.ErrorIs(t, err, snapshot.ErrBlob)
}

func TestCommitRefuses(t *testing.T) {
	store, dir := newStore(t)
	put(t, store, record("TestX", 1))
	before := tree(t, dir)
	altered := func(change func(*snapshot.Snapshot)) []snapshot.Record {
		snap := record("TestY", 1)
		change(snap)
		return []snapshot.Record{{Provider: "openai", Snapshot: snap}}
	}
	one := record("TestY", 1)
	for name, c := range map[string]struct {
		change snapshot.Change
		says   string
	}{
		"provider":      {snapshot.Change{Put: []snapshot.Record{{Provider: "../x", Snapshot: one}}}, `provider "../x" must be at most 64 characters`},
		"blobs":         {snapshot.Change{Put: []snapshot.Record{{Provider: "blobs", Snapshot: one}}}, `and not be blobs`},
		"device":        {snapshot.Change{Put: []snapshot.Record{{Provider: "con", Snapshot: one}}}, `provider "con" must be`},
		"nil":           {snapshot.Change{Put: []snapshot.Record{{Provider: "openai"}}}, "a record without a snapshot"},
		"twice":         {snapshot.Change{Put: []snapshot.Record{{Provider: "openai", Snapshot: one}, {Provider: "openai", Snapshot: one}}}, "is put twice"},
		"two-providers": {snapshot.Change{Put: []snapshot.Record{{Provider: "openai", Snapshot: one}, {Provider: "anthropic", Snapshot: one}}}, "is put twice"},
		"taken-id":      {snapshot.Change{Put: []snapshot.Record{{Provider: "anthropic", Snapshot: record("TestX", 1)}}}, "is that of openai/testx-1-"},
		"id":            {snapshot.Change{Put: altered(func(s *snapshot.Snapshot) { s.ID = "A" })}, `id "A" must be at most 64 characters`},
		"id-source":     {snapshot.Change{Put: altered(func(s *snapshot.Snapshot) { s.Source.Ordinal = 2 })}, `must be testy-2-`},
		"invalid":       {snapshot.Change{Put: altered(func(s *snapshot.Snapshot) { s.Source.Line = 0 })}, "/snapshots/0/source/line: value: must be 1 or more"},
		"unwritable":    {snapshot.Change{Put: altered(func(s *snapshot.Snapshot) { s.Response.Content = "\xff" })}, "unicode"},
		"no-blob":       {snapshot.Change{Put: altered(func(s *snapshot.Snapshot) { s.Response.OutputRef = canon.Sum(nil) })}, "is neither in the change nor in the store"},
		"remove-none":   {snapshot.Change{Remove: []snapshot.Entry{{ID: "x", Provider: "openai", File: "openai/x.json", Hash: canon.Sum(nil)}}}, "no such file"},
		"remove-out":    {snapshot.Change{Remove: []snapshot.Entry{{ID: "x", Provider: "..", File: "../x.json", Hash: canon.Sum(nil)}}}, `remove: provider ".." must be`},
		"remove-and-put": {snapshot.Change{
			Put:    []snapshot.Record{{Provider: "openai", Snapshot: record("TestX", 1)}},
			Remove: all(t, store),
		}, "is removed and put or removed twice"},
	} {
		t.Run(name, func(t *testing.T) {
			c.change.Blobs = append(c.change.Blobs, []byte("not to be written"))
			require.ErrorContains(t, store.Commit(c.change), c.says)
			require.Equal(t, before, tree(t, dir), "nothing is written")
		})
	}
	require.ErrorIs(t, store.Commit(snapshot.Change{Put: altered(func(s *snapshot.Snapshot) { s.Response.OutputRef = canon.Sum(nil) })}), snapshot.ErrBlob)
}

// TestMoveBetweenProviders: a record that is asked of another provider keeps its id.
func TestMoveBetweenProviders(t *testing.T) {
	store, dir := newStore(t)
	put(t, store, record("TestX", 1))
	require.NoError(t, store.Commit(snapshot.Change{
		Put:    []snapshot.Record{{Provider: "anthropic", Snapshot: record("TestX", 1)}},
		Remove: all(t, store),
	}))
	requireWhole(t, store)
	require.Equal(t, "anthropic", all(t, store)[0].Provider)
	require.NoDirExists(t, filepath.Join(dir, "openai"))
	require.NoDirExists(t, filepath.Join(dir, "blobs"))
}

// TestRemoveWhatIsGone: an entry whose file was deleted by hand can be removed.
func TestRemoveWhatIsGone(t *testing.T) {
	store, dir := newStore(t)
	put(t, store, record("TestX", 1), record("TestY", 1))
	remove(t, dir, testFile("TestX"))
	require.NoError(t, store.Commit(snapshot.Change{Remove: all(t, store)[:1]}))
	_, err := store.Prune() // who has not seen the record does not know which blob it had
	require.NoError(t, err)
	requireWhole(t, store)
}

// TestReplaceWhatIsGone: a record whose file was deleted by hand can be recorded again, and the
// manifest's times are then those of the records that there are.
func TestReplaceWhatIsGone(t *testing.T) {
	store, dir := newStore(t)
	put(t, store, record("TestX", 1), record("TestY", 1))
	remove(t, dir, testFile("TestX"))
	remove(t, dir, testFile("TestY"))
	for _, test := range []string{"TestX", "TestY"} {
		later := record(test, 1)
		later.Timestamp = later.Timestamp.Add(time.Hour)
		put(t, store, later)
	}
	_, err := store.Prune()
	require.NoError(t, err)
	requireWhole(t, store)
}

// TestReplaceWhatIsBroken: altered records can be recorded again one after the other, though
// each commit meets those that are still altered.
func TestReplaceWhatIsBroken(t *testing.T) {
	store, dir := newStore(t)
	put(t, store, record("TestX", 1), record("TestY", 1), record("TestZ", 1))
	for _, test := range []string{"TestX", "TestY", "TestZ"} {
		replace(t, dir, testFile(test), "Hello!", "Hallo!")
	}
	for _, test := range []string{"TestX", "TestY", "TestZ"} {
		snap := record(test, 1)
		snap.Response.Content = "again"
		body := []byte("again " + test)
		snap.Response.RawOutputRef = canon.Sum(body)
		require.NoError(t, store.Commit(snapshot.Change{Put: []snapshot.Record{{Provider: "openai", Snapshot: snap}}, Blobs: [][]byte{body}}))
	}
	requireWhole(t, store)
}
