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
			start := time.Now()
			tb := s.replay("TestIt", agent(turns, rules+"Do not guess.", c.goesOn))
			took := time.Since(start)
			require.True(t, tb.Failed())
			for _, want := range c.says {
				require.Contains(t, tb.Logged(), want, c.why)
			}
			lines := strings.Count(tb.Logged(), "\n") + 1
			t.Logf("%v, %d lines", took, lines)
			require.Less(t, lines, 60)
			require.Less(t, took, time.Second)
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
// store: what a call allocates in all, in lengths of its body, which is far longer than all else. A
// pass that copies nothing (scanning, hashing, searching) goes over one of these copies.
func TestPassesOverABody(t *testing.T) {
	body := func(system string) chat {
		text := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 1<<16)
		return newChat("").with("messages", []any{
			map[string]any{"role": "system", "content": system}, map[string]any{"role": "user", "content": text},
		})
	}
	sent, err := json.Marshal(body("Be kind."))
	require.NoError(t, err)
	s := newScene(t)
	upstream := answering(http.Header{"Content-Type": {"application/json"}}, completion)
	copies := func(run func() *tbtest.TB) (float64, *tbtest.TB) {
		before := allocated()
		tb := run()
		return float64(allocated()-before) / float64(len(sent)), tb
	}
	ask := func(body []byte) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", bytes.NewReader(body))
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	recorded, tb := copies(func() *tbtest.TB { return s.run("TestIt", ask(sent), traceforgetest.Upstream(upstream)) })
	requirePass(t, tb)
	t.Setenv("TRACEFORGE_UPDATE", "")
	replayed, tb := copies(func() *tbtest.TB { return s.replay("TestIt", ask(sent)) })
	requirePass(t, tb)
	changed, err := json.Marshal(body("Be brief."))
	require.NoError(t, err)
	drifted, tb := copies(func() *tbtest.TB { return s.replay("TestIt", ask(changed)) })
	require.True(t, tb.Failed())
	t.Logf("copies of a body of %d bytes: %.1f in replay with reading the document, %.1f in recording, %.1f in a drift",
		len(sent), replayed, recorded, drifted)
}
