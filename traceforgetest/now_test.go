package traceforgetest_test

import (
	"strings"
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
	require.Contains(t, tb.Logged(), "has no time, which the test asks for by Now\n")
	require.Contains(t, tb.Logged(), "store one: go test")
	require.Equal(t, 1, strings.Count(tb.Logged(), "traceforge: "), tb.Logged())
	s.requireFiles(before)

	calls := len(s.provider.Calls())
	s.record("TestIt", test)
	require.Len(t, s.provider.Calls(), calls, "no call is made")
	requirePass(t, s.replay("TestIt", test))

	tb = s.update("new", "TestIt", test)
	require.False(t, tb.Failed(), tb.Logged())
	s.requireWhole()
}

// TestClockIsNamed: a drift that only dates or times explain names what makes them the same, and that works.
func TestClockIsNamed(t *testing.T) {
	schema := func(day string) chat {
		return newChat("hello").with("tools", []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "f", "parameters": map[string]any{"type": "object", "description": "since " + day},
		}}})
	}
	const now, rule = "give the program the time of the recorder's Now", "traceforgetest.Volatile(traceforgetest.Dates)"
	for _, c := range []struct {
		name, why     string
		recorded, got chat
		says, saysNot string
	}{
		{"iso", "a rule finds it", newChat("Today is 2026-11-23."), newChat("Today is 2026-11-24."), rule, "no such text"},
		{"words", "no rule does", newChat("Today is Monday, November 23, 2026."), newChat("Today is Tuesday, November 24, 2026."), now, rule},
		{"epoch", "nor this", newChat("now: 1795000000"), newChat("now: 1795000001"), now, rule},
		{"time", "nor a time of day alone", newChat("It is 21:53:28.371."), newChat("It is 21:53:29.4."), now, rule},
		{"number", "nor a number", newChat("x").with("user_time", int64(1795000000123)), newChat("x").with("user_time", int64(1795000000124)), now, rule},
		{"schema", "in a tool's schema too", schema("2026-11-23"), schema("2026-11-24"), rule, "no such text"},
		{"more", "more has changed", newChat("2026-11-23 a"), newChat("2026-11-24 b"), "drifted", now},
		{"model", "is no date", newChat("x").with("model", "gpt-4o-2024-08-06"), newChat("x").with("model", "gpt-4o-2024-11-20"), "drifted", rule},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", asks(c.recorded))
			tb := s.replay("TestIt", asks(c.got))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), c.says, c.why)
			require.NotContains(t, tb.Logged(), c.saysNot, c.why)
			if c.says != rule {
				return
			}
			dates := traceforgetest.Scrub(traceforgetest.Volatile(traceforgetest.Dates))
			s.record("TestIt", asks(c.recorded), dates)
			requirePass(t, s.replay("TestIt", asks(c.got), dates))
		})
	}
}
