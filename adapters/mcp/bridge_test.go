package mcptraceforge

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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

func heard(t *testing.T, s *stream) string {
	t.Helper()
	require.Positive(t, s.rest.Len())
	text := make([]byte, s.rest.Len())
	n, err := s.Read(text)
	require.NoError(t, err)
	return string(text[:n])
}
