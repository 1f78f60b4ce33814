package mcptraceforge_test

import (
	"context"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestCallsOfASequence holds that calls made one after another are in Calls as they were made, all of them, though the
// client goes on before it has read the end of a body.
func TestCallsOfASequence(t *testing.T) {
	for range 10 {
		s := newStage(t)
		for _, mode := range []string{"all", "", ""} {
			t.Setenv("TRACEFORGE_UPDATE", mode)
			var asked []string
			tb := tbtest.Run("TestVisit", func(tb *tbtest.TB) {
				tf := traceforgetest.New(tb, traceforgetest.Dir(s.dir))
				ctx := context.Background()
				transport := overHTTP(sells("Adds."), nil).connect(tb, tf, mode != "")
				session, err := mcp.NewClient(&mcp.Implementation{Name: "visitor", Version: "1.0.0"}, nil).Connect(ctx, transport, nil)
				if err != nil {
					tb.Fatalf("connect: %v", err)
				}
				defer session.Close()
				for _, tool := range []string{"picture", "fail", "untagged"} {
					if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool}); err != nil {
						tb.Fatalf("%s: %v", tool, err)
					}
				}
				for _, call := range tf.Calls() {
					if tool := call.Tool(); tool != "" {
						asked = append(asked, tool)
					}
				}
			})
			require.False(t, tb.Failed(), "mode %q: %s", mode, tb.Logged())
			require.Equal(t, []string{"picture", "fail", "untagged"}, asked, "mode %q", mode)
		}
	}
}
