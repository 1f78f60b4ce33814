package snapshot_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A vectorFile has the cases of one row of SF's field tables, or of what docs/format.md adds. The
// hashes in the documents were computed without this package.
type vectorFile struct {
	Row   string
	Cases []vector
}

type vector struct {
	Name       string
	Why        string
	Violations []struct{ Pointer, Rule string } // none: the document is valid
	Document   json.RawMessage
	Text       *string // instead of Document, where it is no JSON
}

func (v vector) text() []byte {
	if v.Text != nil {
		return []byte(*v.Text)
	}
	return v.Document
}

// vectors returns all vector files by name.
func vectors(tb testing.TB) map[string]vectorFile {
	tb.Helper()
	names, err := filepath.Glob("testdata/vectors/*.json")
	require.NoError(tb, err)
	require.NotEmpty(tb, names)
	files := map[string]vectorFile{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(tb, err)
		var f vectorFile
		require.NoError(tb, json.Unmarshal(data, &f), name)
		files[filepath.Base(name)] = f
	}
	return files
}

func TestVectors(t *testing.T) {
	for name, file := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			for _, v := range file.Cases {
				t.Run(v.Name, func(t *testing.T) {
					require.NotEmpty(t, v.Why)
					checkVector(t, v)
				})
			}
		})
	}
}

func checkVector(t *testing.T, v vector) {
	doc, err := snapshot.Parse(v.text())
	if len(v.Violations) == 0 {
		require.NoError(t, err, v.Why)
		data, err := doc.Encode()
		require.NoError(t, err)
		require.JSONEq(t, string(v.text()), string(data))
		again, err := snapshot.Parse(data)
		require.NoError(t, err)
		require.Equal(t, doc, again)
		return
	}
	var e *snapshot.Error
	require.True(t, errors.As(err, &e), "%s: %v", v.Why, err)
	var got []struct{ Pointer, Rule string }
	for _, violation := range e.Violations {
		require.NotEmpty(t, violation.Message)
		got = append(got, struct{ Pointer, Rule string }{violation.Pointer, violation.Rule})
	}
	require.Equal(t, v.Violations, got, "%s: %v", v.Why, err)
}

// TestVectorsCoverTheTables holds the vector files against the rows of SF's field tables.
func TestVectorsCoverTheTables(t *testing.T) {
	files := vectors(t)
	for _, row := range []string{
		"document.version", "document.snapshots", "document.hash",
		"record.id", "record.timestamp", "record.source", "record.request", "record.response", "record.hash",
		"source.file", "source.line", "source.function",
		"request.model", "request.messages", "request.prompt", "request.temperature", "request.max_tokens", "request.top_p",
		"request.frequency_penalty", "request.presence_penalty", "request.seed", "request.stop", "request.tools",
		"response.content", "response.tokens_used", "response.latency_ms", "response.finish_reason", "response.tool_calls",
	} {
		accepted, rejected := 0, 0
		for _, v := range files[row+".json"].Cases {
			if len(v.Violations) == 0 {
				accepted++
			} else {
				rejected++
			}
		}
		require.NotZero(t, accepted, "%s: no document is accepted", row)
		require.NotZero(t, rejected, "%s: no document is rejected", row)
	}
	require.Len(t, files["sf.invalid.json"].Cases, 4)
}
