package snapshot_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/spelling"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A vectorFile has the cases for one row of SF's tables, or for an addition in docs/format.md. SF's JavaScript in
// testdata/seal.js computed the hashes, not this package.
type vectorFile struct {
	Row   string
	Cases []vector
}

type vector struct {
	Name       string
	Why        string
	Violations []place // empty for a valid document
	Examine    bool    // Parse accepts the document, and Examine reports these violations
	Document   json.RawMessage
	Text       *string // replaces Document in cases about spelling
}

type place struct{ Pointer, Rule string }

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
	t.Parallel()
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
	if len(v.Violations) > 0 && !v.Examine {
		var e *snapshot.Error
		require.True(t, errors.As(err, &e), "%s: %v", v.Why, err)
		require.Equal(t, v.Violations, places(e.Violations), "%s: %v", v.Why, err)
		_, found := spelling.Examine(v.text())
		require.Equal(t, e.Violations, found)
		return
	}
	require.NoError(t, err, v.Why)
	requireCanonical(t, doc)
	if !v.Examine {
		return
	}
	pretty := v.text()
	if v.Text == nil {
		pretty = indented(t, pretty)
	}
	_, found := spelling.Examine(pretty)
	require.Equal(t, v.Violations, places(found), v.Why)
}

// requireCanonical checks that a document stays equal when it is sealed and written.
func requireCanonical(t *testing.T, doc *snapshot.Document) {
	t.Helper()
	before := cores(t, doc)
	require.NoError(t, doc.Seal()) // this converts it to this version
	data := encode(t, doc)
	again, found := spelling.Examine(data)
	require.Empty(t, found)
	require.Equal(t, before, cores(t, again))
	require.Equal(t, string(data), string(encode(t, again)))
}

// cores returns the cores of the requests and answers in a document.
func cores(t *testing.T, doc *snapshot.Document) (all []string) {
	t.Helper()
	for i := range doc.Snapshots {
		s := &doc.Snapshots[i]
		request, err := snapshot.RequestCore(&s.Request, nil)
		require.NoError(t, err)
		response, err := snapshot.ResponseCore(&s.Response)
		require.NoError(t, err)
		all = append(all, string(request), string(response), s.ID, s.Source.Test)
	}
	return all
}

func places(violations []snapshot.Violation) (all []place) {
	for _, v := range violations {
		all = append(all, place{v.Pointer, v.Rule})
	}
	return all
}

// TestVectorsCoverTheTables compares the vector files with the rows of SF's field tables.
func TestVectorsCoverTheTables(t *testing.T) {
	t.Parallel()
	files := vectors(t)
	for _, row := range []string{
		"document.version", "document.snapshots", "document.hash",
		"record.id", "record.timestamp", "record.source", "record.request", "record.response", "record.hash",
		"source.file", "source.line", "source.function", "source.beyond",
		"request.model", "request.messages", "request.prompt", "request.temperature", "request.max_tokens", "request.top_p",
		"request.frequency_penalty", "request.presence_penalty", "request.seed", "request.stop", "request.tools",
		"request.beyond", "request.continues", "pieces",
		"response.content", "response.tokens_used", "response.latency_ms", "response.finish_reason", "response.tool_calls",
		"response.beyond", "response.parts", "response.candidates", "response.error", "response.headers", "response.readings",
		"response.usage", "source.origin",
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
