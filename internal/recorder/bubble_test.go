package recorder

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// TestCloseOfAStreamThatStaysOpen: a client closes a stream after its last event, and its server sends nothing more and does not
// end it. Close waits a moment, and the answer is whole.
func TestCloseOfAStreamThatStaysOpen(t *testing.T) {
	s := newScene(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		open := func(req *http.Request) (*http.Response, error) {
			body, server := io.Pipe()
			go func() { _, _ = io.WriteString(server, honestStream) }()
			return &http.Response{StatusCode: http.StatusOK, Request: req, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
		}
		told, _ := s.run(UpdateAll, func(r *Recorder) {
			resp, err := (&http.Client{Transport: r}).Post(chatURL, "application/json", strings.NewReader(askedBody))
			require.NoError(t, err)
			_, err = io.ReadFull(resp.Body, make([]byte, len(honestStream)))
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
		}, func(o *Options) { o.Upstream = roundTripper(open) })
		require.Empty(t, told)
		require.Equal(t, drainTime, time.Since(began))
		_, doc := s.open()
		require.Empty(t, doc.Document.Snapshots[0].Response.Incomplete)
	})
}
