package traceforgetest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestDroppedBehaviourHeader records calls with a header that changes what is answered, and makes them without: each
// drifts, and names the header (design R9).
func TestDroppedBehaviourHeader(t *testing.T) {
	const claude = `{"role":"assistant","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}`
	for _, c := range []struct{ name, url, header, value, body string }{
		{"beta", "https://api.anthropic.com/v1/messages", "anthropic-beta", "context-1m-2025-08-07",
			`{"model":"claude-haiku-4-5","max_tokens":9,"temperature":0,"messages":[{"role":"user","content":"a"}]}`},
		{"guardrail", "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1:0/invoke",
			"X-Amzn-Bedrock-GuardrailIdentifier", "g1",
			`{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"temperature":0,"messages":[{"role":"user","content":"a"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(claude)), Request: r}, nil
			})
			asks := func(value string) func(*tbtest.TB, *traceforgetest.Recorder) {
				return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					request, err := http.NewRequest("POST", c.url, strings.NewReader(c.body))
					require.NoError(t, err)
					request.Header.Set("Content-Type", "application/json")
					if value != "" {
						request.Header.Set(c.header, value)
					}
					resp, err := tf.Client().Do(request)
					require.NoError(t, err)
					_, err = io.ReadAll(resp.Body)
					require.NoError(t, err)
					resp.Body.Close()
				}
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", asks(c.value), traceforgetest.Upstream(upstream)))
			t.Setenv("TRACEFORGE_UPDATE", "")
			requirePass(t, s.run("TestIt", asks(c.value)))
			tb := s.run("TestIt", asks(""))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), strings.ToLower(c.header))
		})
	}
}
