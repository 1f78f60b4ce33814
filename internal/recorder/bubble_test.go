package recorder

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// A quiet upstream answers calls and messages to MCP servers without a goroutine.
type quiet struct{}

func (quiet) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, _ := io.ReadAll(req.Body)
	answer := `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`
	header := http.Header{"Content-Type": {"application/json"}}
	if _, id, isMessage := strings.Cut(string(sent), `"id":`); isMessage {
		answer = `{"jsonrpc":"2.0","id":` + id[:1] + `,"result":{"tools":[]}}`
		header.Set("Mcp-Session-Id", "one")
	}
	return &http.Response{StatusCode: http.StatusOK, Request: req, Header: header, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// TestBubbles: a test whose recorder is outside makes its calls in several bubbles.
func TestBubbles(t *testing.T) {
	whole, err := usage.ParseCheckOptions("")
	require.NoError(t, err)
	for name, call := range map[string]func(t *testing.T, r *Recorder, n int){
		"calls": func(_ *testing.T, r *Recorder, n int) { asks(fmt.Sprint(n))(r) },
		"messages to an MCP server": func(t *testing.T, r *Recorder, n int) {
			method := []string{"initialize", "tools/list", "prompts/list"}[n]
			req, err := http.NewRequest(http.MethodPost, "https://mcp.example.com/mcp", strings.NewReader(
				fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{},"id":%d}`, method, n)))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			resp, err := r.RoundTrip(req)
			require.NoError(t, err)
			_, err = io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
		},
		"realtime sessions": func(t *testing.T, r *Recorder, n int) {
			one := dialRealtime(t, r)
			one.ask(fmt.Sprint(n))
			one.stream.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			for _, mode := range []Mode{UpdateAll, Replay, Check} {
				told, _ := s.run(mode, func(r *Recorder) {
					call(t, r, 0)
					for n := 1; n < 3; n++ {
						synctest.Test(t, func(t *testing.T) { call(t, r, n) })
					}
				}, func(o *Options) { o.Upstream, o.Checking = &talker{RoundTripper: quiet{}}, whole })
				require.Empty(t, told, mode)
			}
		})
	}
}
