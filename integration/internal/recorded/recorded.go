// Package recorded reads stores for the tests of this module.
package recorded

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Call is one recorded call and its place.
type Call struct {
	*snapshot.Snapshot
	File     string // file of the document
	Provider string
	Raw      []byte // the provider's own bytes, or nil
}

// Calls returns all calls of the store in dir, in the order of the documents.
func Calls(t testing.TB, dir string) (calls []Call) {
	t.Helper()
	s, err := store.Open(dir)
	require.NoError(t, err)
	files, err := s.List()
	require.NoError(t, err)
	for _, file := range files {
		provider, name := path.Split(strings.TrimSuffix(file, ".json"))
		doc, err := s.Load(name, path.Clean(provider))
		require.NoError(t, err)
		for i := range doc.Document.Snapshots {
			raw, err := doc.Raw(i)
			require.NoError(t, err)
			call := Call{&doc.Document.Snapshots[i], file, doc.Provider, raw}
			if call.Snapshot.Provider != "" {
				call.Provider = call.Snapshot.Provider
			}
			calls = append(calls, call)
		}
	}
	return calls
}

// RequireSound checks that verify finds nothing in the store in dir.
func RequireSound(t testing.TB, dir string) {
	t.Helper()
	s, err := store.Open(dir)
	require.NoError(t, err)
	result, err := audit.Verify(s, recorder.Proven)
	require.NoError(t, err)
	require.Empty(t, result.Findings)
}
