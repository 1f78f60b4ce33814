package traceforgetest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestStreamIsWholeOnceItsTerminalEventCame proves that a stream is recorded whose caller stops at
// the terminal event, whichever way: the provider has more to say behind it, and never does.
func TestStreamIsWholeOnceItsTerminalEventCame(t *testing.T) {
	lingering := roundTripper(func(r *http.Request) (*http.Response, error) {
		pr, pw := io.Pipe()
		go func() {
			fmt.Fprint(pw, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			<-r.Context().Done()
			pw.CloseWithError(r.Context().Err())
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, Request: r}, nil
	})
	for _, c := range []struct {
		name, why string
		stop      func(cancel func(), body io.Closer)
	}{
		{"left open", "a leak, but the answer is there", func(func(), io.Closer) {}},
		{"cancelled and closed", "what deferred calls do", func(cancel func(), body io.Closer) { cancel(); body.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions",
					strings.NewReader(`{"model":"m","temperature":0,"seed":1,"stream":true,"messages":[]}`))
				resp, err := tf.RoundTrip(req)
				if err != nil {
					t.Fatalf("%v", err)
				}
				for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
					if lines.Text() == "data: [DONE]" {
						break
					}
				}
				c.stop(cancel, resp.Body)
			}
			s := newScene(t)
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(lingering)))
			require.Len(t, s.records("openai"), 1, c.why)
			s.requireWhole()
		})
	}
}

// TestSmallestTemperatureIsZero proves that the way of clients that leave zeros out is no
// randomness.
func TestSmallestTemperatureIsZero(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a").with("temperature", math.SmallestNonzeroFloat32)))
	tb := s.update("1", "TestIt", asks(newChat("a").with("temperature", 0.01)))
	require.True(t, tb.Failed())
}
