package mcptraceforge_test

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	mcptraceforge "github.com/traceforge/traceforge-go/adapters/mcp"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func ExampleTransport() {
	tf := traceforgetest.New(t)
	var live mcp.Transport // to a server that need not be there in replay, such as an &mcp.CommandTransport{…}
	if tf.Recording() {
		server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
		mcp.AddTool(server, &mcp.Tool{Name: "price"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "12 EUR"}}}, nil, nil
		})
		here, there := mcp.NewInMemoryTransports()
		if _, err := server.Connect(context.Background(), there, nil); err != nil {
			t.Fatal(err)
		}
		live = here
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1.0.0"}, nil)
	session, err := client.Connect(context.Background(), mcptraceforge.Transport(tf, "shop", live), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "price"})
	if err != nil || result.Content[0].(*mcp.TextContent).Text != "12 EUR" {
		t.Error(result, err)
	}
}
