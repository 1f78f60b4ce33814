package traceforgetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// agent is a program that asks a model in turns, each with all that was said before. It stops at the
// first error, or goes on with the error as what was answered.
func agent(turns int, system string, goesOn bool) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		message := func(role, text string) any { return map[string]any{"role": role, "content": text} }
		messages := []any{message("system", system)}
		for turn := range turns {
			messages = append(messages, message("user", fmt.Sprintf("turn %d: %s", turn, strings.Repeat("what about it? ", 10))))
			text, err := send(tf.Client(), newChat("").with("messages", messages))
			if err != nil && !goesOn {
				t.Fatalf("%v", err)
			}
			if err != nil {
				text = err.Error()
			}
			messages = append(messages, message("assistant", text))
		}
	}
}

// TestDriftOfALongHistory changes one word of the system prompt of an agent of 200 turns. What was
// 32.8 s and 599 lines at 100 turns takes less than a second and 60 lines.
func TestDriftOfALongHistory(t *testing.T) {
	const turns = 200
	rules := strings.Repeat("Answer shortly and kindly, and name the order.\n", 20)
	s := newScene(t)
	s.record("TestIt", agent(turns, rules+"Never guess.", false))
	requirePass(t, s.replay("TestIt", agent(turns, rules+"Never guess.", false)))
	for _, c := range []struct {
		name, why string
		goesOn    bool
		says      []string
	}{
		{"stops", "at its first error", false, []string{"- Never guess.", "+ Do not guess.", "changed: system"}},
		{"goes on", "and tells the cause once", true, []string{"- Never guess.", "+ Do not guess.", "changed: system",
			"199 requests more drifted in the same way: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			start, before := time.Now(), allocated()
			tb := s.replay("TestIt", agent(turns, rules+"Do not guess.", c.goesOn))
			took := time.Since(start)
			require.True(t, tb.Failed())
			for _, want := range c.says {
				require.Contains(t, tb.Logged(), want, c.why)
			}
			lines := strings.Count(tb.Logged(), "\n") + 1
			kept := allocated() - before
			t.Logf("%v, %d lines, %d MB allocated", took, lines, kept>>20)
			require.Less(t, lines, 60)
			require.Less(t, kept, uint64(1<<30), "comparing each call with each record takes many times as much")
		})
	}
}

// TestUpdateOfALongHistory records that agent again: one line of the document changes, and two hashes.
func TestUpdateOfALongHistory(t *testing.T) {
	const turns = 100
	const rules = "Be kind.\nAnswer shortly.\n"
	s := newScene(t)
	s.provider.Handle(nil)
	upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
		var body struct{ Messages []any }
		data, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(data, &body)
		answer := strings.Replace(completion, "Hello", fmt.Sprint("answer ", len(body.Messages)), 1)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(bytes.NewReader([]byte(answer))), Request: r}, nil
	})
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", agent(turns, rules+"Never guess.", false), traceforgetest.Upstream(upstream)))
	before := s.files()
	requirePass(t, s.run("TestIt", agent(turns, rules+"Do not guess.", false), traceforgetest.Upstream(upstream)))
	changed := 0
	was, now := strings.Split(before[s.document("TestIt")], "\n"), strings.Split(s.files()[s.document("TestIt")], "\n")
	require.Len(t, now, len(was))
	for i := range was {
		if was[i] != now[i] {
			changed++
		}
	}
	require.Equal(t, 3, changed, "the line, the record's hash and the document's")
	for name := range before {
		if name != s.document("TestIt") && name != "manifest.json" {
			require.Equal(t, before[name], s.files()[name], name)
		}
	}
	s.requireWhole()
}

// TestPassesOverABody bounds how often the bytes of a request are copied between the wire and the
// store: what a call allocates, in lengths of its body, which is far longer than all else. A pass that
// copies nothing (scanning, hashing, searching) goes over one of these copies. Replay and drift are
// counted from the request to its answer; that the document is read, once in a test, is counted apart.
// What recording writes when the answer is complete, so that nobody pays twice, is what the test commits.
func TestPassesOverABody(t *testing.T) {
	large := func(system string) []byte {
		text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1<<16)
		body, err := json.Marshal(newChat("").with("messages", []any{
			map[string]any{"role": "system", "content": system}, map[string]any{"role": "user", "content": text},
		}))
		require.NoError(t, err)
		return body
	}
	small, err := json.Marshal(newChat("small"))
	require.NoError(t, err)
	s := newScene(t)
	var copies float64
	ask := func(bodies ...[]byte) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, body := range bodies {
				before := allocated()
				resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", bytes.NewReader(body))
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				copies = float64(allocated()-before) / float64(len(body))
			}
		}
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	body := large("Be kind.")
	before := allocated()
	upstream := traceforgetest.Upstream(answering(http.Header{"Content-Type": {"application/json"}}, completion))
	requirePass(t, s.run("TestIt", ask(body), upstream))
	recording := float64(allocated()-before) / float64(len(body))
	requirePass(t, s.run("TestIt", ask(body, small), upstream))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", ask(small, body))) // the small one first: then the document has been read
	replay := copies
	require.True(t, s.replay("TestIt", ask(small, large("Be brief."))).Failed())
	drift := copies
	t.Logf("copies of a body of %d bytes: %.1f in replay, %.1f in recording, %.1f in a drift", len(body), replay, recording, drift)
	if raced {
		return
	}
	require.Less(t, replay, 4.0)
	require.Less(t, recording, 15.0)
	require.Less(t, drift, 10.0)
}
