package mcptraceforge_test

import (
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	mcptraceforge "github.com/traceforge/traceforge-go/adapters/mcp"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// The lines of docs/sdks.md.

var _ = func(tf *traceforgetest.Recorder, url string) mcp.Transport {
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: tf.Client()}
	return transport
}

var _ = func(tf *traceforgetest.Recorder) mcp.Transport {
	transport := mcptraceforge.Transport(tf, "shop", &mcp.CommandTransport{Command: exec.Command("shop-mcp")})
	return transport
}
