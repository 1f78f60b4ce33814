package traceforgetest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

var saidWord = regexp.MustCompile(`"(?:content|text)": ?"([a-z-]+)`)

// forkAPIs are ways to ask a model something.
var forkAPIs = []struct {
	name, model string
	url         func(model string) string
	body        func(prompt string) map[string]any
}{
	{"openai", "gpt-4o-mini", always("https://api.openai.com/v1/chat/completions"), func(p string) map[string]any { return newChat(p) }},
	{"groq", "gpt-4o-mini", always("https://api.groq.com/openai/v1/chat/completions"), func(p string) map[string]any { return newChat(p) }},
	{"anthropic", "claude-haiku-4-5", always("https://api.anthropic.com/v1/messages"), func(p string) map[string]any {
		return map[string]any{"model": "claude-haiku-4-5", "max_tokens": 100, "temperature": 0,
			"messages": []any{map[string]any{"role": "user", "content": p}}}
	}},
	{"gemini", "gemini-2.5-flash", func(model string) string {
		return "https://generativelanguage.googleapis.com/v1beta/models/" + model + ":generateContent"
	}, func(p string) map[string]any {
		return map[string]any{"generationConfig": map[string]any{"temperature": 0, "seed": 1},
			"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": p}}}}}
	}},
}

// versioned is a client that says which version of Anthropic's API it speaks.
func versioned(client *http.Client) *http.Client {
	return &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		req.Header.Set("anthropic-version", "2023-06-01")
		return client.Transport.RoundTrip(req)
	})}
}

func always(url string) func(string) string { return func(string) string { return url } }

// TestFork goes on live from a call of the recorded run, with another model, in each wire format.
func TestFork(t *testing.T) {
	for _, api := range forkAPIs {
		t.Run(api.name, func(t *testing.T) {
			s := newScene(t)
			var heard []string
			turns := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				heard = nil
				prompt := "begin"
				for range 3 {
					answer, err := post(versioned(tf.Client()), api.url(api.model), api.body(prompt))
					word := saidWord.FindStringSubmatch(answer)
					if err != nil || word == nil {
						tb.Errorf("%v: %s", err, answer)
						return
					}
					heard = append(heard, word[1])
					prompt = "after " + word[1]
				}
			}
			s.says("one", "two", "three")
			s.record("TestIt", turns)
			require.Equal(t, []string{"one", "two", "three"}, heard)

			s.provider.Handle(func(c fakeprovider.Call) fakeprovider.Reply {
				return fakeprovider.Text(strings.ReplaceAll(c.LastUser(), " ", "-"))
			})
			before := len(s.provider.Calls())
			tb, calls := s.beside("live", "from=2&model="+api.model+"=other", "TestIt", turns)
			requirePass(t, tb)
			require.Equal(t, 2, calls)
			require.Equal(t, []string{"one", "after-one", "after-after-one"}, heard, "the tape up to the fork, and then what is live")
			for _, call := range s.provider.Calls()[before:] {
				require.Equal(t, "other", call.Model)
			}
			require.Contains(t, tb.Logged(), "live: 2 calls of models, ")
			require.Contains(t, tb.Logged(), ", forked at call 2, asked other instead of "+api.model)
		})
	}
}

// TestForkOfAChangedPrompt: the call at the fork may be another than the recorded one, and those before it may not.
func TestForkOfAChangedPrompt(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a"), newChat("b")))
	tb, calls := s.beside("live", "from=2", "TestIt", asks(newChat("a"), newChat("c"), newChat("a")))
	requirePass(t, tb)
	require.Equal(t, 2, calls, "the third is asked once more than before the fork")
	tb, calls = s.beside("live", "from=2", "TestIt", asks(newChat("z"), newChat("b")))
	require.Zero(t, calls)
	require.Contains(t, tb.Logged(), "the test has 2 recorded calls, and none fits it")
	require.Contains(t, tb.Logged(), "record: go test ")
}

// TestForkWithTools serves the tools of the turns before the fork from the tape, and runs those behind it where all is live.
func TestForkWithTools(t *testing.T) {
	s := newScene(t)
	a := newAgentRun()
	s.record("TestIt", a.test)
	tb, calls := s.beside("live", "from=3&kind=all", "TestIt", a.test)
	requirePass(t, tb)
	require.Equal(t, 1, calls)
	require.Equal(t, []string{`price{"sku":"b"}`}, a.runs, "call 2 is the first tool")
	tb, calls = s.beside("live", "from=4", "TestIt", a.test)
	requirePass(t, tb)
	require.Equal(t, 1, calls)
	require.Empty(t, a.runs)
}

// TestForkOfWhatIsNotThere: a fork that would do nothing, or something else than was asked, fails.
func TestForkOfWhatIsNotThere(t *testing.T) {
	model := func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = tf.Model("acme/tiny", scripted(modelio.TextPart("hi"))).Generate(context.Background(), generateRequest("hi"), nil)
	}
	tool := func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		run := func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("1"), nil }
		_, _ = tf.Tool("price", run)(context.Background(), json.RawMessage("{}"))
	}
	for _, c := range []struct {
		name, why, options string
		test               func(*tbtest.TB, *traceforgetest.Recorder)
		calls              int
		want               string
	}{
		{"beyond", "there is no such call", "from=3", asks(newChat("a"), newChat("b")), 0,
			"from=3 is beyond the last call: TestIt has 2 recorded calls\nname one of them: traceforge show --dir STORE TestIt lists them"},
		{"tools", "there is no such call, whether it would be live or not", "from=3", tool, 0, "from=3 is beyond the last call: TestIt has 1 recorded call\n"},
		{"model", "the code does not ask it", "model=gpt-4o=gpt-9", asks(newChat("a")), 1,
			"model=gpt-4o=gpt-9: no live call asked gpt-4o\nasked live: gpt-4o-mini"},
		{"value", "no text names the model", "model=tiny=large", model, 0,
			"acme cannot be forked to large: the request does not name its model in a way that can be replaced"},
		{"check", "it is of a check", "from=2&sample=10", asks(newChat("a"), newChat("b")), 0,
			"TRACEFORGE_CHECK=from=2&sample=10: with TRACEFORGE_UPDATE=live it says kind, from and model, and nothing else"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", c.test, traceforgetest.Nondeterministic("it is a test"))
			tb, calls := s.beside("live", c.options, "TestIt", c.test, traceforgetest.Nondeterministic("it is a test"))
			require.True(t, tb.Failed(), c.why)
			require.Equal(t, c.calls, calls, c.why)
			require.Contains(t, s.said(tb), c.want, c.why)
			require.NotContains(t, tb.Logged(), "instead of", c.why)
		})
	}
}
