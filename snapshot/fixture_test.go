package snapshot_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// testPackage is the import path of the tests' records.
const testPackage = "example.com/agents"

// recordedAt is the default time of the tests' records.
var recordedAt = time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC)

func number(text json.Number) *json.Number { return &text }

func ptr[T any](v T) *T { return &v }

func text(role modelio.Role, text string) modelio.Message {
	return modelio.Message{Role: role, Content: []modelio.Part{modelio.TextPart(text)}}
}

// record returns the n-th record of a test, with SF's required members.
func record(test string, n int) snapshot.Snapshot {
	return snapshot.Snapshot{
		ID:        snapshot.ID(snapshot.DocumentName(testPackage, test), n),
		Timestamp: recordedAt,
		Source: snapshot.Source{
			File: "agents/summarizer.go", Line: 12, Function: "Summarize", Package: testPackage, Test: test,
		},
		Request: modelio.Request{
			Model:       "gpt-4-turbo",
			Messages:    []modelio.Message{text(modelio.RoleUser, "Hello")},
			Temperature: number("0"),
			MaxTokens:   number("100"),
		},
		Response: answered(modelio.TextPart("Hello! How can I help you?")),
	}
}

// answered returns a response with the given parts.
func answered(parts ...modelio.Part) snapshot.Response {
	r := snapshot.Response{TokensUsed: ptr(int64(10)), LatencyMS: 450}
	r.Candidates = []modelio.Candidate{{
		Message: modelio.Message{Role: modelio.RoleModel, Content: parts}, FinishReason: modelio.FinishStop,
	}}
	return r
}

// document returns a sealed document with the given records.
func document(tb testing.TB, records ...snapshot.Snapshot) *snapshot.Document {
	tb.Helper()
	doc := &snapshot.Document{Version: snapshot.Version, Snapshots: records}
	require.NoError(tb, doc.Seal())
	return doc
}

func encode(tb testing.TB, doc *snapshot.Document) []byte {
	tb.Helper()
	data, err := doc.Write(nil)
	require.NoError(tb, err)
	return data
}

func parse(tb testing.TB, data []byte) *snapshot.Document {
	tb.Helper()
	doc, err := snapshot.Parse(data)
	require.NoError(tb, err)
	return doc
}

// indented lays a text out like files.
func indented(tb testing.TB, text []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	require.NoError(tb, json.Indent(&b, text, "", "  "))
	b.WriteByte('\n')
	return b.Bytes()
}
