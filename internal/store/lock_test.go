package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
)

// Who holds a store keeps other writers waiting.
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
