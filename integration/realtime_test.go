package integration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/coder/websocket"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/realtime"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// sessions is a server that sends the events of openai-go's types, and answers with a tool call.
type sessions struct {
	*httptest.Server
	number int
}

func newSessions(t *testing.T) *sessions {
	s := &sessions{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, err := websocket.Accept(w, req, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		s.number++
		said := fmt.Sprintf(`{"type":"session.created","event_id":"event_%d","session":{"type":"realtime","object":"realtime.session","id":"sess_%[1]d"}}`,
			s.number)
		for err == nil {
			if err = conn.Write(req.Context(), websocket.MessageText, []byte(said)); err == nil {
				_, _, err = conn.Read(req.Context())
			}
			said = fmt.Sprintf(`{"type":"response.done","event_id":"event_%d","response":{"id":"resp_%[1]d","object":"realtime.response",`+
				`"status":"completed","output":[{"id":"item_%[1]d","object":"realtime.item","type":"function_call","status":"completed",`+
				`"call_id":"call_%[1]d","name":"weather","arguments":"{\"city\":\"Oslo\"}"}],`+
				`"usage":{"total_tokens":30,"input_tokens":20,"output_tokens":10}}}`, s.number)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// RoundTrip makes the server a test's upstream.
func (s *sessions) RoundTrip(req *http.Request) (*http.Response, error) {
	to, _ := url.Parse(s.URL)
	live := req.Clone(req.Context())
	live.URL.Scheme, live.URL.Host = to.Scheme, to.Host
	return http.DefaultTransport.RoundTrip(live)
}

// ask gets one response of a session with openai-go, and returns the tool call with its arguments.
func ask(ctx context.Context, tb *tbtest.TB, client openai.Client, instructions string) (called string) {
	conn, err := client.Realtime.Connect(ctx, realtime.RealtimeConnectionOptions{}, option.WithQuery("model", "gpt-realtime"))
	if err != nil {
		tb.Errorf("%v", err)
		return ""
	}
	defer conn.Close()
	for {
		event, err := conn.Recv(ctx)
		if err != nil {
			tb.Errorf("%v", err)
			return called
		}
		switch e := event.AsAny().(type) {
		case realtime.SessionCreatedEvent:
			err = conn.SendRaw(ctx, json.RawMessage(`{"type":"response.create","response":{"instructions":"`+instructions+`"}}`))
			if err != nil {
				tb.Errorf("%v", err)
			}
		case realtime.ResponseDoneEvent:
			for _, item := range e.Response.Output {
				if call, ok := item.AsAny().(realtime.RealtimeConversationItemFunctionCall); ok {
					called += call.Name + call.Arguments
				}
			}
			return called
		}
	}
}

// TestRealtime checks that the test's client alone records a session of openai-go. The session replays offline, and a
// changed request drifts.
func TestRealtime(t *testing.T) {
	dir := t.TempDir()
	server := newSessions(t)
	run := func(mode, instructions string, upstream http.RoundTripper) (called string, tb *tbtest.TB) {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		tb = tbtest.Run("TestSession", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream))
			client := openai.NewClient(option.WithHTTPClient(tf.Client()), option.WithAPIKey("test-key"), option.WithMaxRetries(0))
			called = ask(t.Context(), tb, client, instructions)
		})
		return called, tb
	}
	for _, mode := range []string{"1", "", ""} {
		called, tb := run(mode, "Answer in one sentence.", server)
		require.False(t, tb.Failed(), tb.Logged())
		require.Equal(t, `weather{"city":"Oslo"}`, called)
	}
	_, tb := run("", "Answer in two sentences.", server)
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "frame 1 to the server: response.create (- recorded, + got)")
	require.Contains(t, tb.Logged(), "Answer in two sentences.")
	require.Equal(t, 1, server.number)
}
