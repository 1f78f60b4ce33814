package scenes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// play records a program, records a changed version, and returns the change that a pull request shows.
func (r *repo) play(before, after program) change {
	r.t.Helper()
	r.record("TestIt", before)
	r.commit("record")
	failed := r.fails("TestIt", after)
	require.True(r.t, failed.Failed(), "the change is seen")
	r.t.Log(failed.Logged())
	r.record("TestIt", after)
	got := r.changed()
	r.requireSound()
	return got
}

// TestCallRemoved removes the second of three calls.
func TestCallRemoved(t *testing.T) {
	r := newRepo(t, answers)
	got := r.play(asks(rules(3), "one", "two", "three"), asks(rules(3), "one", "three"))
	require.Empty(t, filter(words(got.added), "three"), "what stays is not written again")
	require.Contains(t, strings.Join(got.removed, "\n"), "Answer to two")
	require.NotContains(t, strings.Join(got.removed, "\n"), "Answer to three")
	require.LessOrEqual(t, got.lines(), 120)
}

// TestFirstCallRemoved drops the call that the others continue.
func TestFirstCallRemoved(t *testing.T) {
	r := newRepo(t, answers)
	got := r.play(asks(rules(3), "one", "two", "three"), asks(rules(3), "two", "three"))
	require.Equal(t, 1, strings.Count(r.document(), "Rule 2"), "the next one holds what they share")
	require.Contains(t, strings.Join(got.removed, "\n"), "Answer to one")
	require.NotContains(t, strings.Join(got.removed, "\n"), "Answer to three")
	require.LessOrEqual(t, got.lines(), 120)
}

// TestCallsReordered swaps two calls. They must not drift or change the store.
func TestCallsReordered(t *testing.T) {
	r := newRepo(t, answers)
	r.record("TestIt", asks(rules(3), "one", "two", "three"))
	r.commit("record")
	r.replay("TestIt", asks(rules(3), "three", "one", "two"))
	r.record("TestIt", asks(rules(3), "three", "one", "two"))
	require.Zero(t, r.changed().lines())
}

// TestCallInserted adds a call between two others.
func TestCallInserted(t *testing.T) {
	r := newRepo(t, answers)
	got := r.play(asks(rules(3), "one", "two"), asks(rules(3), "one", "new", "two"))
	require.Contains(t, strings.Join(got.added, "\n"), "Answer to new")
	require.NotContains(t, strings.Join(words(got.removed), "\n"), "Answer to")
	require.Less(t, strings.Index(r.document(), "Answer to new"), strings.Index(r.document(), "Answer to two"),
		"it follows its predecessor")
}

// TestFork asks two questions after the same first turn. Both calls continue the first.
func TestFork(t *testing.T) {
	fork := func(last string) program {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			c := client(tf)
			p := params(openai.SystemMessage(rules(3)), openai.UserMessage("begin"))
			first, err := c.Chat.Completions.New(context.Background(), p)
			if err != nil {
				tb.Fatalf("%v", err)
			}
			begun := append(p.Messages, first.Choices[0].Message.ToParam())
			for _, next := range []string{"left", last} {
				p.Messages = append(begun[:len(begun):len(begun)], openai.UserMessage(next))
				if _, err := c.Chat.Completions.New(context.Background(), p); err != nil {
					tb.Fatalf("%v", err)
				}
			}
		}
	}
	r := newRepo(t, answers)
	got := r.play(fork("right"), fork("straight on"))
	require.Equal(t, 1, strings.Count(r.document(), "Rule 2"))
	require.Equal(t, 1, strings.Count(r.document(), "Answer to begin"), "the answer that is sent back stands once")
	require.NotContains(t, strings.Join(got.removed, "\n"), "left")
}

// TestRetry makes the same call twice. The second record continues the first.
func TestRetry(t *testing.T) {
	r := newRepo(t, answers)
	got := r.play(asks(rules(3), "one", "one"), asks(rules(3), "one", "one", "one"))
	require.Equal(t, 1, strings.Count(r.document(), "Rule 2"))
	require.Empty(t, words(got.removed))
}

// TestProviderNoLongerCalled moves the first call of a test to another provider.
func TestProviderNoLongerCalled(t *testing.T) {
	r := newRepo(t, answers)
	to := func(host string) program {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			c := clientOf(tf, host)
			for _, question := range []string{"one", "two"} {
				_, err := c.Chat.Completions.New(context.Background(), params(openai.UserMessage(question)))
				if err != nil {
					tb.Errorf("%v", err)
				}
			}
		}
	}
	r.play(to("https://api.openai.com/v1"), to("https://api.groq.com/openai/v1"))
	require.Len(t, r.documents(), 1)
	require.Contains(t, r.documents()[0], "groq")
}

// TestTwoHosts asks two hosts the same question. Each record names its host, and swapped calls get the right answers.
func TestTwoHosts(t *testing.T) {
	r := newRepo(t, answers)
	hosts := func(hosts ...string) program {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, host := range hosts {
				c := clientOf(tf, host)
				if _, err := c.Chat.Completions.New(context.Background(), params(openai.UserMessage("one"))); err != nil {
					tb.Errorf("%v", err)
				}
			}
		}
	}
	const a, b = "https://a.example.com/v1", "https://b.example.com/v1"
	r.record("TestIt", hosts(a, b))
	r.commit("record")
	require.Contains(t, r.documents()[0], "a-example-com")
	require.Contains(t, r.document(), `"provider": "b-example-com"`)
	r.replay("TestIt", hosts(b, a))
	require.True(t, r.fails("TestIt", hosts(a, a)).Failed(), "the answer of one host is not that of another")
}

// TestSubtests gives subtests their own recorders, or lets them use their parent's.
func TestSubtests(t *testing.T) {
	r := newRepo(t, answers)
	r.record("TestParent/own", asks(rules(2), "one"))
	r.record("TestParent", asks(rules(2), "two"))
	require.Len(t, r.documents(), 2)
	r.requireSound()
}

// TestAgentDrift changes the system prompt of an agent of 200 turns without accepting the change.
func TestAgentDrift(t *testing.T) {
	for name, stubborn := range map[string]bool{"stops": false, "goes on": true} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, answers)
			a := agent{system: rules(5), turns: 200, stubborn: stubborn}
			r.record("TestAgent", a.run)
			a.system = edited(a.system, "kindly", "firmly")
			start := time.Now()
			got := r.fails("TestAgent", a.run)
			took := time.Since(start)
			require.True(t, got.Failed())
			var ours []string
			for line := range strings.Lines(got.Logged()) {
				if !strings.HasPrefix(line, "turn ") {
					ours = append(ours, line)
				}
			}
			t.Logf("%v, %d lines\n%s", took, len(ours), strings.Join(ours, ""))
			require.Less(t, len(ours), 60)
		})
	}
}

// TestTurnEdited changes a tool result in the middle of an agent's work.
func TestTurnEdited(t *testing.T) {
	r := newRepo(t, answers)
	a := agent{system: rules(5), turns: 30}
	b := a
	b.found = func(turn int) string {
		if turn == 15 {
			return "nothing"
		}
		return found(turn)
	}
	got := r.play(a.run, b.run)
	require.LessOrEqual(t, got.lines(), 12, "%q\n%q", got.removed, got.added)
}

func filter(lines []string, what string) (with []string) {
	for _, line := range lines {
		if strings.Contains(line, what) {
			with = append(with, line)
		}
	}
	return with
}
