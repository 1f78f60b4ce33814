package modelio_test

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// A recorder's Calls have the tool calls of a model, with their results.
func ExampleCall() {
	in, out := int64(20), int64(5)
	call := &modelio.Call{
		Request: &modelio.Request{API: "openai.chat", Model: "gpt-4o-mini", Options: modelio.Object{"user": json.RawMessage(`"u-1"`)}},
		Response: &modelio.Response{
			Candidates: []modelio.Candidate{{
				Message: modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{
					{ToolRequest: &modelio.ToolRequest{Name: "search", Input: json.RawMessage(`{"query":"shoes"}`)}},
				}},
				FinishReason: modelio.FinishStop,
			}},
			Usage: &modelio.Usage{InputTokens: &in, OutputTokens: &out},
		},
	}
	for _, asked := range call.ToolRequests() {
		fmt.Println(asked.Name, string(asked.Input))
	}
	fmt.Println(call.ToolNames(), call.Request.Option("user"))
	fmt.Println(*call.Response.Usage.Used(), *call.Response.Usage.Completed().TotalTokens, call.FinishReason(), call.Tool() == "", call.Request.Tool() == "")
	// Output:
	// search {"query":"shoes"}
	// [search] u-1
	// 25 25 stop true true
}

// Violations have a defined order.
func ExampleViolation() {
	found := []modelio.Violation{{Pointer: "/messages/1", Message: "b"}, {Pointer: "/messages/0", Message: "a"}}
	slices.SortFunc(found, modelio.Violation.Compare)
	fmt.Println(found[0].Pointer)
	// Output: /messages/0
}
