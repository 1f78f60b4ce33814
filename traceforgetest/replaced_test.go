package traceforgetest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// replace edits the records of TestIt and commits them with other raw answers.
func (s *scene) replace(store *store.Store, doc *store.Doc, edit func(i int, record *snapshot.Snapshot) (raw string)) error {
	put := storePut(doc)
	for i := range put.Document.Snapshots {
		record := &put.Document.Snapshots[i]
		raw := []byte(edit(i, record))
		record.Response.RawOutputRef = canon.Sum(raw)
		put.Beside[record.Response.RawOutputRef] = raw
	}
	return commit(store, put)
}

// rawsOf returns the raw answers of a document, which are objects.
func rawsOf(t *testing.T, doc *store.Doc) (raws []string) {
	for i := range doc.Document.Snapshots {
		raw, err := doc.Raw(i)
		require.NoError(t, err)
		require.Equal(t, byte('{'), raw[0])
		raws = append(raws, string(raw))
	}
	return raws
}

func storePut(doc *store.Doc) store.Put {
	document := *doc.Document
	document.Snapshots = append([]snapshot.Snapshot(nil), document.Snapshots...)
	return store.Put{Provider: doc.Provider, Name: doc.Name, Document: &document, Beside: map[canon.Hash][]byte{}}
}

func commit(s *store.Store, put store.Put) error {
	return s.Commit(store.Change{Put: []store.Put{put}})
}

// open opens the store and loads the document of TestIt.
func (s *scene) open() (*store.Store, *store.Doc) {
	s.t.Helper()
	opened, err := store.Open(s.dir)
	require.NoError(s.t, err)
	doc, err := opened.Load(snapshot.DocumentName("github.com/traceforge/traceforge-go/traceforgetest", "TestIt"), "openai")
	require.NoError(s.t, err)
	return opened, doc
}

// TestReplayWhileReplaced replays a test whose records another writer replaces all the time, with
// other bodies: every replay is answered.
func TestReplayWhileReplaced(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a"), newChat("b")))
	store, doc := s.open()
	raws := rawsOf(t, doc)
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for n := 0; err == nil; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			err = s.replace(store, doc, func(i int, _ *snapshot.Snapshot) string {
				return fmt.Sprintf(`{"n":%d,%s`, n, raws[i][1:])
			})
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
		{"answer", "the new answer to the same request is as good", func(s *snapshot.Snapshot) {}, ""},
		{"request", "the call was found by a request that is not recorded any more", func(s *snapshot.Snapshot) { s.Request.Model = "gpt-9" },
			"was recorded again, from other requests, while the test ran: run it again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", asks(newChat("a"), newChat("b"), newChat("c")))
			tb := s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				asks(newChat("b"))(tb, tf) // out of order, so that all keys are known
				store, doc := s.open()
				raws := rawsOf(t, doc)
				require.NoError(t, s.replace(store, doc, func(i int, record *snapshot.Snapshot) string {
					c.change(record)
					return `{"n":1,` + raws[i][1:]
				}))
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

// TestReplayOfReplacedAfterDrift replaces a record that was only compared with a call that drifted.
func TestReplayOfReplacedAfterDrift(t *testing.T) {
	longer := newChat("b").with("messages", []any{
		map[string]any{"role": "user", "content": "b"}, map[string]any{"role": "assistant", "content": "b"}, map[string]any{"role": "user", "content": "more"},
	})
	s := newScene(t)
	s.record("TestIt", asks(newChat("a"), longer, newChat("c d e f g")))
	tb := s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := send(tf.Client(), newChat("c d e f g h"))
		require.ErrorContains(t, err, "drifted")
		store, doc := s.open()
		raws := rawsOf(t, doc)
		require.NoError(t, s.replace(store, doc, func(i int, record *snapshot.Snapshot) string {
			if i == 1 {
				record.Request.Model = "gpt-9"
			}
			return `{"n":1,` + raws[i][1:]
		}))
		_, err = send(tf.Client(), newChat("a"))
		require.ErrorContains(t, err, "was recorded again, from other requests")
	})
	require.True(t, tb.Failed())
}
