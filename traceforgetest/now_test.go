package traceforgetest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestNow: a prompt with the time is the same in each run of a recording, until all of it is recorded again.
func TestNow(t *testing.T) {
	s := newScene(t)
	var told time.Time
	test := func(prompts ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			told = tf.Now()
			for _, prompt := range prompts {
				asks(newChat(prompt+told.Format(time.RFC3339Nano)))(tb, tf)
			}
			require.Equal(t, told, tf.Now())
		}
	}
	later := func() { time.Sleep(2 * time.Millisecond) }
	s.record("TestIt", test("one ", "two "))
	first := told
	require.Equal(t, time.UTC, first.Location())
	require.Equal(t, first, first.Truncate(time.Millisecond))
	require.Equal(t, first, s.records("openai")[0].Source.Now)
	require.True(t, s.records("openai")[1].Source.Now.IsZero())
	s.requireWhole()

	later()
	requirePass(t, s.replay("TestIt", test("one ", "two ")))
	require.Equal(t, first, told)

	s.record("TestIt", test("two ", "three ")) // the first record goes
	require.Equal(t, first, told)
	require.Equal(t, first, s.records("openai")[0].Source.Now)
	requirePass(t, s.replay("TestIt", test("two ", "three ")))

	later()
	s.recordAll("TestIt", test("two ", "three "))
	require.True(t, told.After(first))
	requirePass(t, s.replay("TestIt", test("two ", "three ")))
	s.requireWhole()
}

// TestNowOfOlderSnapshots: a test that begins to ask for the time fails in replay with the way out, which works.
func TestNowOfOlderSnapshots(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("hello")))
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		tf.Now()
		asks(newChat("hello"))(tb, tf)
	}
	before := s.files()
	tb := s.replay("TestIt", test)
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "has no time, which the test asks for by Now")
	s.requireFiles(before)

	calls := len(s.provider.Calls())
	s.record("TestIt", test)
	require.Len(t, s.provider.Calls(), calls, "no call is made")
	requirePass(t, s.replay("TestIt", test))

	tb = s.update("new", "TestIt", test)
	require.False(t, tb.Failed(), tb.Logged())
	s.requireWhole()
}
