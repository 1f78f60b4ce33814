package encoder

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
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
		encode func(*modelio.Request) ([]byte, error)
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
		body, err := test.encode(req)
		require.NoError(t, err)
		require.JSONEq(t, test.want, string(body))
	}
}

func TestFailures(t *testing.T) {
	result := modelio.Part{ToolResponse: &modelio.ToolResponse{Name: "f"}}
	for _, test := range []struct {
		name, want string
		encode     func(*modelio.Request) ([]byte, error)
		message    modelio.Message
	}{
		{"result_of_a_user", "openai.chat: /messages/0/content/1: a tool response outside a message of role tool", Chat,
			modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("x"), result}}},
		{"text_of_a_tool", "openai.chat: /messages/0/content/0: a message of role tool may hold tool responses only", Chat,
			modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{modelio.TextPart("x")}}},
		{"empty_part", "openai.chat: /messages/0: content 0: a part of a kind that the API has no block for", Chat,
			modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{{}}}},
		{"empty_part_of_a_result", "openai.chat: /messages/0/content/0: content 0: a part of a kind that the API has no block for", Chat,
			modelio.Message{Role: modelio.RoleTool, Content: []modelio.Part{{ToolResponse: &modelio.ToolResponse{Content: []modelio.Part{{}}}}}}},
		{"claude_empty_part", "anthropic.messages: /messages/0/content/0: a part of a kind that the API has no block for", Messages,
			modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{{}}}},
		{"claude_empty_system", "anthropic.messages: /messages/0/content/0: a part of a kind that the API has no block for", Messages,
			modelio.Message{Role: modelio.RoleSystem, Content: []modelio.Part{{}}}},
		{"responses_empty_part", "openai.responses: /messages/0/content/0: a part of a kind that the API has no block for", Responses,
			modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{{}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.encode(&modelio.Request{Messages: []modelio.Message{test.message}})
			require.EqualError(t, err, test.want)
		})
	}
}

// TestNothingUnsaid proves that what an API has no place for is an error and not left out.
func TestNothingUnsaid(t *testing.T) {
	encoders := map[string]func(*modelio.Request) ([]byte, error){
		chatAPI: Chat, messagesAPI: Messages, responsesAPI: Responses,
	}
	number, prompt := json.Number("1"), "x"
	for _, test := range []struct {
		req     modelio.Request
		pointer string
		apis    []string // that have no place for it
	}{
		{modelio.Request{Seed: &number}, "/seed", []string{messagesAPI, responsesAPI}},
		{modelio.Request{PresencePenalty: &number}, "/presence_penalty", []string{messagesAPI, responsesAPI}},
		{modelio.Request{FrequencyPenalty: &number}, "/frequency_penalty", []string{messagesAPI}},
		{modelio.Request{Stop: []string{"x"}}, "/stop", []string{responsesAPI}},
		{modelio.Request{Prompt: &prompt}, "/prompt", []string{chatAPI, messagesAPI, responsesAPI}},
	} {
		for _, api := range test.apis {
			_, err := encoders[api](&test.req)
			var wire *provider.WireError
			require.ErrorAs(t, err, &wire, api+test.pointer)
			require.Equal(t, test.pointer, wire.Pointer)
			require.Equal(t, api, wire.API)
		}
	}
}
