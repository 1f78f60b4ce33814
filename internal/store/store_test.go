package store

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestEmptyStore(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	require.Equal(t, dir, s.Dir())
	files, err := s.List()
	require.NoError(t, err)
	require.Empty(t, files)
	_, err = s.Load(nameOf("TestX"), "openai")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Audit.Verify(s)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Audit.Prune(s)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Audit.Repair(s)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, Audit.WriteManifest(s), fs.ErrNotExist)
	require.NoError(t, s.Commit(Change{}))
	require.NoDirExists(t, dir, "nothing is written before a commit")
}

func TestStore(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}), putOf("TestY", call{1, "y?", "y"}))
	requireWhole(t, s)
	requireCalls(t, s, "TestX", call{1, "one?", "one"}, call{2, "two?", "two"})
	files, err := s.List()
	require.NoError(t, err)
	require.Equal(t, []string{fileOf("TestX"), fileOf("TestY")}, files)
	want := []string{".gitattributes", ".gitignore", "manifest.json", fileOf("TestX"), rawOf("TestX", 1), rawOf("TestX", 2), fileOf("TestY"), rawOf("TestY", 1)}
	slices.Sort(want)
	got := tree(t, dir)
	require.Equal(t, want, slices.Sorted(maps.Keys(got)))
	require.Equal(t, "* -text -ident !working-tree-encoding\nmanifest.json -merge linguist-generated\n*/*/* -merge linguist-generated\n", got[".gitattributes"])
	require.Equal(t, "manifest.json\ncommit.pending\n*.tmp\n.pending\n", got[".gitignore"])

	// Load finds it under another provider too.
	doc, err := s.Load(nameOf("TestX"), "anthropic")
	require.NoError(t, err)
	require.Equal(t, "openai", doc.Provider)

	// A raw answer is replaced in place. A raw answer without a record is removed.
	commit(t, s, putOf("TestX", call{2, "two?", "two!"}))
	requireWhole(t, s)
	requireCalls(t, s, "TestX", call{2, "two?", "two!"})
	require.NotContains(t, tree(t, dir), rawOf("TestX", 1))

	// Answers that the store has need not be given.
	put := putOf("TestX", call{2, "two?", "two!"}, call{3, "three?", "three"})
	delete(put.Beside, put.Document.Snapshots[0].Response.RawOutputRef)
	commit(t, s, put)
	requireCalls(t, s, "TestX", call{2, "two?", "two!"}, call{3, "three?", "three"})

	require.NoError(t, s.Commit(Change{Remove: []string{fileOf("TestX")}}))
	requireWhole(t, s)
	require.ErrorIs(t, s.Commit(Change{Remove: []string{fileOf("TestX")}}), fs.ErrNotExist)
	require.NoError(t, s.Commit(Change{Remove: []string{fileOf("TestY")}}))
	requireWhole(t, s)
	require.Len(t, tree(t, dir), 2, "empty directories and the manifest go too")
	require.NoDirExists(t, filepath.Join(dir, "openai"))
}

// TestMove checks that a test whose first call goes to another provider moves with its kept answers.
func TestMove(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}))
	put := putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"})
	put.Provider = "anthropic"
	delete(put.Beside, put.Document.Snapshots[0].Response.RawOutputRef)
	commit(t, s, put)
	requireWhole(t, s)
	requireCalls(t, s, "TestX", call{1, "one?", "one"}, call{2, "two?", "two"})
	require.NoDirExists(t, filepath.Join(dir, "openai"))
	files, err := s.List()
	require.NoError(t, err)
	require.Equal(t, []string{DocumentFile("anthropic", nameOf("TestX"))}, files)
}

func TestMedia(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	image := []byte("\x89PNG and so on")
	put := mediaPut(image)
	h := canon.Sum(image)
	missing := put
	missing.Beside = maps.Clone(put.Beside)
	delete(missing.Beside, h)
	err := s.Commit(Change{Put: []Put{missing}})
	require.ErrorIs(t, err, snapshot.ErrRaw)
	require.ErrorContains(t, err, "names "+string(h)+", which is neither in the change nor in the store")

	commit(t, s, put)
	requireWhole(t, s)
	file := "openai/" + put.Name + "/" + h.Hex() + ".png"
	require.Contains(t, tree(t, dir), file)
	doc, err := s.Load(put.Name, "openai")
	require.NoError(t, err)
	got, err := doc.Media(h)
	require.NoError(t, err)
	require.Equal(t, image, got)
	_, err = doc.Media(canon.Sum(nil))
	require.ErrorIs(t, err, fs.ErrNotExist)

	removeFile(t, dir, file)
	_, err = doc.Media(h)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "/snapshots/0: media: names "+string(h)+", but "+file+" is missing\nway out: restore it with git")
	result, err := Audit.Verify(s)
	require.NoError(t, err)
	require.Equal(t, []snapshot.Finding{{File: fileOf("TestX"), Pointer: "/snapshots/0", Rule: "media",
		Message: "names " + string(h) + ", but " + file + " is missing"}}, result.Findings)

	commit(t, s, putOf("TestX", call{1, "one?", "one"}), mediaOf("TestY", image))
	requireWhole(t, s)

	// Two calls may send one image.
	twice := putOf("TestZ", call{1, "a?", "a"}, call{2, "b?", "b"})
	for i := range twice.Document.Snapshots {
		message := &twice.Document.Snapshots[i].Request.Messages[1]
		message.Content = append(message.Content, put.Document.Snapshots[0].Request.Messages[1].Content[1])
	}
	twice.Beside[h] = image
	commit(t, s, twice)
	requireWhole(t, s)
}

// mediaPut returns a document whose only call has an image.
func mediaPut(image []byte) Put { return mediaOf("TestX", image) }

func mediaOf(test string, image []byte) Put {
	put := putOf(test, call{1, "what is this?", "an image"})
	m := snapshot.Medium{Hash: canon.Sum(image), ContentType: "image/png", Size: int64(len(image))}
	message := &put.Document.Snapshots[0].Request.Messages[1]
	message.Content = append(message.Content, modelio.Part{Media: &modelio.Media{ContentType: "image/png", URL: m.String()}})
	put.Beside[m.Hash] = image
	return put
}

func TestUnchangedFilesAreNotWritten(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}), putOf("TestY", call{1, "y?", "y"}, call{2, "z?", "z"}))
	before := tree(t, dir)
	old := time.Now().Add(-time.Hour)
	for file := range before {
		require.NoError(t, os.Chtimes(filepath.Join(dir, file), old, old))
	}
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	require.Equal(t, before, tree(t, dir))
	commit(t, s, putOf("TestY", call{1, "y?", "y"}, call{2, "z?", "other"}))
	for file := range before {
		info, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		changed := file == ManifestName || file == fileOf("TestY") || file == rawOf("TestY", 2)
		require.Equal(t, changed, info.ModTime().After(old.Add(time.Minute)), file)
	}
}

func TestMaxBytes(t *testing.T) {
	s, dir := newStore(t)
	require.EqualValues(t, 64<<20, s.MaxBytes())
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	t.Setenv(maxBytesName, "20")
	s = openAt(t, dir)
	_, err := s.Load(nameOf("TestX"), "openai")
	require.ErrorContains(t, err, "and at most 20 are read: TRACEFORGE_MAX_BYTES raises the limit")
	require.ErrorContains(t, s.Commit(Change{Put: []Put{putOf("TestY", call{1, "y?", "y"})}}), "at most 20 are read")
	long := putOf("TestY", call{1, "y?", "y"})
	answered(long, make([]byte, 10_001))
	s.maxBytes = 10_000
	require.ErrorContains(t, s.Commit(Change{Put: []Put{long}}), rawOf("TestY", 1)+": value: has 10001 bytes")
	s.maxBytes = 20
	result, err := Audit.Verify(s)
	require.NoError(t, err)
	require.Equal(t, "value", result.Findings[0].Rule)
	for _, wrong := range []string{"x", "0", "-1"} {
		t.Setenv(maxBytesName, wrong)
		_, err = Open(dir)
		require.ErrorContains(t, err, "TRACEFORGE_MAX_BYTES must be a number of bytes, is \""+wrong+"\"")
	}
}

func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	before := tree(t, dir)
	altered := func(change func(*Put)) Change {
		put := putOf("TestY", call{1, "y?", "y"})
		change(&put)
		return Change{Put: []Put{put}}
	}
	put := putOf("TestY", call{1, "y?", "y"})
	for name, c := range map[string]struct {
		change Change
		says   string
	}{
		"provider":       {altered(func(p *Put) { p.Provider = "../x" }), `of provider "../x" is no name of a document`},
		"device":         {altered(func(p *Put) { p.Provider = "con" }), `is no name of a document`},
		"name":           {altered(func(p *Put) { p.Name = "../x" }), `"../x" of provider "openai" is no name`},
		"nil":            {altered(func(p *Put) { p.Document = nil }), "is missing"},
		"twice":          {Change{Put: []Put{put, put}}, "is put twice"},
		"id":             {altered(func(p *Put) { p.Document.Snapshots[0].ID = "x-1" }), `/snapshots/0/id: name: is "x-1", must be ` + put.Name + "-<n>"},
		"source":         {altered(func(p *Put) { p.Document.Snapshots[0].Source.Test = "TestZ" }), "must be " + nameOf("TestZ") + "-<n>, as its source says"},
		"invalid":        {altered(func(p *Put) { p.Document.Snapshots[0].Source.Line = 0 }), "/snapshots/0/source/line"},
		"no-raw":         {altered(func(p *Put) { p.Beside = nil }), "which is neither in the change nor in the store"},
		"bad-raw":        {altered(func(p *Put) { p.Beside[p.Document.Snapshots[0].Response.RawOutputRef] = []byte("other") }), "raw: has the hash " + string(canon.Sum([]byte("other")))},
		"remove-none":    {Change{Remove: []string{"openai/x.json"}}, syscall.ENOENT.Error()},
		"remove-out":     {Change{Remove: []string{"../x.json"}}, `"../x.json" is no file of a document`},
		"remove-twice":   {Change{Remove: []string{fileOf("TestX"), fileOf("TestX")}}, "is removed, and put or removed besides"},
		"remove-and-put": {Change{Put: []Put{putOf("TestX", call{1, "x", "x"})}, Remove: []string{fileOf("TestX")}}, "is removed, and put or removed besides"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, s.Commit(c.change), c.says)
			require.Equal(t, before, tree(t, dir), "nothing is written")
		})
	}
}

// TestIsStoreFile names the files that a journal may write and remove.
func TestIsStoreFile(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"manifest.json", "openai/x.json", "openai/x/1.json", "x.5.log"} {
		require.True(t, IsStoreFile(file), file)
	}
	for _, file := range []string{"config.json", ".gitignore", "../x.json", "openai/x/notes.md", "../x/1.json", "openai/../1.json",
		"x.log", "x.0.log", "x.-5.log", "x.05.log", "x.5.txt", "../x.5.log", "openai/x.5.log"} {
		require.False(t, IsStoreFile(file), file)
	}
}

// TestReplaceWhatIsGoneOrBroken checks that files deleted or altered by hand can be recorded again.
func TestReplaceWhatIsGoneOrBroken(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	x, y := putOf("TestX", call{1, "one?", "one"}), putOf("TestY", call{1, "y?", "y"})
	commit(t, s, x, y)
	removeFile(t, dir, fileOf("TestX"))
	writeFile(t, dir, fileOf("TestY"), "{")
	writeFile(t, dir, rawOf("TestY", 1), "?")
	writeFile(t, dir, fileOf("TestY")+TempExt, "left by a crash of the system")
	commit(t, s, x)
	commit(t, s, y)
	requireWhole(t, s)
}

// TestCommitKeepsOtherFiles checks that a commit removes no file that only a person can have put there.
func TestCommitKeepsOtherFiles(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}, call{2, "two?", "two"}))
	notes := "openai/" + nameOf("TestX") + "/notes.md"
	writeFile(t, dir, notes, "why")
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	require.Contains(t, tree(t, dir), notes)
	require.NoError(t, s.Commit(Change{Remove: []string{fileOf("TestX")}}))
	require.Contains(t, tree(t, dir), notes)
}

// TestNoLinkOutOfAStoreThatIsWritten checks that a directory link is refused, and that a file link is replaced.
func TestNoLinkOutOfAStoreThatIsWritten(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestY", call{1, "y?", "y"}))
	outside := t.TempDir()
	link := func(target, file string) {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(file))); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	link(outside, "anthropic")
	put := putOf("TestX", call{1, "one?", "one"})
	put.Provider = "anthropic"
	require.ErrorContains(t, s.Commit(Change{Put: []Put{put}}), "anthropic: stray: is no directory: no link is followed where a store is written")
	removeFile(t, dir, "anthropic")

	writeFile(t, outside, "x", "kept")
	link(filepath.Join(outside, "x"), fileOf("TestX"))
	commit(t, s, putOf("TestX", call{1, "one?", "one"}))
	requireWhole(t, s)
	require.Equal(t, map[string]string{"x": "kept"}, tree(t, outside))

	moved := filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.Rename(dir, moved))
	require.NoError(t, os.Symlink(moved, dir))
	before := tree(t, moved)
	require.ErrorIs(t, s.Commit(Change{Put: []Put{putOf("TestX", call{1, "one?", "two"})}}), ErrLinked)
	require.ErrorIs(t, newBuyer(s, "TestX").buy(putOf("TestX", bought[0])), ErrLinked)
	_, err := s.Load(nameOf("TestX"), "openai")
	require.NoError(t, err, "reading it is allowed")
	require.Equal(t, before, tree(t, moved))
}

// TestLinkToNoStore checks that a link within the repository is followed only to a store or an empty directory.
func TestLinkToNoStore(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	linked, err := Open(filepath.Join(top, ".ai-snapshots"))
	require.NoError(t, err)
	put := Change{Put: []Put{putOf("TestX", call{1, "one?", "one"})}}
	to := func(target string) error {
		_ = os.Remove(filepath.Join(top, ".ai-snapshots"))
		if err := os.Symlink(target, filepath.Join(top, ".ai-snapshots")); err != nil {
			t.Skip("no symbolic links: ", err)
		}
		return linked.Commit(put)
	}
	writeFile(t, top, ".gitignore", "secret.env\n")
	writeFile(t, top, "data/set/1.json", "mine")
	require.NoError(t, os.Mkdir(filepath.Join(top, "empty"), 0o777))
	before := tree(t, top)
	for _, target := range []string{".", "data", "data/.."} {
		require.ErrorIs(t, to(target), errNoStore, target)
	}
	require.NoError(t, os.Remove(filepath.Join(top, ".ai-snapshots")))
	require.Equal(t, before, tree(t, top))
	require.NoError(t, to("empty"))
	require.NoError(t, to("empty"), "which is a store now")
}
