package snapshot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// smallStore makes a store of two records and two blobs.
func smallStore(t *testing.T) (*snapshot.Store, string) {
	t.Helper()
	store, dir := newStore(t)
	put(t, store, record("TestX", 1), record("TestY", 1))
	return store, dir
}

// TestAnyFlippedBitIsFound flips a bit of each byte of each file: Verify names the file, and the
// store serves what was committed or an error, nothing else.
func TestAnyFlippedBitIsFound(t *testing.T) {
	store, dir := smallStore(t)
	type served struct {
		snapshot *snapshot.Snapshot
		blob     string
	}
	want := map[string]served{}
	for _, e := range all(t, store) {
		snap, err := store.Get(e.ID)
		require.NoError(t, err)
		blob, err := store.Blob(snap.Response.RawOutputRef)
		require.NoError(t, err)
		want[e.ID] = served{snap, string(blob)}
	}
	serve := func(test string) error {
		entries, err := store.Test(testPackage, test)
		if err != nil {
			return err
		}
		if len(entries) != 1 {
			return fmt.Errorf("%d entries", len(entries))
		}
		sealed, err := store.Load(entries[0])
		if err != nil {
			return err
		}
		whole, err := sealed.Snapshot()
		if err != nil {
			return err
		}
		blob, err := store.Blob(sealed.RawOutputRef)
		if err != nil {
			return err
		}
		require.Equal(t, want[entries[0].ID].blob, string(blob))
		require.Equal(t, want[entries[0].ID].snapshot, whole)
		require.Equal(t, whole.Request.PromptHash, sealed.PromptHash)
		return nil
	}
	require.NoError(t, serve("TestX"))

	for file, content := range tree(t, dir) {
		for i := range content {
			flipped := []byte(content)
			flipped[i] ^= 1 << (i % 8)
			writeFile(t, flipped, dir, file)
			found, err := store.Verify()
			require.NoError(t, err)
			named := false
			for _, f := range found {
				named = named || f.File == file
			}
			require.True(t, named, "bit %d of byte %d of %s: %v", i%8, i, file, found)
			for _, test := range []string{"TestX", "TestY"} {
				// An error is as good as the right answer; serve fails the test at any other.
				_ = serve(test)
			}
		}
		writeFile(t, []byte(content), dir, file)
	}
	requireWhole(t, store)
}

// TestVerify has a finding of every rule of a store.
func TestVerify(t *testing.T) {
	var x, y string // paths of the records
	for name, c := range map[string]struct {
		why    string
		damage func(t *testing.T, dir string)
		want   []string // file: pointer: rule
	}{
		"attributes-missing": {"git could change line ends", func(t *testing.T, dir string) { remove(t, dir, ".gitattributes") },
			[]string{".gitattributes: attributes"}},
		"attributes-other": {"git could change line ends", func(t *testing.T, dir string) { writeFile(t, []byte("* text=auto\n"), dir, ".gitattributes") },
			[]string{".gitattributes: attributes"}},
		"record-missing": {"the manifest lists it", func(t *testing.T, dir string) { remove(t, dir, x) },
			[]string{"B(x): orphan", "X: missing"}},
		"record-extra": {"the manifest does not list it", func(t *testing.T, dir string) {
			snap := record("TestZ", 1)
			writeFile(t, encode(t, document(t, snap)), dir, "openai", snap.ID+".json")
		}, []string{"openai/testz-1-" + snapshot.ID(testPackage, "TestZ", 1)[8:] + ".json: extra"}},
		"record-renamed": {"the name is the id", func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(filepath.Join(dir, x), filepath.Join(dir, "openai", "other.json")))
		}, []string{"X: missing", "openai/other.json: /snapshots/0/id: name", "openai/other.json: extra"}},
		"record-moved": {"an id is of one provider", func(t *testing.T, dir string) {
			writeFile(t, readFile(t, dir, x), dir, "zeta", filepath.Base(x))
		}, []string{"zeta/" + filepath.Base(testFile("TestX")) + ": extra"}},
		"record-altered": {"its seal is broken", func(t *testing.T, dir string) { replace(t, dir, x, "Hello!", "Hallo!") },
			[]string{"X: /snapshots/0/hash: seal", "X: /snapshots/0/response/response_hash: hash"}},
		"record-resealed": {"the manifest has another seal", func(t *testing.T, dir string) {
			snap := record("TestX", 1)
			snap.Response.RawOutputRef = canon.Sum([]byte("body of " + snap.ID))
			snap.Response.Content = "other"
			writeFile(t, encode(t, document(t, snap)), dir, x)
		}, []string{"X: /snapshots/0/hash: manifest"}},
		"record-of-two": {"a file has one record", func(t *testing.T, dir string) {
			writeFile(t, encode(t, document(t, record("TestX", 1), record("TestX", 2))), dir, x)
		}, []string{"B(x): orphan", "X: /snapshots: name"}},
		"record-crlf": {"git must not touch line ends", func(t *testing.T, dir string) { replace(t, dir, x, "\n", "\r\n") },
			[]string{"X: canonical"}},
		"record-order": {"one spelling", func(t *testing.T, dir string) {
			replace(t, dir, x, `"file": "agents/summarizer.go",`, "")
			replace(t, dir, x, `"line": 12,`, `"line": 12, "file": "agents/summarizer.go",`)
		}, []string{"X: canonical"}},
		"record-conflict": {"a merge was not finished", func(t *testing.T, dir string) { replace(t, dir, x, `  "snapshots"`, "<<<<<<< HEAD\n  \"snapshots\"") },
			[]string{"X: conflict"}},
		"record-empty": {"no JSON", func(t *testing.T, dir string) { writeFile(t, nil, dir, x) },
			[]string{"B(x): orphan", "X: json"}},
		"record-version": {"another version of the format", func(t *testing.T, dir string) { replace(t, dir, x, `"version": "1.0.0"`, `"version": "0.9.0"`) },
			[]string{"X: /version: version"}},
		"blob-missing": {"a record refers to it", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, "blobs"))) },
			[]string{"X: /snapshots/0/response/raw_output_ref: blob", "Y: /snapshots/0/response/raw_output_ref: blob"}},
		"blob-altered": {"its name is its hash", func(t *testing.T, dir string) { writeFile(t, []byte("x"), dir, blobOf("TestX")) },
			[]string{"B(x): blob"}},
		"blob-conflict": {"a merge was not finished", func(t *testing.T, dir string) {
			writeFile(t, []byte("{\n<<<<<<<< HEAD:x\n1\n========\n2\n>>>>>>>> theirs:y\n}\n"), dir, blobOf("TestX"))
		}, []string{"B(x): conflict"}},
		"blob-underlined": {"a text may have a line that looks like a marker", func(t *testing.T, dir string) {
			writeFile(t, []byte("Title\n=======\n"), dir, blobOf("TestX"))
		}, []string{"B(x): blob"}},
		"blob-extra": {"no record refers to it", func(t *testing.T, dir string) {
			h := canon.Sum([]byte("more")).Hex()
			writeFile(t, []byte("more"), dir, "blobs/sha256", h)
		}, []string{"blobs/sha256/187897ce0afcf20b50ba2b37dca84a951b7046f29ed5ab94f010619f69d6e189: orphan"}},
		"manifest-missing": {"the records need one", func(t *testing.T, dir string) { remove(t, dir, "manifest.json") },
			[]string{"M: missing"}},
		"manifest-conflict": {"a merge was not finished", func(t *testing.T, dir string) {
			replace(t, dir, "manifest.json", `  "updated_at"`, "<<<<<<< HEAD\n  \"updated_at\"")
		}, []string{"M: conflict"}},
		"manifest-hash": {"over the seals", func(t *testing.T, dir string) {
			manifest := readFile(t, dir, "manifest.json")
			i := bytes.LastIndex(manifest, []byte("sha256:")) + 7
			copy(manifest[i:], strings.Repeat("0", 64))
			writeFile(t, manifest, dir, "manifest.json")
		}, []string{"M: /hash: manifest"}},
		"manifest-time": {"that of the newest record", func(t *testing.T, dir string) {
			replace(t, dir, "manifest.json", `updated_at": "2026`, `updated_at": "2027`)
		},
			[]string{"M: /updated_at: manifest"}},
		"pending": {"a commit was cut short", func(t *testing.T, dir string) { writeFile(t, []byte("traceforge commit\n"), dir, "commit.pending") },
			[]string{"commit.pending: pending"}},
		"temporary": {"left by a commit that was cut short", func(t *testing.T, dir string) { writeFile(t, nil, dir, x+".tmp") },
			[]string{"X.tmp: stray"}},
		"strays": {"nothing else is in a store", func(t *testing.T, dir string) {
			for _, file := range []string{"README.md", "OpenAI/x.json", "openai/X.json", "openai/sub/x.json", "openai/x.txt", "blobs/x", "blobs/md5/x", "blobs/sha256/x", "blobs/sha256/00/x", "blobs/sha256/00/00/x"} {
				writeFile(t, nil, dir, file)
			}
		}, []string{"OpenAI: stray", "README.md: stray", "blobs/md5: stray", "blobs/sha256/00: stray",
			"blobs/sha256/x: stray", "blobs/x: stray", "openai/X.json: stray", "openai/sub: stray", "openai/x.txt: stray"}},
		"links": {"a store has no links", func(t *testing.T, dir string) {
			require.NoError(t, os.Symlink(filepath.Base(x), filepath.Join(dir, "openai", "link.json")))
			require.NoError(t, os.Symlink("openai", filepath.Join(dir, "linked")))
			remove(t, dir, x)
			require.NoError(t, os.Symlink(filepath.Base(y), filepath.Join(dir, x)))
		}, []string{"B(x): orphan", "X: missing", "X: stray", "linked: stray", "openai/link.json: stray"}},
	} {
		t.Run(name, func(t *testing.T) {
			store, dir := newStore(t)
			late := record("TestX", 1)
			late.Timestamp = late.Timestamp.AddDate(0, 1, 0)
			put(t, store, late, record("TestY", 1))
			x, y = testFile("TestX"), testFile("TestY")
			if name == "record-resealed" {
				put(t, store, record("TestX", 1), record("TestY", 1))
			}
			c.damage(t, dir)
			found, err := store.Verify()
			require.NoError(t, err)
			names := strings.NewReplacer(x, "X", y, "Y", "manifest.json", "M", blobOf("TestX"), "B(x)")
			var got []string
			for _, f := range found {
				require.NotEmpty(t, f.Message)
				require.Contains(t, f.String(), f.Message)
				f.Message = ""
				got = append(got, names.Replace(f.String()))
			}
			require.ElementsMatch(t, c.want, got, c.why)
			require.IsNonDecreasing(t, filesOf(found), "sorted")
		})
	}
}

func filesOf(found []snapshot.Finding) (files []string) {
	for _, f := range found {
		files = append(files, f.File)
	}
	return files
}

func testFile(test string) string { return "openai/" + snapshot.ID(testPackage, test, 1) + ".json" }

func blobOf(test string) string {
	h := canon.Sum([]byte("body of " + snapshot.ID(testPackage, test, 1))).Hex()
	return "blobs/sha256/" + h
}

func remove(t *testing.T, elem ...string) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(elem...)))
}

func replace(t *testing.T, dir, file, old, new string) {
	t.Helper()
	data := readFile(t, dir, file)
	require.Contains(t, string(data), old)
	writeFile(t, bytes.ReplaceAll(data, []byte(old), []byte(new)), dir, file)
}

// TestLoadErrors holds what replay says of a broken store against what the harness has to tell.
func TestLoadErrors(t *testing.T) {
	x := testFile("TestX")
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		is     []error
		says   string
	}{
		"altered": {func(t *testing.T, dir string) { replace(t, dir, x, "Hello!", "Hallo!") }, []error{snapshot.ErrSeal},
			"/" + x + ": /snapshots/0/hash: seal: says sha256:"},
		"altered-way-out": {func(t *testing.T, dir string) { replace(t, dir, x, "Hello!", "Hallo!") }, []error{snapshot.ErrSeal},
			"\nway out: restore it with git, or record it again"},
		"conflict": {func(t *testing.T, dir string) { replace(t, dir, x, `  "snapshots"`, "=======\n  \"snapshots\"") }, []error{snapshot.ErrConflict},
			"conflict: line 3 is a conflict marker of a merge\nway out: take one side"},
		"resealed": {func(t *testing.T, dir string) {
			snap := record("TestX", 1)
			snap.Response.Content = "other"
			writeFile(t, encode(t, document(t, snap)), dir, x)
		}, []error{snapshot.ErrManifest}, "/snapshots/0/hash: manifest: is sha256:"},
		"other-record": {func(t *testing.T, dir string) { writeFile(t, readFile(t, dir, testFile("TestY")), dir, x) }, nil,
			"/snapshots/0/id: name: must be testx-1-"},
		"two-records": {func(t *testing.T, dir string) {
			writeFile(t, encode(t, document(t, record("TestX", 1), record("TestX", 2))), dir, x)
		}, nil, "/snapshots: name: must have one record, has 2"},
		"missing":       {func(t *testing.T, dir string) { remove(t, dir, x) }, []error{snapshot.ErrManifest, fs.ErrNotExist}, "is in the manifest, but missing\nway out: run traceforge manifest"},
		"version":       {func(t *testing.T, dir string) { replace(t, dir, x, "1.0.0", "0.9.0") }, []error{snapshot.ErrVersion}, "Snapshot version 0.9.0 is no longer supported"},
		"manifest-seal": {func(t *testing.T, dir string) { flipHash(t, dir) }, []error{snapshot.ErrManifest}, "but the manifest has sha256:"},
		"manifest-conflict": {func(t *testing.T, dir string) {
			replace(t, dir, "manifest.json", `  "updated_at"`, ">>>>>>> theirs\n  \"updated_at\"")
		}, []error{snapshot.ErrConflict}, "manifest.json: conflict: line 4 is a conflict marker of a merge\nway out: run traceforge manifest"},
		"manifest-missing":  {func(t *testing.T, dir string) { remove(t, dir, "manifest.json") }, []error{snapshot.ErrManifest, fs.ErrNotExist}, "is missing, though there are records of openai\nway out: run traceforge manifest"},
		"manifest-version":  {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", "1.0.0", "2.0.0") }, []error{snapshot.ErrVersion}, "/version: version: Snapshot version 2.0.0"},
		"manifest-empty":    {func(t *testing.T, dir string) { writeFile(t, nil, dir, "manifest.json") }, []error{snapshot.ErrManifest}, "manifest: line 1 is not complete"},
		"manifest-entry":    {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", `"provider"`, `"Provider"`) }, []error{snapshot.ErrManifest}, "manifest: line 6 is no entry as traceforge writes them"},
		"manifest-unsorted": {func(t *testing.T, dir string) { swapLines(t, dir) }, []error{snapshot.ErrManifest}, "which must not stand after openai/testy-1-"},
		"manifest-cut":      {func(t *testing.T, dir string) { cut(t, dir, 20) }, []error{snapshot.ErrManifest}, "must end with the lines"},
		"manifest-comma":    {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", "\"},\n", "\"}\n") }, []error{snapshot.ErrManifest}, "must end with a comma if and only if"},
		"manifest-head":     {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", `"created_at": "`, `"created_at":"`) }, []error{snapshot.ErrManifest}, "line 3 must be"},
		"manifest-open":     {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", "{\n", "{ \n") }, []error{snapshot.ErrManifest}, "line 1 must be {"},
		"manifest-date":     {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", `10:30:00Z`, `10:30:00.0Z`) }, []error{snapshot.ErrManifest}, "a time in UTC"},
		"manifest-no-entry": {func(t *testing.T, dir string) { noEntries(t, dir) }, []error{snapshot.ErrManifest}, "must be an entry"},
		"manifest-is-a-dir": {func(t *testing.T, dir string) {
			remove(t, dir, "manifest.json")
			writeFile(t, nil, dir, "manifest.json/x")
		}, nil, "manifest.json"},
		"manifest-traversal": {func(t *testing.T, dir string) {
			replace(t, dir, "manifest.json", `"provider":"openai","file":"openai/`, `"provider":"..","file":"../`)
		}, []error{snapshot.ErrManifest}, `provider ".." must be`},
		"manifest-absolute": {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", `"file":"openai/`, `"file":"/etc/`) }, []error{snapshot.ErrManifest}, `file "/etc/testx-1-`},
		"manifest-backslash": {func(t *testing.T, dir string) {
			replace(t, dir, "manifest.json", `"file":"openai/`, `"file":"openai\\`)
		}, []error{snapshot.ErrManifest}, `must be openai/testx-1-`},
		"manifest-nul":     {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", `"id":"testx`, "\"id\":\"\x00testx") }, []error{snapshot.ErrManifest}, `id "\x00testx-1-`},
		"manifest-case":    {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", `testx-`, `TestX-`) }, []error{snapshot.ErrManifest}, `id "TestX-1-`},
		"manifest-no-hash": {func(t *testing.T, dir string) { replace(t, dir, "manifest.json", `"hash":"sha256:`, `"hash":"md5:`) }, []error{snapshot.ErrManifest}, `hash "md5:`},
	} {
		t.Run(name, func(t *testing.T) {
			store, dir := smallStore(t)
			c.damage(t, dir)
			_, err := serveTest(store, "TestX")
			require.ErrorContains(t, err, c.says)
			require.Contains(t, err.Error(), filepath.ToSlash(dir), "the message names the file")
			for _, is := range c.is {
				require.ErrorIs(t, err, is)
			}
			if strings.HasPrefix(name, "manifest-") && name != "manifest-is-a-dir" {
				_, err = store.Get(snapshot.ID(testPackage, "TestX", 1))
				require.Error(t, err)
				if name == "manifest-seal" {
					return
				}
				before := tree(t, dir)
				require.Error(t, store.Put("openai", record("TestZ", 1)), "nothing is committed on a broken manifest")
				require.Equal(t, before, tree(t, dir))
				require.NoError(t, store.RebuildManifest())
				requireWhole(t, store)
				_, err = serveTest(store, "TestX")
				require.NoError(t, err)
			}
		})
	}
}

// serveTest loads the records of a test and their blobs.
func serveTest(store *snapshot.Store, test string) (n int, err error) {
	entries, err := store.Test(testPackage, test)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		sealed, err := store.Load(e)
		if err != nil {
			return n, err
		}
		if sealed.RawOutputRef != "" {
			if _, err := store.Blob(sealed.RawOutputRef); err != nil {
				return n, err
			}
		}
		n++
	}
	return n, nil
}

func manifestLines(t *testing.T, dir string) []string {
	return strings.SplitAfter(string(readFile(t, dir, "manifest.json")), "\n")
}

func flipHash(t *testing.T, dir string) {
	lines := manifestLines(t, dir)
	i := strings.Index(lines[5], "sha256:") + 7
	lines[5] = lines[5][:i] + strings.Repeat("0", 64) + lines[5][i+64:]
	writeFile(t, []byte(strings.Join(lines, "")), dir, "manifest.json")
}

func swapLines(t *testing.T, dir string) {
	lines := manifestLines(t, dir)
	lines[5], lines[6] = strings.TrimSuffix(lines[6], "\n")+",\n", strings.TrimSuffix(lines[5], ",\n")+"\n"
	writeFile(t, []byte(strings.Join(lines, "")), dir, "manifest.json")
}

func noEntries(t *testing.T, dir string) {
	lines := manifestLines(t, dir)
	writeFile(t, []byte(strings.Join(append(lines[:5], lines[7:]...), "")), dir, "manifest.json")
}

func cut(t *testing.T, dir string, n int) {
	data := readFile(t, dir, "manifest.json")
	writeFile(t, data[:len(data)-n], dir, "manifest.json")
}

// TestBlobErrors: a blob is checked against its name at every read.
func TestBlobErrors(t *testing.T) {
	store, dir := smallStore(t)
	h := canon.Hash("sha256:" + filepath.Base(blobOf("TestX")))
	_, err := store.Blob(h)
	require.NoError(t, err)
	writeFile(t, []byte("other"), dir, blobOf("TestX"))
	_, err = store.Blob(h)
	require.ErrorIs(t, err, snapshot.ErrBlob)
	require.NotErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, blobOf("TestX")+": blob: has the hash sha256:")
	require.ErrorContains(t, err, "way out: restore it with git, or record it again")
	remove(t, dir, blobOf("TestX"))
	_, err = store.Blob(h)
	require.ErrorIs(t, err, snapshot.ErrBlob)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, blobOf("TestX")+": blob: is missing")
	_, err = store.Blob("x")
	require.ErrorIs(t, err, snapshot.ErrBlob)
	require.ErrorContains(t, err, `"x" is no hash`)
}

// TestLinksLeadNowhere: no link leads out of a store, for reading or for writing.
func TestLinksLeadNowhere(t *testing.T) {
	outside := t.TempDir()
	for name, c := range map[string]struct{ link, to string }{
		"provider": {"openai", outside},
		"record":   {testFile("TestX"), filepath.Join(outside, "secret")},
		"blobs":    {"blobs", outside},
		"blob":     {blobOf("TestX"), filepath.Join(outside, "secret")},
		"manifest": {"manifest.json", filepath.Join(outside, "secret")},
		"lock":     {".gitattributes", filepath.Join(outside, "secret")},
	} {
		t.Run(name, func(t *testing.T) {
			store, dir := smallStore(t)
			writeFile(t, []byte("secret"), outside, "secret")
			before := tree(t, outside)
			require.NoError(t, os.RemoveAll(filepath.Join(dir, c.link)))
			require.NoError(t, os.Symlink(c.to, filepath.Join(dir, c.link)))
			if name != "lock" {
				_, err := serveTest(openStore(t, dir), "TestX")
				require.Error(t, err)
				require.NotContains(t, err.Error(), "secret\"")
			}
			snap := record("TestX", 1)
			snap.Response.Content = "new"
			body := []byte("new body")
			snap.Response.RawOutputRef = canon.Sum(body)
			_ = store.Commit(snapshot.Change{Put: []snapshot.Record{{Provider: "openai", Snapshot: snap}}, Blobs: [][]byte{body}})
			_ = store.RebuildManifest()
			found, err := store.Verify()
			require.NoError(t, err)
			if name == "provider" || name == "blobs" || name == "lock" { // the others are replaced by files
				require.Contains(t, filesOf(found), c.link)
			}
			require.Equal(t, before, tree(t, outside), "nothing outside is touched")
		})
	}
}

func TestRebuildManifestRefusesBrokenRecords(t *testing.T) {
	store, dir := smallStore(t)
	replace(t, dir, testFile("TestX"), "Hello!", "Hallo!")
	replace(t, dir, testFile("TestY"), `  "snapshots"`, "<<<<<<< HEAD\n  \"snapshots\"")
	before := tree(t, dir)
	err := store.RebuildManifest()
	require.ErrorIs(t, err, snapshot.ErrSeal)
	require.ErrorIs(t, err, snapshot.ErrConflict)
	require.ErrorContains(t, err, testFile("TestX")+": /snapshots/0/hash: seal")
	require.ErrorContains(t, err, testFile("TestY")+": conflict: line 3")
	require.Equal(t, before, tree(t, dir))
}

func TestRebuildManifestIsStable(t *testing.T) {
	store, dir := smallStore(t)
	before := readFile(t, dir, "manifest.json")
	info, err := os.Stat(filepath.Join(dir, "manifest.json"))
	require.NoError(t, err)
	require.NoError(t, store.RebuildManifest())
	after, err := os.Stat(filepath.Join(dir, "manifest.json"))
	require.NoError(t, err)
	require.Equal(t, info.ModTime(), after.ModTime(), "what does not change is not written")
	remove(t, dir, "manifest.json")
	require.NoError(t, store.RebuildManifest())
	require.Equal(t, string(before), string(readFile(t, dir, "manifest.json")))
	var m map[string]any
	require.NoError(t, json.Unmarshal(before, &m), "the manifest is JSON")
	require.ElementsMatch(t, []string{"version", "created_at", "updated_at", "snapshots", "hash"}, keys(m), "and has exactly SF's fields")
	require.ElementsMatch(t, []string{"id", "provider", "file", "hash"}, keys(m["snapshots"].([]any)[0].(map[string]any)))
}
