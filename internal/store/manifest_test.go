package store

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestManifest(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	put := putOf("TestX", call{1, "one?", "one"}, call{3, "three?", "three"}, call{2, "two?", "two"})
	put.Document.Snapshots[1].Provider = "tool"
	commit(t, s, put, putOf("TestA", call{1, "a?", "a"}))
	var got struct {
		Version   string `json:"version"`
		CreatedAt string `json:"created_at"`
		UpdatedAt string `json:"updated_at"`
		Snapshots []struct {
			ID, Provider, File string
			Hash               canon.Hash
		} `json:"snapshots"`
		Hash canon.Hash `json:"hash"`
	}
	decoder := json.NewDecoder(strings.NewReader(tree(t, dir)[ManifestName]))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&got))
	require.Equal(t, "1.1.0", got.Version)
	require.Equal(t, "2026-01-09T10:30:00Z", got.CreatedAt)
	require.Len(t, got.Snapshots, 4)
	for i, id := range []string{nameOf("TestA") + "-1", put.Name + "-1", put.Name + "-3", put.Name + "-2"} {
		require.Equal(t, id, got.Snapshots[i].ID)
	}
	require.Equal(t, put.Document.Snapshots[0].Hash, got.Snapshots[1].Hash)
	var seals []string
	for _, e := range got.Snapshots {
		seals = append(seals, `"`+string(e.Hash)+`"`)
	}
	require.Equal(t, canon.Sum([]byte(`{"version":"1.1.0","snapshots":[`+strings.Join(seals, ",")+`]}`)), got.Hash, "as SF's JavaScript has it")
	require.Equal(t, fileOf("TestX"), got.Snapshots[1].File)
	require.Equal(t, put.Provider+" tool", got.Snapshots[1].Provider+" "+got.Snapshots[2].Provider, "the record's own")
	before := tree(t, dir)
	require.NoError(t, Audit.WriteManifest(s))
	require.Equal(t, before, tree(t, dir))
}

func TestManifestTimes(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	at := func(test string, minutes int) Put {
		put := putOf(test, call{1, "x?", fmt.Sprint(minutes)})
		put.Document.Snapshots[0].Timestamp = recordedAt.Add(time.Duration(minutes) * time.Minute)
		return put
	}
	times := func(created, updated string) {
		t.Helper()
		manifest := tree(t, dir)[ManifestName]
		require.Contains(t, manifest, `"created_at": "2026-01-09T`+created+`:00Z"`)
		require.Contains(t, manifest, `"updated_at": "2026-01-09T`+updated+`:00Z"`)
	}
	commit(t, s, at("TestB", 10))
	times("10:40", "10:40")
	commit(t, s, at("TestB", 12))
	times("10:42", "10:42") // no other document could be the oldest
	commit(t, s, at("TestA", 0), at("TestC", 20))
	times("10:30", "10:50")
	requireWhole(t, s)

	// No other document is read to find the next oldest, so the manifest lags.
	commit(t, s, at("TestA", 25))
	times("10:30", "10:55")
	result, err := Audit.Verify(s)
	require.NoError(t, err)
	require.Empty(t, result.Findings)
	require.Equal(t, []snapshot.Finding{{File: ManifestName, Pointer: "/created_at", Rule: "behind",
		Message: "is 2026-01-09T10:30:00Z, but the oldest record is of 2026-01-09T10:42:00Z: traceforge repair --manifest writes it"}}, result.Notes)
	require.NoError(t, Audit.WriteManifest(s))
	times("10:42", "10:55")
	require.NoError(t, s.Commit(Change{Remove: []string{fileOf("TestA")}}))
	result, err = Audit.Verify(s)
	require.NoError(t, err)
	require.Equal(t, "/updated_at", result.Notes[0].Pointer)
}

func TestManifestThatLags(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}), putOf("TestY", call{1, "y?", "y"}))
	old := tree(t, dir)[ManifestName]

	// The documents change like after a pull.
	commit(t, s, putOf("TestX", call{1, "one?", "changed"}), putOf("TestZ", call{1, "z?", "z"}))
	writeFile(t, dir, ManifestName, old)
	result, err := Audit.Verify(s)
	require.NoError(t, err)
	require.Empty(t, result.Findings)
	behind := []snapshot.Finding{{File: ManifestName, Rule: "behind",
		Message: "records that it lists and that are not there any more or have changed: 1, new ones: 2: traceforge repair --manifest writes it"}}
	require.Equal(t, behind, result.Notes)
	s.git = func(string, ...string) (string, error) { return ManifestName + "\x00", nil }
	result, err = Audit.Verify(s)
	require.NoError(t, err)
	require.Equal(t, behind, result.Findings, "a manifest that git tracks must be right")

	// A branch may have no manifest.
	removeFile(t, dir, ManifestName)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	require.NotContains(t, tree(t, dir), ManifestName)
	requireWhole(t, s)
}

// TestManifestOfManyDocuments checks that commits leave the manifest of more than 100 documents alone.
func TestManifestOfManyDocuments(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	var puts []Put
	for n := range manifestDocuments {
		puts = append(puts, putOf(fmt.Sprint("Test", n), call{1, "x?", "x"}))
	}
	commit(t, s, puts...)
	requireWhole(t, s)
	before := tree(t, dir)[ManifestName]
	commit(t, s, putOf("TestMore", call{1, "x?", "x"}))
	require.Equal(t, before, tree(t, dir)[ManifestName])
	require.NoError(t, Audit.WriteManifest(s))
	requireWhole(t, s)
	before = tree(t, dir)[ManifestName]
	writeFile(t, dir, ManifestName, strings.Replace(before, `"1.1.0"`, `"9.0.0"`, 1))
	require.ErrorIs(t, s.Commit(Change{Put: []Put{putOf("TestNewer", call{1, "x?", "x"})}}), snapshot.ErrNewer)
	writeFile(t, dir, ManifestName, before)
	require.NoError(t, s.Commit(Change{Remove: []string{fileOf("TestMore")}}))
	require.NotEqual(t, before, tree(t, dir)[ManifestName])
	requireWhole(t, s)
}

func TestManifestThatIsWrong(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}), putOf("TestY", call{1, "y?", "y"}))
	right := tree(t, dir)[ManifestName]
	replaced := func(old, new string) string {
		require.Contains(t, right, old)
		return strings.Replace(right, old, new, 1)
	}
	const writes = ": traceforge repair --manifest writes it"
	for _, c := range []struct{ name, reason, manifest, says string }{
		{"empty", "a manifest is JSON", "", writes},
		{"conflict", "a merge", "<<<<<<< a\n=======\n>>>>>>> b\n", "manifest.json: conflict: line 1 is a conflict marker of a merge" + writes},
		{"version", "no other is read", replaced("1.1.0", "0.9.0"), `manifest: is of version "0.9.0", must be "1.1.0"` + writes},
		{"unknown", "exactly SF's members", replaced(`"version"`, `"x": 1, "version"`), "must have the members that SF has, and nothing else" + writes},
		{"missing", "exactly SF's members", `{}`, "must have the members that SF has, and nothing else" + writes},
		{"entry", "a name needs no escapes", replaced(nameOf("TestX")+"-1", `x\"`), "must have the members that SF has, and nothing else" + writes},
		{"no time", "a time that was", replaced("2026-01-09T10:30:00Z", "0001-01-01T00:00:00Z"), "must have the members that SF has, and nothing else" + writes},
		{"time", "a time", replaced("10:30", "30:10"), "must have the members that SF has, and nothing else" + writes},
		{"hash", "of the entries", replaced(`"hash": "sha256:`, `"hash": "sha256:0`), "has the hash "},
		{"layout", "one of two", replaced("    {", "   {"), "is not laid out as traceforge or SF write it" + writes},
		{"id", "the hash seals it", replaced(nameOf("TestX")+"-2", nameOf("TestX")+"-3"), `/snapshots/1: manifest: has the id "` + nameOf("TestX") + `-3", but the record with that hash is ` + nameOf("TestX") + "-2" + writes},
		{"file", "it follows from id and provider", replaced(fileOf("TestX"), fileOf("TestY")), "/snapshots/0/file: manifest: is "},
		{"created", "no record is older", replaced("10:30", "10:31"), "/created_at: manifest: is 2026-01-09T10:31:00Z, but the oldest record is of 2026-01-09T10:30:00Z" + writes},
		{"updated", "no record is newer", strings.Replace(replaced(`"updated_at": "2026`, `"updated_at": "2025`), "x", "x", 1), "/updated_at: manifest: is 2025-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeFile(t, dir, ManifestName, c.manifest)
			result, err := Audit.Verify(s)
			require.NoError(t, err)
			require.Len(t, result.Findings, 1, c.reason)
			require.Contains(t, result.Findings[0].String(), c.says, c.reason)
			require.Empty(t, result.Notes)
			require.NoError(t, Audit.WriteManifest(s))
			require.Equal(t, right, tree(t, dir)[ManifestName])
		})
	}

	// A manifest that cannot be read is left to traceforge repair --manifest.
	writeFile(t, dir, ManifestName, "x")
	commit(t, s, putOf("TestY", call{1, "y?", "changed"}))
	require.Equal(t, "x", tree(t, dir)[ManifestName])
	require.NoError(t, Audit.WriteManifest(s))
	requireWhole(t, s)

	// A manifest in the spelling of JSON.stringify is valid.
	var v any
	require.NoError(t, json.Unmarshal([]byte(tree(t, dir)[ManifestName]), &v))
	m, err := ParseManifest([]byte(tree(t, dir)[ManifestName]))
	require.NoError(t, err)
	printed := string(m.Indented())
	require.JSONEq(t, tree(t, dir)[ManifestName], printed)
	require.Contains(t, printed, "    {\n      \"id\": \""+nameOf("TestX")+"-1\",\n      \"provider\": \"openai\",\n")
	writeFile(t, dir, ManifestName, printed)
	requireWhole(t, s)

	// Broken documents have no manifest.
	writeFile(t, dir, fileOf("TestX"), "{")
	err = Audit.WriteManifest(s)
	require.ErrorContains(t, err, "write manifest: ")
	require.ErrorContains(t, err, fileOf("TestX"))
	require.Equal(t, printed, tree(t, dir)[ManifestName])
}

// FuzzManifest checks that a manifest is read only if it has the bytes that the package writes.
func FuzzManifest(t *testing.F) {
	f := mutation.New(t)
	m := &Manifest{CreatedAt: recordedAt, UpdatedAt: recordedAt}
	m.Entries = []Entry{{"x-1", "openai", "openai/x.json", canon.Sum(nil)}, {"x-2", "openai", "openai/x.json", canon.Sum([]byte("2"))}}
	f.Add(m.Encode())
	f.Add(m.Indented())
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := ParseManifest(data)
		if err != nil {
			return
		}
		for _, text := range [][]byte{read.Encode(), read.Indented()} {
			again, err := ParseManifest(text)
			require.NoError(t, err)
			require.Equal(t, read.Entries, again.Entries)
			require.Equal(t, read.Encode(), again.Encode())
		}
	})
}

// FuzzJournal checks that a journal cannot name a file that commits do not write or remove.
func FuzzJournal(t *testing.F) {
	f := mutation.New(t)
	step := string(canon.Sum(nil)) + " openai/x.json\n"
	f.Add(journalHead + "\n" + journalWrite + " " + step + journalRemove + " " + step + journalReady + "\n")
	f.Add(journalHead + "\nwrite " + string(canon.Sum(nil)) + " ../x.json\n")
	f.Fuzz(func(t *testing.T, data string) {
		tx, _, err := parseJournal(Writer{}, data)
		if err != nil {
			return
		}
		for _, w := range tx.writes {
			require.True(t, IsStoreFile(w.file) && fs.ValidPath(w.file))
		}
		for _, r := range tx.removes {
			require.True(t, IsStoreFile(r.file) && fs.ValidPath(r.file))
		}
	})
}

// TestManifestOfLinks checks that the manifest includes the records of a document that is a link (C6).
func TestManifestOfLinks(t *testing.T) {
	s, dir := newStore(t)
	commit(t, s, putOf("TestA", call{1, "a?", "a"}), putOf("TestB", call{1, "b?", "b"}))
	outside := filepath.Join(t.TempDir(), "document.json")
	require.NoError(t, os.Rename(filepath.Join(dir, fileOf("TestA")), outside))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, fileOf("TestA"))))
	before := tree(t, dir)[ManifestName]
	err := Audit.WriteManifest(s)
	require.ErrorContains(t, err, fileOf("TestA")+": stray: is a link, and a store holds files: put the file in its place")
	require.Equal(t, before, tree(t, dir)[ManifestName])
}
