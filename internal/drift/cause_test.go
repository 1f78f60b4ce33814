package drift

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func answerOf(parts ...modelio.Part) *snapshot.Response {
	r := &snapshot.Response{Status: 200, Headers: map[string][]string{"content-type": {"application/json"}, "x-request-id": {"1"}}}
	r.Model = "m-1"
	r.Candidates = []modelio.Candidate{{Message: says("model", parts...), FinishReason: modelio.FinishStop}}
	return r
}

func TestAnswers(t *testing.T) {
	call := func(input string) modelio.Part {
		return modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "look", Ref: "1", Input: []byte(input)}}
	}
	used := int64(7)
	for _, c := range []struct {
		name, why, want string
		before, after   *snapshot.Response
		change          func(*snapshot.Response)
	}{
		{name: "noise", why: "what is another with every call", change: func(r *snapshot.Response) {
			r.LatencyMS, r.TokensUsed, r.RawOutputRef, r.ID = 9, &used, "x", "y"
			r.Headers["x-request-id"] = []string{"2"}
		}},
		{name: "text", why: "what it says", want: "answer: text /content -Yes. +No.", after: answerOf(modelio.TextPart("No."))},
		{name: "calls", why: "what the caller is to run", want: "answer: text removed /content -Yes.\nanswer: tool calls added /tool_calls +look({\"a\":1})",
			after: answerOf(call(`{"a":1}`))},
		{name: "arguments", why: "of a call", want: `answer: tool calls /tool_calls -look({"a":1}) +look({"a":2})`,
			before: answerOf(call(`{"a":1}`)), after: answerOf(call(`{"a":2}`))},
		{name: "reasoning", why: "what led to it", want: "answer: reasoning /parts -a +b",
			before: answerOf(modelio.ReasoningPart("a"), modelio.TextPart("Yes.")), after: answerOf(modelio.ReasoningPart("b"), modelio.TextPart("Yes."))},
		{name: "media", why: "what neither text nor calls say", want: "answer: parts /parts -      \"url\": \"a\" +      \"url\": \"b\"",
			before: answerOf(modelio.MediaPart("", "a")), after: answerOf(modelio.MediaPart("", "b"))},
		{name: "reason", why: "why it ended", want: "answer: finish reason /finish_reason -stop +length",
			change: func(r *snapshot.Response) { r.Candidates[0].FinishReason = modelio.FinishLength }},
		{name: "candidates", why: "further answers", want: "answer 2: text added /candidates/0/content +Or not.\nanswer 2: finish reason added /candidates/0/finish_reason +stop",
			change: func(r *snapshot.Response) {
				r.Candidates = append(r.Candidates, answerOf(modelio.TextPart("Or not.")).Candidates...)
			}},
		{name: "how", why: "which model, and how it came", want: "answer: model /model -m-1 +m-2\nanswer: status /status -200 +203\n" +
			"answer: content type /headers/content-type -application/json +text/html\nanswer: incomplete added /incomplete +aborted",
			change: func(r *snapshot.Response) {
				r.Model, r.Status, r.Incomplete = "m-2", 203, "aborted"
				r.Headers["content-type"] = []string{"text/html"}
			}},
		{name: "error", why: "a refusal", want: "answer: error added /error +{ +  \"message\": \"no\" +}",
			change: func(r *snapshot.Response) { r.Error = &modelio.ProviderError{Message: "no"} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := c.before, c.after
			if before == nil {
				before = answerOf(modelio.TextPart("Yes."))
			}
			if after == nil {
				after = answerOf(modelio.TextPart("Yes."))
			}
			if c.change != nil {
				c.change(after)
			}
			changes, err := Answers(before, after)
			require.NoError(t, err)
			var lines []string
			for _, change := range changes {
				line := change.String() + " " + change.Pointer
				change.visit(func(op, text string) { line += " " + op + text })
				lines = append(lines, line)
			}
			require.Equal(t, c.want, strings.Join(lines, "\n"), c.why)
		})
	}
	broken := answerOf(call(`{`))
	_, err := Answers(broken, answerOf())
	require.Error(t, err, "arguments that are no JSON")
	_, err = Answers(answerOf(), broken)
	require.Error(t, err, "on either side")
}

func TestCausesAdd(t *testing.T) {
	text := func(s string) *string { return &s }
	prompt := func(who string) Change {
		return Change{"system", "system", "/messages/0", text("for " + who + "\nNever guess."), text("for " + who + "\nDo not guess.")}
	}
	warmer := Change{"parameters: temperature", "parameters: temperature", "/temperature", text("0"), text("1")}
	answer := Change{AnswerText, AnswerText, "/content", text("Yes."), text("No.")}
	sent := Change{"message 3 (model)", answerSent, "/messages/2", text("Yes."), text("No.")}
	at := func(test string, call int) Place { return Place{Package: "p", Test: test, Call: call} }

	var c Causes
	c.Add(Call{Place: at("TestA", 1), Request: []Change{prompt("Anna"), warmer}, Answer: []Change{answer}, Spent: Spent{TokensBefore: 10, TokensAfter: 20}})
	c.Add(Call{Place: at("TestA", 2), Request: []Change{prompt("Anna"), sent}, Spent: Spent{TokensBefore: 1, TokensAfter: 1}})
	c.Add(Call{Place: at("TestB", 1), Request: []Change{prompt("Bert"), prompt("Bert")}})
	c.Add(Call{Place: at("TestB", 2), Request: []Change{sent}})
	for n := range 5 {
		c.Add(Call{Place: at("TestC", n+1), Answer: []Change{answer, warmer}})
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
	require.Equal(t, []Change{answer, warmer}, c.List()[0].Answers[2].Changes)
}

// TestCausesOfALongConversation groups the calls of a conversation of which each turn says another thing than before: each
// call has all causes of those before it, and the memory grows with the calls, not with their square.
func TestCausesOfALongConversation(t *testing.T) {
	const calls = 3000
	changes := make([]Change, calls)
	for i := range changes {
		before, after := fmt.Sprintf("question %d?", i), fmt.Sprintf("question %d, please?", i)
		changes[i] = Change{Component: "user message", Kind: "user message", Before: &before, After: &after}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var group Causes
	for i := range calls {
		_, n := group.Add(Call{Place: Place{Test: "TestIt", Call: i + 1}, Request: changes[:i+1]})
		require.Equal(t, i+1, n)
	}
	runtime.GC()
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
	system := Change{Component: "system", Kind: "system", Before: text("a"), After: text("b")}
	tool := Change{Component: "tool search", Kind: "tool search", Before: text("c"), After: text("d")}
	said := func(s string) []Change {
		return []Change{{Component: "text", Kind: AnswerText, Before: text("x"), After: text(s)}}
	}
	var causes Causes
	for i, call := range []Call{
		{Request: []Change{system}, Answer: said("one")},
		{Request: []Change{system, tool}, Answer: said("two")},
		{Request: []Change{system}},
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
