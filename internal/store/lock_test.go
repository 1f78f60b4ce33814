package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/store/storetest"
)

// TestExclusively checks that the holder of a store makes other writers wait.
func TestExclusively(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := store.Open(dir)
	require.NoError(t, err)
	written := make(chan error)
	failed := errors.New("git failed")
	require.ErrorIs(t, s.Exclusively(func(store.Writer) error {
		go func() {
			other, err := store.Open(dir)
			if err == nil {
				err = audit.WriteManifest(other)
			}
			written <- err
		}()
		select {
		case <-written:
			t.Error("another one wrote")
		case <-time.After(50 * time.Millisecond): // it waits, or has not begun
		}
		return failed
	}), failed)
	require.NoError(t, <-written)
}

// TestWritable probes a store many times at once, as if from many processes, next to the files of a process that died
// while probing.
func TestWritable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a[b", ".ai-snapshots")
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.Writable())
	require.NoDirExists(t, dir)

	require.NoError(t, os.MkdirAll(dir, 0o777))
	storetest.WriteFile(t, dir, ".traceforge-1234.tmp", "")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				assert.NoError(t, s.Writable())
			}
		})
	}
	all.Wait()
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
}
