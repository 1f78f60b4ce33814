package audit

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/storetest"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

const testPackage, system = storetest.Package, storetest.System

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

// fileOf returns the file of a test's document, with the provider openai.
func fileOf(test string) string { return store.DocumentFile("openai", nameOf(test)) }

// putOf returns the document of a test and its raw answers, with the provider openai.
func putOf(test string, calls ...call) store.Put { return putWith(test, system, calls...) }

func putWith(test, system string, calls ...call) store.Put {
	d := storetest.New()
	for _, c := range calls {
		d.Add(test, c.n, system, c.ask, c.answer)
	}
	return store.Put{Provider: "openai", Name: nameOf(test), Document: d.Document, Beside: d.Beside}
}

// newStore returns a store that does not exist yet, and its directory.
func newStore(t *testing.T) (*store.Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	return openAt(t, dir), dir
}

func openAt(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	require.NoError(t, err)
	return s
}

func commit(t *testing.T, s *store.Store, puts ...store.Put) {
	t.Helper()
	require.NoError(t, s.Commit(store.Change{Put: puts}))
}

// requireWhole checks that Verify finds nothing.
func requireWhole(t *testing.T, s *store.Store) {
	t.Helper()
	result, err := Verify(s)
	require.NoError(t, err)
	require.Empty(t, result.Findings)
	require.Empty(t, result.Notes)
}

// requireCalls checks that a test's document has exactly these calls, each with its raw answer.
func requireCalls(t *testing.T, s *store.Store, test string, want ...call) {
	t.Helper()
	doc, err := s.Load(nameOf(test), "openai")
	require.NoError(t, err)
	requireCallsOf(t, doc, want...)
}

func requireCallsOf(t *testing.T, doc *store.Doc, want ...call) {
	t.Helper()
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

// mediaOf returns a document whose only call has an image.
func mediaOf(test string, image []byte) store.Put {
	put := putOf(test, call{1, "what is this?", "an image"})
	m := snapshot.Medium{Hash: canon.Sum(image), ContentType: "image/png", Size: int64(len(image))}
	message := &put.Document.Snapshots[0].Request.Messages[1]
	message.Content = append(message.Content, modelio.Part{Media: &modelio.Media{ContentType: "image/png", URL: m.String()}})
	put.Beside[m.Hash] = image
	return put
}
