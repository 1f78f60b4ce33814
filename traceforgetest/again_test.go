package traceforgetest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestNewAgain has agents that ask for a recorder each, in turn and at once.
func TestNewAgain(t *testing.T) {
	agents := func(at int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			var wg sync.WaitGroup
			for i := range at {
				wg.Go(func() {
					own := traceforgetest.New(t)
					if own != tf {
						t.Errorf("agent %d has another recorder", i)
					}
					asks(newChat(fmt.Sprint("agent ", i)))(t, own)
				})
			}
			wg.Wait()
		}
	}
	s := newScene(t)
	s.record("TestIt", agents(8))
	require.Len(t, s.records("openai"), 8)
	requirePass(t, s.replay("TestIt", agents(8)))
}

// TestNewAtOnce has no first call of New: whoever comes first opens the recorder, and it ends once.
func TestNewAtOnce(t *testing.T) {
	tbtest.Unfiltered(t)
	t.Setenv("TRACEFORGE_DIR", t.TempDir())
	tb := tbtest.Run("TestIt", func(t *tbtest.TB) {
		all := make([]*traceforgetest.Recorder, 16)
		var wg sync.WaitGroup
		for i := range all {
			wg.Go(func() { all[i] = traceforgetest.New(t) })
		}
		wg.Wait()
		for _, tf := range all {
			if tf == nil || tf != all[0] {
				t.Errorf("got several recorders")
			}
		}
	})
	require.Equal(t, 1, strings.Count(tb.Logged(), "traceforge: "), tb.Logged())
	require.Contains(t, tb.Logged(), "traceforge: no model call was made")
}

// TestNewAgainWithOptions says the way out; the test after it has a recorder of its own again.
func TestNewAgainWithOptions(t *testing.T) {
	s := newScene(t)
	tb := s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		traceforgetest.New(t, traceforgetest.StreamTiming())
	})
	require.Contains(t, tb.Logged(), "traceforge: New was called with options in TestIt, which has a recorder already: "+
		"give all options to the first New, and call New(t) without any where the same recorder is wanted")
	s.record("TestIt", asks(newChat("a")))
	requirePass(t, s.replay("TestIt", asks(newChat("a")), traceforgetest.StreamTiming()))
}

// TestNewInSubtest has a recorder of its own.
func TestNewInSubtest(t *testing.T) {
	s := newScene(t)
	requirePass(t, s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(newChat("a"))(t, tf)
		sub := s.run("TestIt/sub", asks(newChat("b")), traceforgetest.Upstream(s.provider.Transport()))
		if sub.Failed() {
			t.Errorf("%s", sub.Logged())
		}
	}))
	require.Len(t, s.documents("openai"), 2)
}

// TestNewThatFails leaves nothing behind: the next one of the same name works.
func TestNewThatFails(t *testing.T) {
	s := newScene(t)
	require.Contains(t, s.run("TestIt", asks(), traceforgetest.Nondeterministic("")).Logged(), "needs a reason")
	s.record("TestIt", asks(newChat("a")))
}
