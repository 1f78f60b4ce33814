package mcptraceforge_test

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/traceforgetest/script"
)

// TestScripted: an agent whose tools are those of an MCP server, without a key.
func TestScripted(t *testing.T) {
	answers := script.New(script.Call("add", `{"a":1,"b":2}`).Call("add", `{"a":3,"b":4}`), script.Say("3 and 7")).Check(t)
	here, there := mcp.NewInMemoryTransports()
	_, err := shop("Adds.").Connect(context.Background(), there, nil)
	require.NoError(t, err)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent"}, nil).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	defer session.Close()
	said, err := agent(t.Context(), answers.Client(), session, "What are 1+2 and 3+4?")
	require.NoError(t, err)
	require.Equal(t, "3 and 7", said)
	require.Len(t, answers.Requests()[1].Messages, 4, "the question, the calls, and two results")
}
