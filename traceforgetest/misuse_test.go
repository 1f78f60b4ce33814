package traceforgetest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func TestIgnoreIsCheckedAtOnce(t *testing.T) {
	s := newScene(t)
	tb := s.run("TestIt", asks(), traceforgetest.Ignore("/user", "messages/0"))
	require.Contains(t, tb.Logged(), `traceforge: Ignore("messages/0"): a JSON pointer begins with a slash (RFC 6901), as in Ignore("/messages/0")`)
	require.NotContains(t, tb.Logged(), "no model call")
}

func TestURLNamesTheProviders(t *testing.T) {
	s := newScene(t)
	tb := s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) { tf.URL("opnai") })
	require.Contains(t, tb.Logged(), `no provider is named "opnai"; there are alibaba, anthropic, `)
	require.Contains(t, tb.Logged(), ", openai, ")
}

// TestCancelledCallIsACall proves that a test whose context is over before its call is not told that
// it made none.
func TestCancelledCallIsACall(t *testing.T) {
	s := newScene(t)
	tb := s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(`{}`))
		if _, err := tf.RoundTrip(req); err != context.Canceled {
			t.Errorf("got %v", err)
		}
	})
	requirePass(t, tb)
}

// TestLateCallOfARetryingClient gives a client that would try an error again an answer that it does
// not, also after the test.
func TestLateCallOfARetryingClient(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	var late *traceforgetest.Recorder
	requirePass(t, s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(newChat("a"))(t, tf)
		late = tf
	}))
	req, _ := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(`{}`))
	req.Header.Set("X-Stainless-Lang", "go")
	resp, err := late.RoundTrip(req)
	require.NoError(t, err)
	require.Equal(t, 400, resp.StatusCode)
	require.Equal(t, "false", resp.Header.Get("X-Should-Retry"))
}

func TestUpdateNewTellsOfAChange(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	tb := s.update("new", "TestIt", asks(newChat("b")))
	require.Contains(t, tb.Logged(), "recorded call was not made")
	require.Contains(t, tb.Logged(), "maybe the same one changed: TRACEFORGE_UPDATE=new replaces nothing")
}
