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
