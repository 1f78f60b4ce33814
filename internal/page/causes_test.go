package page

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/drift"
)

func TestCausesAdd(t *testing.T) {
	text := func(s string) *string { return &s }
	prompt := func(who string) drift.Change {
		return drift.Change{Component: "system", Kind: "system", Pointer: "/messages/0", Before: text("for " + who + "\nNever guess."), After: text("for " + who + "\nDo not guess.")}
	}
	warmer := drift.Change{Kind: "parameters: temperature", Component: "parameters: temperature", Pointer: "/temperature", Before: text("0"), After: text("1")}
	answer := drift.Change{Component: AnswerText, Kind: AnswerText, Pointer: "/content", Before: text("Yes."), After: text("No.")}
	sent := drift.Change{Component: "message 3 (model)", Kind: drift.AnswerSent, Pointer: "/messages/2", Before: text("Yes."), After: text("No.")}
	at := func(test string, call int) Place { return Place{Package: "p", Test: test, Call: call} }

	var c Causes
	c.Add(Call{Place: at("TestA", 1), Request: []drift.Change{prompt("Anna"), warmer}, Answer: []drift.Change{answer}, Spent: Spent{TokensBefore: 10, TokensAfter: 20}})
	c.Add(Call{Place: at("TestA", 2), Request: []drift.Change{prompt("Anna"), sent}, Spent: Spent{TokensBefore: 1, TokensAfter: 1}})
	c.Add(Call{Place: at("TestB", 1), Request: []drift.Change{prompt("Bert"), prompt("Bert")}})
	c.Add(Call{Place: at("TestB", 2), Request: []drift.Change{sent}})
	for n := range 5 {
		c.Add(Call{Place: at("TestC", n+1), Answer: []drift.Change{answer, warmer}})
	}
	_, n := c.Add(Call{Place: at("TestD", 1)})
	require.Zero(t, n, "a call that did not change")

	var got []string
	for _, cause := range c.List() {
		line := fmt.Sprintf("%s: %d calls, %d answers, tokens %d to %d", cause.Change.Component, len(cause.Calls), len(cause.Answers),
			cause.TokensBefore, cause.TokensAfter)
		got = append(got, line)
	}
	require.Equal(t, []string{
		"answer: 5 calls, 5 answers, tokens 0 to 0", // of calls whose requests did not change
		"system: 3 calls, 0 answers, tokens 11 to 21",
		"parameters: temperature: 1 calls, 1 answers, tokens 10 to 20",
		"message 3 (model): 1 calls, 0 answers, tokens 0 to 0", // of TestB, which has no answer that says so
	}, got)
	require.Nil(t, c.List()[0].Answers[3].Changes, "some are kept")
	require.Equal(t, []drift.Change{answer, warmer}, c.List()[0].Answers[2].Changes)
}

// TestCausesOfALongConversation groups the calls of a conversation of which each turn says another thing than before:
// each call has all causes of those before it, and the memory grows with the calls, not with their square.
func TestCausesOfALongConversation(t *testing.T) {
	const calls = 3000
	changes := make([]drift.Change, calls)
	for i := range changes {
		before, after := fmt.Sprintf("question %d?", i), fmt.Sprintf("question %d, please?", i)
		changes[i] = drift.Change{Component: "user message", Kind: "user message", Before: &before, After: &after}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep for one collection what they hold
	runtime.ReadMemStats(&before)
	var group Causes
	for i := range calls {
		_, n := group.Add(Call{Place: Place{Test: "TestIt", Call: i + 1}, Request: changes[:i+1]})
		require.Equal(t, i+1, n)
	}
	runtime.GC()
	runtime.GC() // pools keep for one collection what they hold
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(20<<20))

	group.Add(Call{Place: Place{Test: "TestOther", Call: 1}, Request: changes[1:2]})
	group.Add(Call{Place: Place{Test: "TestOther", Call: 2}, Request: changes[:1]})
	for n, cause := range group.List() {
		places := cause.Calls
		if n < 2 { // of both tests
			last := len(places) - 1
			require.Equal(t, Place{Test: "TestOther", Call: 2 - n}, places[last])
			places = places[:last]
		}
		require.Len(t, places, calls-n)
		for i, at := range places {
			if at != (Place{Test: "TestIt", Call: n + i + 1}) {
				require.Fail(t, "another place", "cause %d has %v at %d", n, at, i)
			}
		}
	}
}

// An answer stands under the cause that the fewest calls have, and under no other.
func TestCauses_Special(t *testing.T) {
	text := func(s string) *string { return &s }
	system := drift.Change{Component: "system", Kind: "system", Before: text("a"), After: text("b")}
	tool := drift.Change{Component: "tool search", Kind: "tool search", Before: text("c"), After: text("d")}
	said := func(s string) []drift.Change {
		return []drift.Change{{Component: "text", Kind: AnswerText, Before: text("x"), After: text(s)}}
	}
	var causes Causes
	for i, call := range []Call{
		{Request: []drift.Change{system}, Answer: said("one")},
		{Request: []drift.Change{system, tool}, Answer: said("two")},
		{Request: []drift.Change{system}},
	} {
		call.Place = Place{Package: "p", Test: string(rune('A' + i)), Call: 1}
		causes.Add(call)
	}
	all := causes.List()
	require.Len(t, all, 2)
	require.Equal(t, "system", all[0].Change.Kind)
	require.Len(t, all[0].Answers, 1, "the other answer has a more special cause")
	require.Equal(t, "A", all[0].Answers[0].Test)
	require.Len(t, all[1].Answers, 1)
	require.Equal(t, "B", all[1].Answers[0].Test)
	require.NotNil(t, all[1].Answers[0].Changes)
}

// A call of the second test has the cause of the first test's call, and the call before it has not.
func TestCausesOfTwoTests(t *testing.T) {
	text := func(s string) *string { return &s }
	system := drift.Change{Component: "system", Kind: "system", Before: text("a"), After: text("b")}
	tool := drift.Change{Component: "tool search", Kind: "tool search", Before: text("c"), After: text("d")}
	var causes Causes
	for _, call := range []Call{
		{Place: Place{Test: "TestA", Call: 1}, Request: []drift.Change{system}},
		{Place: Place{Test: "TestB", Call: 1}, Request: []drift.Change{tool}},
		{Place: Place{Test: "TestB", Call: 2}, Request: []drift.Change{system}},
	} {
		causes.Add(call)
	}
	require.Equal(t, []Place{{Test: "TestA", Call: 1}, {Test: "TestB", Call: 2}}, causes.List()[0].Calls)
}

func TestAddKnown(t *testing.T) {
	before, after := "Never guess.", "Do not guess."
	text := drift.Change{Component: "system", Kind: "system", Before: &before, After: &after}
	none := drift.Change{Component: "system", Kind: "system"}
	var c Causes
	c.AddKnown(Place{Test: "TestA", Call: 1}, Spent{TokensBefore: 3},
		KnownChange{Key: "k", Change: none}, KnownChange{Key: "other", Change: none})
	c.AddKnown(Place{Test: "TestB", Call: 1}, Spent{TokensBefore: 4},
		KnownChange{Key: "k", Change: text}, KnownChange{Key: "k", Change: text})
	list := c.List()
	require.Len(t, list, 2)
	require.Equal(t, Cause{
		Key: "k", Change: text, Calls: []Place{{Test: "TestA", Call: 1}, {Test: "TestB", Call: 1}},
		Spent: Spent{TokensBefore: 7},
	}, *list[0], "the texts are those of the call that has them, and a call counts once")
	require.Len(t, list[1].Calls, 1)
}
