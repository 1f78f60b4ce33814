package encoder

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// TestPlainRequests proves that requests from elsewhere, in plain GK terms, are
// written as the APIs have them.
func TestPlainRequests(t *testing.T) {
	req := &modelio.Request{
		Model: "m",
		Messages: []modelio.Message{
			{Role: modelio.RoleSystem, Content: []modelio.Part{modelio.TextPart("Be brief")}},
			{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("See"), modelio.MediaPart("image/png", "data:image/png;base64,AA==")}},
			{Role: modelio.RoleModel, Content: []modelio.Part{
				modelio.ReasoningPart("hm"),
				modelio.TextPart("Wait"),
				{ToolRequest: &modelio.ToolRequest{Name: "f", Ref: "1", Input: json.RawMessage(`{"a": 1}`)}},
				{ToolRequest: &modelio.ToolRequest{Name: "g", Ref: "2"}},
			}},
			{Role: modelio.RoleTool, Content: []modelio.Part{
				{ToolResponse: &modelio.ToolResponse{Name: "f", Ref: "1", Output: json.RawMessage(`{"b":2}`)}},
				{ToolResponse: &modelio.ToolResponse{Name: "g", Ref: "2", Output: json.RawMessage(`"text"`)}},
			}},
		},
		Tools: []modelio.ToolDefinition{{Name: "f", Description: "d", InputSchema: json.RawMessage(`{"type":"object"}`)}},
	}
	for _, test := range []struct {
		encode func(*modelio.Request) []byte
		want   string
	}{
		{Chat, `{"model":"m","messages":[
			{"role":"system","content":"Be brief"},
			{"role":"user","content":[{"type":"text","text":"See"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]},
			{"role":"assistant","reasoning_content":"hm","content":"Wait","tool_calls":[
				{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},
				{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"1","content":"{\"b\":2}"},
			{"role":"tool","tool_call_id":"2","content":"text"}],
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]}`},
		{Messages, `{"model":"m","system":[{"type":"text","text":"Be brief"}],"messages":[
			{"role":"user","content":[{"type":"text","text":"See"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Wait"},
				{"type":"tool_use","id":"1","name":"f","input":{"a":1}},{"type":"tool_use","id":"2","name":"g","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"{\"b\":2}"},{"type":"tool_result","tool_use_id":"2","content":"text"}]}],
			"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}]}`},
		{Responses, `{"model":"m","input":[
			{"role":"system","content":"Be brief"},
			{"role":"user","content":[{"type":"input_text","text":"See"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},
			{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},
			{"role":"assistant","content":"Wait"},
			{"type":"function_call","call_id":"1","name":"f","arguments":"{\"a\": 1}"},
			{"type":"function_call","call_id":"2","name":"g","arguments":"{}"},
			{"type":"function_call_output","call_id":"1","output":"{\"b\":2}"},
			{"type":"function_call_output","call_id":"2","output":"text"}],
			"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"}}]}`},
	} {
		require.JSONEq(t, test.want, string(test.encode(req)))
	}
}
