package traceforgetest_test

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestSecretsAreNotRecorded records calls that hold a credential of the process, which leaves the
// store as it was.
func TestSecretsAreNotRecorded(t *testing.T) {
	const key = "sk-proj-0123456789/abcdef+"
	for _, c := range []struct {
		name, why, variable, value string
		prompt, answer             string
		stream                     bool
		says                       string // empty: it is recorded
	}{
		{"prompt", "it was sent", "OPENAI_API_KEY", key, "my key is " + key, "thanks", false, "/request/messages/0/content"},
		{"answer", "or came back", "GITHUB_TOKEN", key, "what is the key?", "it is " + key, false, "/response/content"},
		{"stream", "also in pieces", "SOME_SECRET", key, "what is the key?", "it is " + key + ".", true, "/response/content"},
		{"URL", "also as in URLs", "OPENAI_API_KEY", key, "see https://example.com/?key=sk-proj-0123456789%2Fabcdef%2B", "thanks", false, "/request/messages/0/content"},
		{"word", "a value without a digit is none", "SOME_TOKEN", "summarizationmodel", "try summarizationmodel", "thanks", false, ""},
		{"short", "nor is a short one", "SOME_TOKEN", "test1", "try test1", "thanks", false, ""},
		{"other variable", "nor is what is not named so", "USER_NAME", key, "my key is " + key, "thanks", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			t.Setenv(c.variable, c.value)
			s.provider.Reply(fakeprovider.Text(c.answer))
			chat := newChat(c.prompt)
			if c.stream {
				chat = chat.with("stream", true)
			}
			tb := s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) { asks(chat)(t, tf) })
			if c.says == "" {
				requirePass(t, tb)
				require.Len(t, s.records("openai"), 1, c.why)
				return
			}
			require.Contains(t, tb.Logged(), "traceforge: openai call holds the value of "+c.variable+": nothing was recorded", c.why)
			require.Contains(t, tb.Logged(), "  "+c.says+"\n")
			require.NotContains(t, tb.Logged(), key)
			require.Empty(t, s.records("openai"))
		})
	}
}

// TestClientSecret refuses the answer with which OpenAI lends a browser a key for a session, unless a rule replaces the
// key. Replay then gives out a stand-in of the same form.
func TestClientSecret(t *testing.T) {
	const key = "ek_68af296e8e408191a1120ab6383263c2"
	live := traceforgetest.Upstream(answering(http.Header{"Content-Type": {"application/json"}},
		`{"value":"`+key+`","expires_at":1756310470,"session":{"type":"realtime","id":"sess_C9CiUVUzUzYIssh3ELY1d"}}`))
	said := ""
	lend := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		var err error
		said, err = post(tf.Client(), "https://api.openai.com/v1/realtime/client_secrets", map[string]any{})
		require.NoError(t, err)
	}
	s := newScene(t)
	why := traceforgetest.Nondeterministic("a key for a session")
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", lend, live, why)
	require.Contains(t, tb.Logged(), "openai call holds an OpenAI client secret: nothing was recorded")
	require.NotContains(t, tb.Logged(), key)
	require.Empty(t, s.records("openai"))

	scrub := traceforgetest.Scrub(traceforgetest.Pattern("key", regexp.MustCompile("ek_[0-9a-f]{32}")))
	requirePass(t, s.run("TestIt", lend, live, why, scrub))
	require.Contains(t, said, key)
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", lend, why, scrub))
	require.NotContains(t, said, key)
	require.Regexp(t, `"ek_[0-9a-f]{32}"`, said)
	s.requireWhole()
}

// TestSecretOfALaterCall keeps an answer while its test runs, and drops it where a later call shows that it holds a credential.
func TestSecretOfALaterCall(t *testing.T) {
	const key = "Zq8vR2mWx4TnLk7pYb3Jd6Hs"
	s := newScene(t)
	tb := s.update("1", "TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := send(tf.Client(), newChat("what is "+key+"?"))
		require.NoError(t, err)
		require.Len(t, s.waiting(), 1)
		req, err := http.NewRequest(http.MethodPost, "https://api.openai.com/v1/chat/completions", strings.NewReader(
			`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"hi"}]}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+key)
		resp, err := tf.Client().Do(req)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	})
	require.True(t, tb.Failed())
	require.Len(t, s.waiting(), 1)
	for _, log := range s.logs() {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		require.NotContains(t, string(text), key)
	}
}
