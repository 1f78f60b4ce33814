package snapshot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// testPackage is the import path that the tests' records are from.
const testPackage = "example.com/agents"

// recordedAt is when the tests' records are from, unless they say otherwise.
var recordedAt = time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC)

func number(text string) *snapshot.Number {
	n := snapshot.Number(text)
	return &n
}

func ptr[T any](v T) *T { return &v }

// record returns a record with SF's required fields, the n-th of a test.
func record(test string, n int) *snapshot.Snapshot {
	return &snapshot.Snapshot{
		ID:        snapshot.ID(testPackage, test, n),
		Timestamp: recordedAt,
		Source: snapshot.Source{
			File: "agents/summarizer.go", Line: 12, Function: "Summarize",
			Package: testPackage, Test: test, Ordinal: n,
		},
		Request: snapshot.Request{
			Model:       "gpt-4-turbo",
			Messages:    []snapshot.Message{{Role: "user", Content: json.RawMessage(`"Hello"`)}},
			Temperature: number("0"),
			MaxTokens:   number("100"),
		},
		Response: snapshot.Response{
			Content:      "Hello! How can I help you?",
			TokensUsed:   ptr(int64(10)),
			LatencyMS:    450,
			FinishReason: "stop",
		},
	}
}

// document returns a sealed document with the given records.
func document(tb testing.TB, records ...*snapshot.Snapshot) *snapshot.Document {
	tb.Helper()
	doc := &snapshot.Document{Version: snapshot.Version}
	for _, r := range records {
		doc.Snapshots = append(doc.Snapshots, *r)
	}
	require.NoError(tb, doc.Seal())
	return doc
}

func encode(tb testing.TB, doc *snapshot.Document) []byte {
	tb.Helper()
	data, err := doc.Encode()
	require.NoError(tb, err)
	return data
}

func openStore(tb testing.TB, dir string) *snapshot.Store {
	tb.Helper()
	store, err := snapshot.Open(dir)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, store.Close()) })
	return store
}

// newStore returns an empty store and its directory.
func newStore(tb testing.TB) (*snapshot.Store, string) {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), ".ai-snapshots")
	return openStore(tb, dir), dir
}

func readFile(tb testing.TB, elem ...string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	require.NoError(tb, err)
	return data
}

func writeFile(tb testing.TB, data []byte, elem ...string) {
	tb.Helper()
	file := filepath.Join(elem...)
	require.NoError(tb, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(tb, os.WriteFile(file, data, 0o666))
}
