package mcptraceforge

import (
	"context"
	"fmt"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// Transport returns a transport for [mcp.Client.Connect] whose messages are recorded with a test's calls and replayed.
// While recording, it connects inner when it needs the first live answer. In replay it never does, so inner may be nil
// and no process is started. Closing the client's session closes inner.
//
// The name stands for the server, so that tools with the same name on two servers are told apart. For the name weather,
// the calls belong to the host weather.mcp, and in snapshots to the provider weather-mcp unless config.json names
// another one for that host. The name consists of small letters, digits and hyphens; a test gives each server a name of
// its own.
//
// A request that the server makes while several calls are pending is recorded with the latest of them, because such
// transports do not say to which call it belongs.
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
