package contract_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/store"
)

// records returns the records of all documents of the store in dir, in order.
func records(t *testing.T, dir string) []contract.Record {
	t.Helper()
	s, err := store.Open(dir)
	require.NoError(t, err)
	files, err := s.List()
	require.NoError(t, err)
	var all []contract.Record
	for _, file := range files {
		provider, name := path.Split(file)
		doc, err := s.Load(strings.TrimSuffix(name, ".json"), path.Clean(provider))
		require.NoError(t, err)
		for i := range doc.Document.Snapshots {
			record := contract.Record{Provider: doc.Provider, Snapshot: &doc.Document.Snapshots[i], Media: doc.Media}
			record.Raw, err = doc.Raw(i)
			require.NoError(t, err)
			all = append(all, record)
		}
	}
	return all
}
