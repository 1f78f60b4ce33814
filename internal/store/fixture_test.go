package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store/storetest"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
)

const testPackage, system = storetest.Package, storetest.System

var recordedAt = storetest.RecordedAt

var (
	nameOf, rawOf = storetest.Name, storetest.RawFile
	text          = storetest.Text

	tree, writeFile, removeFile = storetest.Tree, storetest.WriteFile, storetest.RemoveFile

	sampled = tbtest.Sampled[int]
)

// A call is the content of a test's record.
type call struct {
	n           int
	ask, answer string
}

// rawIn returns the raw answer of the i-th call of a document.
func rawIn(put Put, i int) []byte { return put.Beside[put.Document.Snapshots[i].Response.RawOutputRef] }

// answered gives the first call of a document another raw answer.
func answered(put Put, raw []byte) {
	hash := canon.Sum(raw)
	put.Document.Snapshots[0].Response.RawOutputRef, put.Beside[hash] = hash, raw
}

// fileOf returns the file of a test's document, with the provider openai.
func fileOf(test string) string { return DocumentFile("openai", nameOf(test)) }

// putOf returns the document of a test and its raw answers, with the provider openai.
func putOf(test string, calls ...call) Put { return putWith(test, system, calls...) }

func putWith(test, system string, calls ...call) Put {
	d := storetest.New()
	for _, c := range calls {
		d.Add(test, c.n, system, c.ask, c.answer)
	}
	return Put{Provider: "openai", Name: nameOf(test), Document: d.Document, Beside: d.Beside}
}

// newStore returns a store that does not exist yet, and its directory.
func newStore(t *testing.T) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	return openAt(t, dir), dir
}

func openAt(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	require.NoError(t, err)
	return s
}

func commit(t *testing.T, s *Store, puts ...Put) {
	t.Helper()
	require.NoError(t, s.Commit(Change{Put: puts}))
}

// requireWhole checks that Verify finds nothing. A manifest may lag in a store that is too large to keep it up to date.
func requireWhole(t *testing.T, s *Store) {
	t.Helper()
	if s.isPending() {
		requireWholeLogs(t, s)
		return
	}
	result, err := Audit.Verify(s)
	require.NoError(t, err)
	require.Empty(t, result.Findings)
	if files, err := s.List(); err == nil && len(files) > manifestDocuments {
		result.Notes = slices.DeleteFunc(result.Notes, func(f snapshot.Finding) bool { return f.Rule == snapshot.RuleBehind })
	}
	require.Empty(t, result.Notes)
}

// requireWholeLogs is requireWhole for pending answers.
func requireWholeLogs(t *testing.T, s *Store) {
	t.Helper()
	files, err := s.List()
	require.NoError(t, err)
	for _, file := range files {
		provider, name, _ := ParseDocumentFile(file)
		doc, err := s.Load(name, provider)
		require.NoError(t, err)
		for _, n := range Needs(doc.Document) {
			_, err := doc.Fetch(n)
			require.NoError(t, err)
		}
	}
}

// requireCalls checks that a test's document has exactly these calls, each with its raw answer.
func requireCalls(t *testing.T, s *Store, test string, want ...call) {
	t.Helper()
	doc, err := s.Load(nameOf(test), "openai")
	require.NoError(t, err)
	var got []call
	for i := range doc.Document.Snapshots {
		record := &doc.Document.Snapshots[i]
		messages := record.Request.Messages
		answer := *record.Response.Candidates[0].Message.Content[0].Text
		got = append(got, call{record.Number(), *messages[len(messages)-1].Content[0].Text, answer})
		raw, err := doc.Raw(i)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("{\"answer\":%q}\n", answer), string(raw))
	}
	require.Equal(t, want, got)
}
