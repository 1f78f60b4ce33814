package place_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
)

// TestReadable: a document that cannot be read hides no other.
func TestReadable(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, pagetest.MakeStore(dir, "plain"))
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "openai", "a-broken.json"), []byte("{"), 0o666))

	count := func(unread *error) (n int) {
		for range place.Readable(s, unread) {
			n++
		}
		return n
	}
	require.Equal(t, 1, count(nil))
	var unread error
	require.Equal(t, 1, count(&unread))
	require.ErrorContains(t, unread, "a-broken.json")
	for range place.Readable(s, nil) {
		break
	}
}

// TestOpenStoreThatIsNotThere: who makes or describes a store needs it although there is none.
func TestOpenStoreThatIsNotThere(t *testing.T) {
	t.Chdir(t.TempDir())
	s, dir, err := place.OpenStore("new")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "no store: ")
	require.Equal(t, "new", dir)
	require.Equal(t, dir, s.Dir())
}

func TestWorkspace(t *testing.T) {
	dir := t.TempDir()
	require.Empty(t, place.Workspace(""))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.work"), nil, 0o666))
	require.Equal(t, dir, place.Workspace(filepath.Join(dir, "a", "b")))
	require.Equal(t, dir, place.Workspace(dir))
}
