package store

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

const testPackage = "example.com/shop"

var recordedAt = time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC)

// A call is what a test's record says.
type call struct {
	n           int
	ask, answer string
}

// system is the system prompt of all records that have no other.
const system = "You are a careful assistant of a shop.\nNever guess.\nName the order.\n"

// nameOf returns the name of the document of a test.
func nameOf(test string) string { return snapshot.DocumentName(testPackage, test) }

// fileOf returns the file of the document of a test, of openai.
func fileOf(test string) string { return DocumentFile("openai", nameOf(test)) }

// rawOf returns the file of a raw answer.
func rawOf(test string, n int) string {
	return fmt.Sprintf("openai/%s/%d.json", nameOf(test), n)
}

// putOf returns the document of a test with its raw answers, of openai.
func putOf(test string, calls ...call) Put { return putWith(test, system, calls...) }

func putWith(test, system string, calls ...call) Put {
	p := Put{Provider: "openai", Name: nameOf(test), Document: &snapshot.Document{Version: snapshot.Version}, Raw: map[int][]byte{}}
	for _, c := range calls {
		p.Raw[c.n] = fmt.Appendf(nil, "{\"answer\":%q}\n", c.answer)
		zero := json.Number("0")
		p.Document.Snapshots = append(p.Document.Snapshots, snapshot.Snapshot{
			ID: snapshot.ID(p.Name, c.n), Timestamp: recordedAt,
			Source: snapshot.Source{File: "shop/agent.go", Line: 31, Function: "ask", Package: testPackage, Test: test},
			Request: modelio.Request{
				API: "openai.chat", Model: "gpt-4o-mini", Temperature: &zero, Seed: &zero,
				Messages: []modelio.Message{text(modelio.RoleSystem, system), text(modelio.RoleUser, c.ask)},
			},
			Response: snapshot.Response{
				Response: modelio.Response{Candidates: []modelio.Candidate{{
					Message: text(modelio.RoleModel, c.answer), FinishReason: modelio.FinishStop,
				}}},
				Status: 200, Headers: map[string][]string{"content-type": {"application/json"}},
				RawOutputRef: canon.Sum(p.Raw[c.n]),
			},
		})
	}
	return p
}

func text(role modelio.Role, s string) modelio.Message {
	return modelio.Message{Role: role, Content: []modelio.Part{{Text: &s}}}
}

// newStore returns a store that is not there yet, and its directory.
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

// requireWhole fails if Verify finds anything, save a manifest that is behind in a store that is too large for one to be kept up to date.
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

// requireWholeLogs is requireWhole of pending answers.
func requireWholeLogs(t *testing.T, s *Store) {
	t.Helper()
	files, err := s.List()
	require.NoError(t, err)
	for _, file := range files {
		provider, name, _ := ParseDocumentFile(file)
		doc, err := s.Load(name, provider)
		require.NoError(t, err)
		for _, n := range Needs(doc.Document) {
			_, err := doc.fetch(n)
			require.NoError(t, err)
		}
	}
}

// requireCalls fails unless the document of a test has these calls, each with its raw answer.
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

// tree returns the files in dir and their content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			found[file], err = os.Readlink(filepath.Join(dir, filepath.FromSlash(file)))
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		found[file] = string(data)
		return err
	}))
	return found
}

// writeFile writes a file of a store by hand.
func writeFile(t *testing.T, dir, file, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(file))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o666))
}

func removeFile(t *testing.T, dir, file string) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(dir, filepath.FromSlash(file))))
}

// sampled returns how often a test repeats itself: all times if TRACEFORGE_TEST_ALL is set, as it is in
// make check.
func sampled(few, all int) int {
	if os.Getenv("TRACEFORGE_TEST_ALL") != "" {
		return all
	}
	return few
}
