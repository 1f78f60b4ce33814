package traceforgetest_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// heads is a test that notes the headers of its answer.
func heads(got *http.Header) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"a"}]}`))
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer resp.Body.Close()
		*got = resp.Header
	}
}

// heading is a provider whose answers have headers; those with a value of # count.
func heading(headers ...string) traceforgetest.Option {
	calls := 0
	return traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		calls++
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i < len(headers); i += 2 {
			h.Add(headers[i], strings.ReplaceAll(headers[i+1], "#", strconv.Itoa(calls)))
		}
		return answering(h, completion).RoundTrip(r)
	}))
}

// TestKeptHeaders replays what programs act on: when to try again, and where to go. What varies with each call, and what
// belongs to one visit, is left out.
func TestKeptHeaders(t *testing.T) {
	s := newScene(t)
	upstream := heading("X-Ratelimit-Remaining-Tokens", "#", "Anthropic-Ratelimit-Requests-Reset", "soon", "X-Request-Id", "req_#",
		"Request-Id", "r", "Retry-After-Ms", "20", "Link", "</v1?page=2&api_key=k>; rel=next", "Link", "<last>; rel=last",
		"Set-Cookie", "a=b", "Openai-Organization", "acme", "Openai-Processing-Ms", "12")
	var recorded, replayed http.Header
	t.Setenv("TRACEFORGE_UPDATE", "all")
	requirePass(t, s.run("TestIt", heads(&recorded), upstream))
	before := s.files()
	requirePass(t, s.run("TestIt", heads(&recorded), upstream))
	s.requireFiles(before)
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", heads(&replayed)))
	require.Equal(t, http.Header{
		"Content-Type": {"application/json"}, "Retry-After-Ms": {"20"}, "Link": {"</v1?page=2>; rel=next", "<last>; rel=last"},
	}, replayed)
}

// TestVaryingHeaders changes an answer: what varies with each call is in the record only where the test asks for it, or
// an error prints it.
func TestVaryingHeaders(t *testing.T) {
	s := newScene(t)
	var got http.Header
	t.Setenv("TRACEFORGE_UPDATE", "all")
	for _, word := range []string{"unpacked", "changed"} {
		h := http.Header{"Content-Type": {"application/json"}, "X-Ratelimit-Remaining-Tokens": {word}, "X-Request-Id": {word}}
		answer := strings.Replace(completion, "unpacked", word, 1)
		requirePass(t, s.run("TestIt", heads(&got), traceforgetest.Upstream(answering(h, answer))))
		requirePass(t, s.run("TestKept", heads(&got), traceforgetest.Upstream(answering(h, answer)), traceforgetest.KeepHeaders("x-ratelimit-*", "x-request-id")))
	}
	h := http.Header{"Content-Type": {"application/json"}, "X-Ratelimit-Remaining-Tokens": {"1"}, "X-Request-Id": {"req_1"}}
	failing := roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := answering(h, `{"error":{"message":"no such model"}}`).RoundTrip(req)
		resp.StatusCode = http.StatusNotFound
		return resp, err
	})
	requirePass(t, s.run("TestError", heads(&got), traceforgetest.Upstream(failing)))
	t.Setenv("TRACEFORGE_UPDATE", "")
	for test, want := range map[string]http.Header{
		"TestIt":    {"Content-Type": {"application/json"}},
		"TestKept":  {"Content-Type": {"application/json"}, "X-Ratelimit-Remaining-Tokens": {"changed"}, "X-Request-Id": {"changed"}},
		"TestError": {"Content-Type": {"application/json"}, "X-Request-Id": {"req_1"}},
	} {
		requirePass(t, s.replay(test, heads(&got)))
		require.Equal(t, want, got, test)
	}
}

// TestKeepHeaders keeps what a test names, by name and by beginning; a snapshot that is there gets it with "all".
func TestKeepHeaders(t *testing.T) {
	s := newScene(t)
	upstream := heading("X-Tenant", "t#", "X-Cost-Usd", "0.1", "X-Cost-Api-Key", "k", "Set-Cookie", "a=b", "X-Other", "o")
	keep := traceforgetest.KeepHeaders("X-Tenant", "x-cost-*")
	var got http.Header
	t.Setenv("TRACEFORGE_UPDATE", "all")
	requirePass(t, s.run("TestIt", heads(&got), upstream))
	requirePass(t, s.run("TestIt", heads(&got), upstream, keep))
	before := s.files()
	requirePass(t, s.run("TestIt", heads(&got), upstream, keep))
	s.requireFiles(before)
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", heads(&got)))
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "X-Tenant": {"t2"}, "X-Cost-Usd": {"0.1"}}, got)
	s.requireWhole()
}

func TestKeepHeadersIsChecked(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct{ name, why, header, want string }{
		{"cookie", "is of one visit", "Set-Cookie", "carries a secret, which is never kept"},
		{"authorization", "is a key", "authorization", "carries a secret"},
		{"key", "by its words", "X-Goog-Api-Key", "carries a secret"},
		{"token", "by its words", "x-amz-security-token", "carries a secret"},
		{"transfer", "the stored bytes are decoded", "Content-Encoding", "says how an answer came, and raw answers are served as they are"},
		{"space", "no header has one", "x y", "is no name of a header"},
		{"all", "names nothing", "*", "is no name of a header"},
		{"inner", "stands at the end only", "x-*-id", "is no name of a header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := s.run("TestIt", asks(), traceforgetest.KeepHeaders(c.header)).Logged()
			require.Contains(t, log, "traceforge: KeepHeaders("+strconv.Quote(c.header)+"): "+c.want, c.why)
		})
	}
	requirePass(t, s.run("TestIt", asks(), traceforgetest.Allow(traceforgetest.NoCalls),
		traceforgetest.KeepHeaders("x-amz-request-id", "x-ratelimit-remaining-tokens", "x-error-code", "openai-processing-ms")))
}

// TestSecretInKeptHeader refuses to record a key that a kept header has.
func TestSecretInKeptHeader(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	s := newScene(t)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	var got http.Header
	tb := s.run("TestIt", heads(&got), heading("X-Session", secret), traceforgetest.KeepHeaders("x-session"))
	require.Contains(t, tb.Logged(), "nothing was recorded")
	require.Contains(t, tb.Logged(), "/response/headers/x-session/0")
	require.NotContains(t, tb.Logged(), secret)
	require.Empty(t, s.documents("openai"))
}

// TestDroppedHeadersAreNamed says once in a process which headers replay will not have, but none that say nothing.
func TestDroppedHeadersAreNamed(t *testing.T) {
	s := newScene(t)
	var got http.Header
	t.Setenv("TRACEFORGE_UPDATE", "1")
	upstream := heading("X-Named-Once", "1", "Openai-Version", "2", "Date", "now", "Cf-Ray", "r", "Set-Cookie", "a=b", "Server", "x")
	const line = "headers of answers that are not recorded, and not there in replay: x-named-once. " +
		"Those that the code under test reads: traceforgetest.New(t, traceforgetest.KeepHeaders(…))"
	first := s.run("TestIt", heads(&got), upstream)
	requirePass(t, first)
	require.Contains(t, first.Logged(), line)
	require.NotContains(t, s.run("TestOther", heads(&got), upstream).Logged(), line)
}

// TestSkipAfterACall says what a test that skips itself after a call has of it.
func TestSkipAfterACall(t *testing.T) {
	s := newScene(t)
	skips := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = send(tf.Client(), newChat("a"))
		t.SkipNow()
	}
	tb := s.update("1", "TestIt", skips)
	requirePass(t, tb)
	require.Contains(t, tb.Logged(), "replay has no answers for a test that skips itself after a call: skip before the first call")
	require.Empty(t, s.documents("openai"))

	tb = s.replay("TestIt", skips)
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "the test skipped itself after a call that has no snapshot, and nothing is recorded of a test that "+
		"skips itself: skip before the first call")
}
