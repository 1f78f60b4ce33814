package mcptraceforge

import (
	"context"
	"fmt"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// Transport returns a transport for [mcp.Client.Connect] whose messages are on the tape of a test. While recording it
// connects inner with the first of them that is not answered from the tape; in replay never, so that inner may be nil
// and no process is started. Closing the client's session closes inner.
//
// The name stands for the server, so that two servers with a tool of the same name are told apart: its calls are those
// of the host weather.mcp where it is weather, and of the provider weather-mcp in snapshots, unless config.json names
// another for that host. It is of small letters, digits and hyphens; a test gives each server a name of its own.
//
// A request that the server makes while several calls are under way is recorded with the latest of them: such
// transports do not say which one it is for.
func Transport(tf *traceforgetest.Recorder, name string, inner mcp.Transport) mcp.Transport {
	return &transport{tf, name, inner}
}

type transport struct {
	tf    *traceforgetest.Recorder
	name  string
	inner mcp.Transport
}

var serverName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Connect implements [mcp.Transport].
func (t *transport) Connect(ctx context.Context) (mcp.Connection, error) {
	if !serverName.MatchString(t.name) {
		return nil, fmt.Errorf("mcptraceforge: %q is no name of a server: use small letters, digits and hyphens, as in %q",
			t.name, "weather")
	}
	http := &mcp.StreamableClientTransport{
		Endpoint:   "http://" + t.name + ".mcp/mcp",
		HTTPClient: t.tf.ClientOver(newBridge(t.name, t.inner)),
	}
	return http.Connect(ctx)
}
