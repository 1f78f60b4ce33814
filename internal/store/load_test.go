package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	good := putOf("TestX", call{1, "one?", "one"})
	for _, c := range []struct {
		name, reason string
		break_       func(t *testing.T, dir string)
		says         string
		is           error
	}{
		{"other-name", "a document that was renamed by hand is not that of the test",
			func(t *testing.T, dir string) {
				writeFile(t, dir, fileOf("TestX"), tree(t, dir)[fileOf("TestY")])
			}, `/snapshots/0/id: name: is "` + nameOf("TestY") + `-1", must be ` + nameOf("TestX") + "-<n>, as the file's name says\nway out: restore it with git, or record it again", nil},
		{"altered", "a seal is checked at every load",
			func(t *testing.T, dir string) {
				writeFile(t, dir, fileOf("TestX"), strings.Replace(tree(t, dir)[fileOf("TestX")], "one?", "two?", 1))
			}, fileOf("TestX") + ": /snapshots/0", snapshot.ErrSeal},
		{"no-json", "nothing is guessed",
			func(t *testing.T, dir string) { writeFile(t, dir, fileOf("TestX"), "{") }, "way out: restore it with git, or record it again", nil},
		{"conflict", "a merge has a way out of its own",
			func(t *testing.T, dir string) {
				writeFile(t, dir, fileOf("TestX"), "{\n<<<<<<< HEAD\n=======\n>>>>>>> other\n")
			}, "traceforge repair", snapshot.ErrConflict},
		{"directory", "a directory is no document",
			func(t *testing.T, dir string) {
				removeFile(t, dir, fileOf("TestX"))
				require.NoError(t, os.Mkdir(filepath.Join(dir, fileOf("TestX")), 0o777))
			}, "is no regular file", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, good, putOf("TestY", call{1, "y?", "y"}))
			c.break_(t, dir)
			_, err := s.Load(good.Name, "openai")
			require.ErrorContains(t, err, c.says, c.reason)
			var e *snapshot.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, filepath.ToSlash(dir)+"/"+fileOf("TestX"), e.File)
			if c.is != nil {
				require.ErrorIs(t, err, c.is)
			}
		})
	}
	s, _ := newStore(t)
	_, err := s.Load("../x", "openai")
	require.ErrorContains(t, err, `"../x" of provider "openai" is no name of a document`)
	_, err = s.Load("x", "..")
	require.ErrorContains(t, err, `is no name of a document`)
}

// loadedStore returns a store, its directory, the only document that it has, of one call, and that document as it was
// loaded.
func loadedStore(t *testing.T) (s *Store, dir string, put Put, doc *Doc) {
	t.Helper()
	s, dir = newStore(t)
	put = putOf("TestX", call{1, "one?", "one"})
	commit(t, s, put)
	doc, err := s.Load(put.Name, "openai")
	require.NoError(t, err)
	return s, dir, put, doc
}

func TestRawRefuses(t *testing.T) {
	t.Parallel()
	s, dir, put, doc := loadedStore(t)
	ref := put.Document.Snapshots[0].Response.RawOutputRef
	const pointer = "/snapshots/0/response/raw_output_ref"

	writeFile(t, dir, rawOf("TestX", 1), "forged")
	_, err := doc.Raw(0)
	require.ErrorIs(t, err, snapshot.ErrRaw)
	require.ErrorContains(t, err, rawOf("TestX", 1)+": raw: has the hash "+string(canon.Sum([]byte("forged")))+
		", but "+put.Name+".json names "+string(ref)+" at "+pointer+"\nway out: restore it with git, or record it again")
	require.NotContains(t, err.Error(), "cut short")

	writeFile(t, dir, JournalName, journalHead+"\n")
	_, err = doc.Raw(0)
	require.ErrorIs(t, err, snapshot.ErrRaw)
	require.ErrorContains(t, err, "a commit was cut short: traceforge repair finishes it or undoes it")
	removeFile(t, dir, JournalName)

	removeFile(t, dir, rawOf("TestX", 1))
	_, err = doc.Raw(0)
	require.ErrorIs(t, err, snapshot.ErrRaw)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, fileOf("TestX")+": "+pointer+": raw: names "+string(ref)+", but "+rawOf("TestX", 1)+" is missing")

	commit(t, s, putOf("TestX", call{1, "one?", "another"}))
	_, err = doc.Raw(0)
	require.ErrorIs(t, err, ErrReplaced)
	require.ErrorContains(t, err, "was recorded again by another process: run it again")
}

// TestRawUnchecked leaves only the hash of a file to the caller, and only if no commit can have written it.
func TestRawUnchecked(t *testing.T) {
	t.Parallel()
	s, dir, put, doc := loadedStore(t)
	file := rawOf("TestX", 1)
	pointer := "version https://git-lfs.github.com/spec/v1\noid " + string(put.Document.Snapshots[0].Response.RawOutputRef) + "\nsize 3\n"
	raw, check := doc.RawUnchecked(0)
	require.Equal(t, rawIn(put, 0), raw)
	require.NoError(t, check())

	writeFile(t, dir, file, "forged")
	raw, check = doc.RawUnchecked(0)
	require.Equal(t, "forged", string(raw))
	require.ErrorIs(t, check(), snapshot.ErrRaw)
	_, err := doc.Raw(0)
	require.EqualError(t, check(), err.Error())

	writeFile(t, dir, JournalName, "")
	_, check = doc.RawUnchecked(0)
	require.Nil(t, check, "a commit has replaced the document, but not the answer yet")
	removeFile(t, dir, JournalName)
	writeFile(t, dir, file, pointer)
	_, check = doc.RawUnchecked(0)
	require.Nil(t, check, "git lfs pull fetches it")
	removeFile(t, dir, file)
	_, check = doc.RawUnchecked(0)
	require.Nil(t, check, "it is missing")
	commit(t, s, putOf("TestX", call{1, "one?", "another"}))
	_, check = doc.RawUnchecked(0)
	require.Nil(t, check, "the document is another one")
}

// TestRawWaits checks that an answer that a commit is replacing is read again after the commit.
func TestRawWaits(t *testing.T) {
	t.Parallel()
	s, dir, put, doc := loadedStore(t)
	var got []byte
	read := make(chan error)
	require.NoError(t, s.Exclusively(func(Writer) error {
		removeFile(t, dir, rawOf("TestX", 1))
		go func() {
			var err error
			got, err = doc.Raw(0)
			read <- err
		}()
		time.Sleep(50 * time.Millisecond)
		writeFile(t, dir, rawOf("TestX", 1), string(rawIn(put, 0)))
		return nil
	}))
	require.NoError(t, <-read)
	require.Equal(t, rawIn(put, 0), got)
}

// TestRawMissingOften checks that a document with missing answers is read again only once, not once per answer.
func TestRawMissingOften(t *testing.T) {
	s, dir := newStore(t)
	var calls []call
	for n := range 100 {
		calls = append(calls, call{n + 1, fmt.Sprintf("question %d?", n), "answer"})
	}
	put := putOf("TestX", calls...)
	commit(t, s, put)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "openai", put.Name)))
	doc, err := s.Load(put.Name, "openai")
	require.NoError(t, err)
	_, err = doc.Raw(0)
	require.ErrorIs(t, err, snapshot.ErrRaw)
	again := testing.AllocsPerRun(10, func() { _, err = doc.Raw(1) })
	require.ErrorIs(t, err, snapshot.ErrRaw)
	require.Less(t, again, 200.0, "allocations")
	commit(t, s, putOf("TestX", call{1, "one?", "another"}))
	_, err = doc.Raw(2)
	require.ErrorIs(t, err, ErrReplaced)
}

// TestLinks checks that file links are followed to files of the same names. Bazel lays out a test's inputs in this way.
func TestLinks(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	commit(t, s, putOf("TestX", call{1, "one?", "one"}), putOf("TestY", call{1, "y?", "y"}))
	runfiles := filepath.Join(t.TempDir(), "runfiles", ".ai-snapshots")
	link := func(target, file string) {
		path := filepath.Join(runfiles, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		if err := os.Symlink(filepath.Join(dir, filepath.FromSlash(target)), path); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	for file := range tree(t, dir) {
		link(file, file)
	}
	linked := openAt(t, runfiles)
	requireCalls(t, linked, "TestX", call{1, "one?", "one"})
	before := tree(t, dir)
	require.ErrorContains(t, linked.Commit(Change{Put: []Put{putOf("TestZ", call{1, "z?", "z"})}}),
		"open .gitattributes: is a link, and a store is written only where its files are")
	require.Equal(t, before, tree(t, dir))

	removeFile(t, runfiles, fileOf("TestX"))
	link(fileOf("TestY"), fileOf("TestX"))
	_, err := linked.Load(nameOf("TestX"), "openai")
	var e *snapshot.Error
	require.ErrorAs(t, err, &e)
	require.ErrorContains(t, err, "stray: is a link to ")
	require.ErrorContains(t, err, ": one that is followed leads to "+fileOf("TestX"))

	link("openai", "anthropic")
	_, err = linked.Load(nameOf("TestY"), "anthropic")
	require.ErrorContains(t, err, "anthropic: stray: is a link to ")

	require.NoError(t, os.RemoveAll(runfiles))
	link("openai", "openai")
	requireCalls(t, linked, "TestX", call{1, "one?", "one"})
	link("gone", DocumentFile("openai", "gone"))
	_, err = linked.Load("gone", "openai")
	require.True(t, errors.Is(err, fs.ErrNotExist) || runtime.GOOS == "windows", "%v", err)
}

// TestNeedsOfConversation reads the shared part of a conversation's requests once, and finds the media of all requests.
func TestNeedsOfConversation(t *testing.T) {
	needs := func(calls int) (allocated uint64) {
		name := func(i int) string {
			return fmt.Sprintf("blob:%s;image/png;1", canon.Sum([]byte{byte(i), byte(i >> 8)}))
		}
		d, messages := &snapshot.Document{}, make([]modelio.Message, calls)
		for i := range messages {
			custom := modelio.Object{"a": json.RawMessage(`1`), "b": json.RawMessage(`{}`)}
			messages[i] = modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.MediaPart("image/png", name(i)), {Custom: custom}}}
			d.Snapshots = append(d.Snapshots, snapshot.Snapshot{Request: modelio.Request{Messages: messages[: i+1 : i+1]}})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		all := Needs(d)
		runtime.ReadMemStats(&after)
		require.Len(t, all, calls)
		for i, need := range all {
			require.Equal(t, canon.Sum([]byte{byte(i), byte(i >> 8)}), need.Hash)
			require.Equal(t, fmt.Sprintf("/snapshots/%d", i), need.Pointer())
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, needs(800), 3*needs(400))
}
