package mcptraceforge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	mcptraceforge "github.com/traceforge/traceforge-go/adapters/mcp"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// agent asks a model, which is given the tools of a session, until it calls none of them.
func agent(ctx context.Context, model *http.Client, session *mcp.ClientSession, question string) (string, error) {
	type object = map[string]any
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return "", err
	}
	var tools []object
	for _, tool := range listed.Tools {
		tools = append(tools, object{"type": "function", "function": object{
			"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema}})
	}
	messages := []any{object{"role": "user", "content": question}}
	for {
		body, err := json.Marshal(object{"model": "gpt-4o", "temperature": 0, "seed": 1, "messages": messages, "tools": tools})
		if err != nil {
			return "", err
		}
		resp, err := model.Post("https://api.openai.com/v1/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		var answer struct {
			Choices []struct{ Message json.RawMessage }
			Error   struct{ Message string }
		}
		err = json.NewDecoder(resp.Body).Decode(&answer)
		resp.Body.Close()
		switch {
		case err != nil:
			return "", err
		case len(answer.Choices) == 0:
			return "", fmt.Errorf("%s", answer.Error.Message)
		}
		var said struct {
			Content string
			Calls   []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(answer.Choices[0].Message, &said); err != nil {
			return "", err
		}
		if len(said.Calls) == 0 {
			return said.Content, nil
		}
		messages = append(messages, answer.Choices[0].Message)
		for _, call := range said.Calls {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: call.Function.Name, Arguments: json.RawMessage(call.Function.Arguments)})
			if err != nil {
				return "", err
			}
			messages = append(messages, object{"role": "tool", "tool_call_id": call.ID, "content": text(result)})
		}
	}
}

// counted has the lines of docs/agents.md, "Assertions".
func counted(tf *traceforgetest.Recorder) (tools []string, turns int, tokens int64) {
	for _, call := range tf.Calls() {
		switch {
		case call.Tool() != "": // of tf.Tool, or of an MCP server
			tools = append(tools, call.Tool())
		case call.Request.API == "mcp": // another message: its method is call.Request.Options["method"]
		default:
			turns++
			if used := call.Response.Usage.Used(); used != nil { // nil: the provider did not say
				tokens += *used
			}
		}
	}
	return tools, turns, tokens
}

// TestAgent shows an agent whose model is asked over HTTP and whose tools are those of an MCP server, on one tape:
// recorded, replayed with neither, drifted as the server describes a tool in another way, and accepted.
func TestAgent(t *testing.T) {
	dir, question := filepath.Join(t.TempDir(), ".ai-snapshots"), "What are 1+2 and 3+4?"
	run := func(mode, description string) (answer string, tb *tbtest.TB) {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		var upstream http.RoundTripper = http.NewFileTransport(http.Dir(t.TempDir())) // is not asked in replay
		if mode != "" {
			model := fakeprovider.New(t)
			model.Reply(
				fakeprovider.CallTools(fakeprovider.ToolCall{Name: "add", Arguments: `{"a":1,"b":2}`}, fakeprovider.ToolCall{Name: "add", Arguments: `{"a":3,"b":4}`}),
				fakeprovider.Text("3 and 7"))
			upstream = model.Transport()
		}
		tb = tbtest.Run("TestAgent", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream))
			var inner mcp.Transport
			if mode != "" {
				here, there := mcp.NewInMemoryTransports()
				if _, err := shop(description).Connect(context.Background(), there, nil); err != nil {
					tb.Fatalf("%v", err)
				}
				inner = here
			}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "agent"}, nil).Connect(t.Context(), mcptraceforge.Transport(tf, "shop", inner), nil)
			if err != nil {
				tb.Fatalf("%v", err)
			}
			defer session.Close()
			if answer, err = agent(t.Context(), tf.Client(), session, question); err != nil {
				tb.Errorf("%v", err)
				return
			}
			tools, turns, tokens := counted(tf)
			require.Equal(t, []string{"add", "add"}, tools)
			require.Equal(t, 2, turns)
			require.Positive(t, tokens)
		})
		return answer, tb
	}
	passes := func(mode, description, logged string) {
		t.Helper()
		answer, tb := run(mode, description)
		require.False(t, tb.Failed(), tb.Logged())
		require.Equal(t, "3 and 7", answer)
		require.Contains(t, tb.Logged(), logged)
	}
	passes("1", "Adds.", "6 new")
	passes("", "", "")
	document, err := filepath.Glob(filepath.Join(dir, "*", "*testagent-*.json"))
	require.NoError(t, err)
	require.Len(t, document, 1, "models and tools are on one tape")

	passes("1", "Adds two numbers.", "") // the server is not asked, as nothing drifted
	passes("all", "Adds two numbers.", "(tool add, tool add: description)")
	passes("", "", "")

	question = "What is 1+2, and what 3+4?"
	_, tb := run("", "")
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "changed: ")
	passes("1", "Adds two numbers.", "changed (user message)")
	passes("", "", "")
}
