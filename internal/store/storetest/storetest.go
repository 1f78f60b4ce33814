// Package storetest has helpers for tests of stores: the document of a test, and reading and writing files directly. It
// does not import the store, so that the tests inside package store can import it.
package storetest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Package is the package of the tests that have documents.
const Package = "example.com/shop"

// System is the default system prompt of the records.
const System = "You are a careful assistant of a shop.\nNever guess.\nName the order.\n"

// RecordedAt is the time of all records.
var RecordedAt = time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC)

// Name returns the name of the document of a test.
func Name(test string) string { return snapshot.DocumentName(Package, test) }

// RawFile returns the file of a raw answer.
func RawFile(test string, n int) string { return fmt.Sprintf("openai/%s/%d.json", Name(test), n) }

// A Document is the document of a test with its raw answers, from openai.
type Document struct {
	*snapshot.Document
	Beside map[canon.Hash][]byte
}

// New returns a document without records.
func New() Document {
	return Document{&snapshot.Document{Version: snapshot.Version}, map[canon.Hash][]byte{}}
}

// Add adds the n-th record of a test, with its question and answer.
func (d Document) Add(test string, n int, system, ask, answer string) {
	raw := fmt.Appendf(nil, "{\"answer\":%q}\n", answer)
	d.Beside[canon.Sum(raw)] = raw
	zero := json.Number("0")
	d.Snapshots = append(d.Snapshots, snapshot.Snapshot{
		ID: snapshot.ID(Name(test), n), Timestamp: RecordedAt,
		Source: snapshot.Source{File: "shop/agent.go", Line: 31, Function: "ask", Package: Package, Test: test},
		Request: modelio.Request{
			API: "openai.chat", Model: "gpt-4o-mini", Temperature: &zero, Seed: &zero,
			Messages: []modelio.Message{Text(modelio.RoleSystem, system), Text(modelio.RoleUser, ask)},
		},
		Response: snapshot.Response{
			Response: modelio.Response{Candidates: []modelio.Candidate{{
				Message: Text(modelio.RoleModel, answer), FinishReason: modelio.FinishStop,
			}}},
			Status: 200, Headers: map[string][]string{"content-type": {"application/json"}},
			RawOutputRef: canon.Sum(raw),
		},
	})
}

// Text returns a message of one text.
func Text(role modelio.Role, s string) modelio.Message {
	return modelio.Message{Role: role, Content: []modelio.Part{{Text: &s}}}
}

// Tree returns the files in dir with their content.
func Tree(t *testing.T, dir string) map[string]string {
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

// WriteFile writes a file of a store by hand.
func WriteFile(t *testing.T, dir, file, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(file))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o666))
}

// RemoveFile removes a file of a store by hand.
func RemoveFile(t *testing.T, dir, file string) {
	t.Helper()
	require.NoError(t, os.Remove(filepath.Join(dir, filepath.FromSlash(file))))
}
