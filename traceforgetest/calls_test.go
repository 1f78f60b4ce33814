package traceforgetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestCallsOfAnAgent holds that what a test can assert on is the same when it records and when it replays: tools that
// run at once included, whose order in the document is that of what they were asked.
func TestCallsOfAnAgent(t *testing.T) {
	s := newScene(t)
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		return fakeprovider.CallTools(fakeprovider.ToolCall{Name: "count", Arguments: `{"n":1}`})
	})
	var calls []*modelio.Call
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		if _, err := send(tf.Client(), newChat("go")); err != nil {
			tb.Fatalf("%v", err)
		}
		var begun sync.WaitGroup // so that all of them overlap
		begun.Add(6)
		tool := tf.Tool("count", func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
			if string(input) != `"last"` {
				begun.Done()
				begun.Wait()
			}
			time.Sleep(20 * time.Millisecond)
			return input, nil
		})
		var group sync.WaitGroup
		for n := range 6 {
			group.Go(func() { tool(context.Background(), json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))) })
			group.Go(func() { tf.Calls() })
		}
		group.Wait()
		tool(context.Background(), json.RawMessage(`"last"`))
		calls = tf.Calls()
	}
	s.record("TestIt", test)
	recorded := calls
	for range 10 {
		requirePass(t, s.replay("TestIt", test))
		require.Equal(t, recorded, calls)
	}
	first, tool := calls[0], calls[1]
	require.Equal(t, "count", first.ToolRequests()[0].Name)
	require.Equal(t, modelio.FinishStop, first.FinishReason())
	require.Empty(t, first.Tool())
	require.Equal(t, "count", tool.Tool())
	require.Empty(t, tool.FinishReason())
	require.Empty(t, tool.ToolRequests())
	require.Equal(t, modelio.RoleTool, tool.Response.Candidates[0].Message.Role)
	require.Len(t, calls, 8)
	for n := range 6 {
		input := calls[n+1].Request.Messages[0].Content[0].ToolRequest.Input
		require.JSONEq(t, fmt.Sprintf(`{"n":%d}`, n), string(input))
		require.GreaterOrEqual(t, calls[n+1].Latency, 20*time.Millisecond, "the recorded one")
	}
	require.Equal(t, `"last"`, string(calls[7].Request.Messages[0].Content[0].ToolRequest.Input))
}

// TestCallsAreCopies holds that what a test does to them changes neither its replay nor what it is given next.
func TestCallsAreCopies(t *testing.T) {
	s := newScene(t)
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		if _, err := send(tf.Client(), newChat("hi")); err != nil {
			tb.Fatalf("%v", err)
		}
		call := tf.Calls()[0]
		require.Equal(t, "hi", *call.Request.Messages[0].Content[0].Text)
		*call.Request.Messages[0].Content[0].Text = "another"
		*call.Response.Candidates[0].Message.Content[0].Text = "another"
		call.Request.Messages = nil
		require.Equal(t, "hi", *tf.Calls()[0].Request.Messages[0].Content[0].Text)
		require.NotEqual(t, "another", tf.Calls()[0].Text())
	}
	s.record("TestIt", test)
	requirePass(t, s.replay("TestIt", test))
	s.requireWhole()
}
