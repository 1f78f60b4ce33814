package traceforgetest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// recorded returns the records of a test, in order.
func (s *scene) recorded(test string) []*snapshot.Snapshot {
	s.t.Helper()
	store, err := snapshot.Open(s.dir)
	require.NoError(s.t, err)
	defer store.Close()
	var found []*snapshot.Snapshot
	for e, err := range store.All() {
		require.NoError(s.t, err)
		snap, err := store.Get(e.ID)
		require.NoError(s.t, err)
		if snap.Source.Test == test {
			found = append(found, snap)
		}
	}
	return found
}

// TestReplayWhileReplaced replays a test whose records another writer replaces all the time, with
// other bodies: every replay is answered.
func TestReplayWhileReplaced(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a"), newChat("b")))
	snaps := s.recorded("TestIt")
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		store, err := snapshot.Open(s.dir)
		for n := 0; err == nil; n++ {
			select {
			case <-stop:
				done <- store.Close()
				return
			default:
			}
			var c snapshot.Change
			for i, snap := range snaps {
				body := fmt.Sprintf(`{"choices":[],"n":%d,"of":%d}`, n, i)
				other := *snap
				other.Response.RawOutputRef = canon.Sum([]byte(body))
				c.Put = append(c.Put, snapshot.Record{Provider: "openai", Snapshot: &other})
				c.Blobs = append(c.Blobs, []byte(body))
			}
			err = store.Commit(c)
		}
		done <- err
	}()
	for range 50 {
		tb := s.replay("TestIt", asks(newChat("b"), newChat("a")))
		require.False(t, tb.Failed(), tb.Logged())
	}
	close(stop)
	require.NoError(t, <-done)
	s.requireWhole()
}

// TestReplayOfReplaced replaces records in the middle of a replay.
func TestReplayOfReplaced(t *testing.T) {
	for _, c := range []struct {
		name, why string
		change    func(*snapshot.Snapshot)
		want      string
	}{
		{"answer", "the new answer to the same request is as good", func(s *snapshot.Snapshot) { s.Response.Content = "new" }, ""},
		{"request", "the call was found by a request that is not recorded any more", func(s *snapshot.Snapshot) { s.Request.Model = "gpt-9" },
			"was recorded again, from another request, while the test ran: run the test again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", asks(newChat("a"), newChat("b"), newChat("c")))
			tb := s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				asks(newChat("b"))(tb, tf) // out of order, so that all keys are known
				store, err := snapshot.Open(s.dir)
				require.NoError(t, err)
				defer store.Close()
				for _, snap := range s.recorded("TestIt") {
					c.change(snap)
					require.NoError(t, store.Put("openai", snap))
				}
				asks(newChat("a"), newChat("c"))(tb, tf)
			})
			if c.want == "" {
				require.False(t, tb.Failed(), tb.Logged())
				return
			}
			require.True(t, tb.Failed(), c.why)
			require.Contains(t, tb.Logged(), c.want)
		})
	}
}
