package mcptraceforge

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// TestProgressOfAnyToken holds that progress belongs to the call with its token, whichever kind of value a peer makes the token.
func TestProgressOfAnyToken(t *testing.T) {
	for _, token := range []string{`1`, `"one"`, `{"n":[1]}`, `[]`} {
		call := func(meta string) *stream {
			return newStream(context.Background(), &jsonrpc.Request{Method: "tools/call", Params: json.RawMessage(meta)})
		}
		first, second := call(`{"_meta":{"progressToken":`+token+`}}`), call(`{"_meta":{"progressToken":"other"}}`)
		b := &bridge{calls: []*stream{first, second}}
		progress := &jsonrpc.Request{Method: "notifications/progress", Params: json.RawMessage(`{"progressToken":` + token + `,"progress":1}`)}
		require.Same(t, first, b.of(progress), token)
	}
}

// TestCancelledCallHearsNothing holds that what a server says goes past a call that the client has given up, which servers
// leave unanswered.
func TestCancelledCallHearsNothing(t *testing.T) {
	b := &bridge{}
	given, asks := newStream(t.Context(), &jsonrpc.Request{Method: "tools/call"}), newStream(t.Context(), &jsonrpc.Request{Method: "tools/call"})
	require.True(t, b.begin(asks))
	require.True(t, b.begin(given))
	require.Same(t, given, b.of(&jsonrpc.Request{Method: "notifications/message"}))
	require.NoError(t, given.Close())
	require.Same(t, asks, b.of(&jsonrpc.Request{Method: "notifications/message"}))
	require.NoError(t, asks.Close())
	b.handOn(&jsonrpc.Request{Method: "notifications/tools/list_changed"}, []byte("{}"))
	require.Equal(t, "event: message\ndata: {}\n\n", heard(t, b.listen(t.Context())))

	require.NoError(t, b.listening.Close())
	b.handOn(&jsonrpc.Request{Method: "notifications/prompts/list_changed"}, []byte("[]"))
	require.Equal(t, "event: message\ndata: []\n\n", heard(t, b.listen(t.Context())), "the next one hears what nobody heard")
}

// TestCancelledCallsAreForgotten, as far as they are many, and no others are.
func TestCancelledCallsAreForgotten(t *testing.T) {
	b := &bridge{}
	waits := newStream(t.Context(), &jsonrpc.Request{Method: "tools/call"})
	require.True(t, b.begin(waits))
	for range 10 * mostUnanswered {
		given := newStream(t.Context(), &jsonrpc.Request{Method: "tools/call"})
		require.True(t, b.begin(given))
		require.NoError(t, given.Close())
	}
	require.LessOrEqual(t, len(b.calls), mostUnanswered)
	require.Contains(t, b.calls, waits)
}

func heard(t *testing.T, s *stream) string {
	t.Helper()
	require.Positive(t, s.rest.Len())
	text := make([]byte, s.rest.Len())
	n, err := s.Read(text)
	require.NoError(t, err)
	return string(text[:n])
}

// TestSubscriptions holds that messages of a subscription belong to the call that listens for it, and others to none that does.
func TestSubscriptions(t *testing.T) {
	listens := func(n int64) *stream {
		id, err := jsonrpc.MakeID(float64(n))
		require.NoError(t, err)
		return newStream(t.Context(), &jsonrpc.Request{ID: id, Method: "subscriptions/listen"})
	}
	first, second := listens(1), listens(2)
	b := &bridge{calls: []*stream{first, second}}
	changed := func(id string) *jsonrpc.Request {
		return &jsonrpc.Request{Method: "notifications/tools/list_changed", Params: json.RawMessage(`{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}`)}
	}
	require.Same(t, first, b.of(changed("1")))
	require.Same(t, second, b.of(changed("2")))
	for _, id := range []string{"3", "{}", "null"} {
		require.Nil(t, b.of(changed(id)), id)
	}
}

// TestServerEnds holds that nobody waits for a server that has ended, or that cannot be reached.
func TestServerEnds(t *testing.T) {
	b := &bridge{name: "shop"}
	id, err := jsonrpc.MakeID("one")
	require.NoError(t, err)
	call := newStream(t.Context(), &jsonrpc.Request{ID: id, Method: "tools/call"})
	require.True(t, b.begin(call))
	listener := b.listen(t.Context())
	b.handOn(new(jsonrpc.Response), nil) // to a request that nobody sent
	b.breakOff(io.EOF)
	_, err = call.Read(make([]byte, 1))
	require.Equal(t, io.ErrUnexpectedEOF, err)
	_, err = listener.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
	_, err = b.connect(t.Context())
	require.EqualError(t, err, "mcptraceforge: server shop: EOF")

	here, there := mcp.NewInMemoryTransports()
	b = newBridge("shop", here)
	_, err = b.connect(t.Context())
	require.NoError(t, err)
	call = newStream(t.Context(), call.request)
	require.True(t, b.begin(call))
	server, err := there.Connect(t.Context())
	require.NoError(t, err)
	require.NoError(t, server.Close())
	_, err = call.Read(make([]byte, 1))
	require.Equal(t, io.ErrUnexpectedEOF, err)

	b = newBridge("shop", unreachable{})
	_, err = b.connect(t.Context())
	require.EqualError(t, err, "no such command")
	_, err = b.connect(t.Context())
	require.EqualError(t, err, "mcptraceforge: server shop: no such command")
}

type unreachable struct{}

func (unreachable) Connect(context.Context) (mcp.Connection, error) {
	return nil, errors.New("no such command")
}

// TestCancelledBeforeItIsSent holds that a call that was cancelled hears nothing either where nobody closes its stream, as
// where it could not be sent.
func TestCancelledBeforeItIsSent(t *testing.T) {
	_, client := mcp.NewInMemoryTransports()
	b := newBridge("shop", client)
	t.Cleanup(func() { require.NoError(t, b.close()) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ask := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add"}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://shop.mcp/mcp", strings.NewReader(ask))
	require.NoError(t, err)
	_, err = b.RoundTrip(req)
	require.ErrorIs(t, err, context.Canceled)
	b.handOn(&jsonrpc.Request{Method: "notifications/tools/list_changed"}, []byte("{}"))
	require.Equal(t, "event: message\ndata: {}\n\n", heard(t, b.listen(t.Context())))
}

// TestProgressOfACancelledCall holds that the progress of a call that the client has given up is told to nobody else: in replay
// its token may be that of another call.
func TestProgressOfACancelledCall(t *testing.T) {
	b := &bridge{}
	token := json.RawMessage(`{"_meta":{"progressToken":7}}`)
	given, asks := newStream(t.Context(), &jsonrpc.Request{Method: "tools/call", Params: token}), newStream(t.Context(), &jsonrpc.Request{Method: "tools/call"})
	require.True(t, b.begin(asks))
	require.True(t, b.begin(given))
	require.NoError(t, given.Close())
	b.handOn(&jsonrpc.Request{Method: "notifications/progress", Params: json.RawMessage(`{"progressToken":7}`)}, []byte("{}"))
	require.Zero(t, asks.rest.Len())
	require.Empty(t, b.unheard)
}
