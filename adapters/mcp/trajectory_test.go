package mcptraceforge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/traceforge/traceforge-go/internal/rehearsal"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestTrajectory: tools of a server that one answer asks for at once make one document, and the calls of each replay are
// those of its recording, whatever the transport.
func TestTrajectory(t *testing.T) {
	plan := tbtest.Sampled(rehearsal.Plan{Recordings: 2, Replays: 3}, rehearsal.Plan{Recordings: 34, Replays: 30})
	for _, w := range []func(*rehearsal.Work) way{
		func(work *rehearsal.Work) way {
			return overHTTP(works(work), &mcp.StreamableHTTPOptions{Stateless: true})
		},
		func(work *rehearsal.Work) way {
			stateful := overHTTP(works(work), &mcp.StreamableHTTPOptions{})
			stateful.name = "stateful"
			return stateful
		},
		func(*rehearsal.Work) way { return process(workingServer, nil) },
		func(work *rehearsal.Work) way {
			json := overHTTP(works(work), &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
			json.name = "json"
			return json
		},
		func(work *rehearsal.Work) way { return inMemory(works(work)) },
	} {
		work := rehearsal.NewWork(1)
		t.Run(w(work).name, func(t *testing.T) {
			for _, n := range []int{3, 9, 20} {
				var model rehearsal.Model
				for i := range n {
					model = append(model, rehearsal.Tool{Name: "work", N: i * 7 % n})
				}
				plan.Rehearse(t, func(dir, mode string) (calls string, tb *tbtest.TB) {
					tb = tbtest.Run("TestWork", func(tb *tbtest.TB) {
						tf := traceforgetest.New(tb, traceforgetest.Dir(dir))
						session, err := mcp.NewClient(&mcp.Implementation{Name: "worker"}, nil).Connect(context.Background(), w(work).connect(tb, tf, mode != ""), nil)
						if err != nil {
							tb.Fatalf("%v", err)
						}
						defer session.Close()
						asks := func(prompt string) {
							resp, err := tf.ClientOver(model).Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
								`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"`+prompt+`"}]}`))
							if err != nil || resp.StatusCode != http.StatusOK {
								tb.Errorf("ask: %v", err)
								return
							}
							_ = json.NewDecoder(resp.Body).Decode(&struct{}{})
							resp.Body.Close()
						}
						asks("go")
						var group sync.WaitGroup
						for _, tool := range model {
							group.Go(func() {
								result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool.Name, Arguments: tool.Input()})
								if err != nil || result.IsError != fails(tool.N) {
									tb.Errorf("%d: %v, %v", tool.N, result, err)
								}
							})
						}
						group.Wait()
						asks("results")
						var all strings.Builder
						for _, call := range tf.Calls() {
							text, _ := json.Marshal(call.Request.Messages)
							fmt.Fprintf(&all, "%s %s %s\n", call.Request.API, text, call.Latency)
						}
						calls = all.String()
					})
					return calls, tb
				}).Check(t)
			}
		})
	}
}

// fails reports whether the tool of a server fails: some of those that run at once do.
func fails(n int) bool { return n%4 == 3 }

// works is a server with a tool that takes its time, and fails for some inputs.
func works(work *rehearsal.Work) func() *mcp.Server {
	return func() *mcp.Server {
		server := mcp.NewServer(&mcp.Implementation{Name: "works", Version: "1.0.0"}, nil)
		mcp.AddTool(server, &mcp.Tool{Name: "work"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			N int `json:"n"`
		}) (*mcp.CallToolResult, any, error) {
			work.Do()
			if fails(in.N) {
				return nil, nil, fmt.Errorf("no work for %d", in.N)
			}
			return nil, map[string]int{"n": in.N}, nil
		})
		return server
	}
}
