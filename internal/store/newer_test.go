package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// TestNewerStore checks that no operation replaces or removes files of a newer traceforge.
func TestNewerStore(t *testing.T) {
	t.Parallel()
	const way = "was written by a newer traceforge, and this one reads 1.1.0: upgrade (go get -u github.com/traceforge/traceforge-go)"
	for _, c := range []struct {
		name, reason, file string
		change             func(*Store) error
	}{
		{"put", "an update of the test", fileOf("TestX"), func(s *Store) error {
			return s.Commit(Change{Put: []Put{putOf("TestX", call{1, "Hi", "Hello"})}})
		}},
		{"remove", "a prune", fileOf("TestX"), func(s *Store) error {
			return s.Commit(Change{Remove: []string{fileOf("TestX")}})
		}},
		{"moved", "the test's first call is of another provider now", fileOf("TestX"), func(s *Store) error {
			p := putOf("TestX", call{1, "Hi", "Hello"})
			p.Provider = "anthropic"
			return s.Commit(Change{Put: []Put{p}})
		}},
		{"manifest", "the update of another test in a store that is newer", ManifestName, func(s *Store) error {
			return s.Commit(Change{Put: []Put{putOf("TestOther", call{1, "Hi", "Hello"})}})
		}},
		{"derived", "the manifest of documents that cannot be read", fileOf("TestX"), func(s *Store) error {
			return Audit.WriteManifest(s)
		}},
		{"derived-again", "a manifest that would take the store back", ManifestName, func(s *Store) error {
			return Audit.WriteManifest(s)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t)
			require.NoError(t, s.Commit(Change{Put: []Put{putOf("TestX", call{1, "Hi", "Good morning"})}}))
			file := filepath.Join(dir, filepath.FromSlash(c.file))
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			newer := strings.Replace(string(data), `"version": "1.1.0"`, `"version": "1.2.0"`, 1)
			require.NoError(t, os.WriteFile(file, []byte(newer), 0o666))
			before := tree(t, dir)
			err = c.change(s)
			require.ErrorIs(t, err, snapshot.ErrNewer, c.reason)
			require.ErrorContains(t, err, c.file)
			require.ErrorContains(t, err, way)
			require.NotContains(t, err.Error(), "record")
			require.Equal(t, before, tree(t, dir))
			result, err := Audit.Verify(s)
			require.NoError(t, err)
			require.Len(t, result.Findings, 1)
			require.Equal(t, snapshot.RuleNewer, result.Findings[0].Rule)
			require.Equal(t, c.file, result.Findings[0].File)
		})
	}
}
