package fakeprovider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestCallsReadTheSameInEveryFormat sends the second turn of one tool loop in each format.
func TestCallsReadTheSameInEveryFormat(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string"}}}`
	for _, c := range []struct {
		name, path, body string
		header           []string
	}{
		{name: "chat", path: chatPath, body: `{"model":"m","messages":[
			{"role":"developer","content":"be brief"},{"role":"user","content":[{"type":"text","text":"look"}]},
			{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"see","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"see","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"two"}]}],
			"tools":[{"type":"function","function":{"name":"see"}}],
			"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":` + schema + `}}}`},
		{name: "responses", path: "/v1/responses", body: `{"model":"m","instructions":"be brief","input":[
			{"role":"user","content":[{"type":"input_text","text":"look"}]},
			{"type":"reasoning","id":"rs_1","summary":[]},
			{"type":"function_call","call_id":"a","name":"see","arguments":"{\"x\":1}"},{"type":"function_call","call_id":"b","name":"see","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":"one"},{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"two"}]}],
			"tools":[{"type":"function","name":"see"}],"text":{"format":{"type":"json_schema","schema":` + schema + `}}}`},
		{name: "mistral", path: "/mistral" + chatPath, body: `{"model":"m","messages":[
			{"role":"system","content":"be brief"},{"role":"user","content":"look"},
			{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"see","arguments":"{\"x\":1}"}},{"id":"b","function":{"name":"see","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":"two"}],
			"tools":[{"type":"function","function":{"name":"see"}}],
			"response_format":{"type":"json_schema","json_schema":{"schema":` + schema + `}}}`},
		{name: "messages", path: "/v1/messages", header: []string{"Anthropic-Version", "2023-06-01"}, body: `{"model":"m","max_tokens":9,
			"system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":"look"},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a","name":"see","input":{"x":1}},{"type":"tool_use","id":"b","name":"see","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one"},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"two"}]}]}],
			"tools":[{"name":"see","input_schema":{}}],"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`},
		{name: "gemini", path: "/v1beta/models/m:generateContent", body: `{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[
			{"parts":[{"text":"look"}]},
			{"role":"model","parts":[{"functionCall":{"name":"see","args":{"x":1}}},{"functionCall":{"name":"see","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"see","response":{"output":"one"}}},{"functionResponse":{"name":"see","response":{"result":"two"}}}]}],
			"tools":[{"functionDeclarations":[{"name":"see","parametersJsonSchema":{}}]}],
			"generationConfig":{"responseSchema":` + schema + `}}`},
		{name: "ollama", path: "/api/chat", body: `{"model":"m","stream":false,"messages":[
			{"role":"system","content":"be brief"},{"role":"user","content":"look"},
			{"role":"assistant","tool_calls":[{"function":{"name":"see","arguments":{"x":1}}},{"function":{"name":"see","arguments":{}}}]},
			{"role":"tool","tool_name":"see","content":"one"},{"role":"tool","tool_name":"see","content":"two"}],
			"tools":[{"type":"function","function":{"name":"see"}}],"format":` + schema + `}`},
		{name: "converse", path: "/model/m/converse", body: `{"system":[{"text":"be brief"}],"messages":[
			{"role":"user","content":[{"text":"look"}]},
			{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"see","input":{"x":1}}},{"toolUse":{"toolUseId":"b","name":"see","input":{}}}]},
			{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"one"}]}},{"toolResult":{"toolUseId":"b","content":[{"text":"two"}]}}]}],
			"toolConfig":{"tools":[{"toolSpec":{"name":"see","inputSchema":{"json":{}}}},{"cachePoint":{"type":"default"}}]},
			"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}"}}}}}`},
		{name: "cohere", path: "/v2/chat", body: `{"model":"m","messages":[
			{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"look"}]},
			{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"see","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"see","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":[{"type":"document","document":{"data":"one"}}]},
			{"role":"tool","tool_call_id":"b","content":[{"type":"document","document":{"data":{"result":"two"}}}]}],
			"tools":[{"type":"function","function":{"name":"see"}}],"response_format":{"type":"json_object","schema":` + schema + `}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Handle(fakeprovider.Echo())
			got := send(t, srv.URL()+c.path, c.body, c.header...)
			require.Equal(t, 200, got.status, got.body)
			call := srv.Calls()[0]
			require.Equal(t, "m", call.Model)
			require.Equal(t, "be brief", call.Messages[0].Text)
			require.Equal(t, "look", call.LastUser())
			var calls []fakeprovider.ToolCall
			for _, m := range call.Messages {
				calls = append(calls, m.ToolCalls...)
			}
			require.Len(t, calls, 2)
			require.Equal(t, "see", calls[0].Name)
			require.JSONEq(t, `{"x":1}`, calls[0].Arguments)
			require.Len(t, call.ToolResults(), 2)
			require.Equal(t, "one", call.ToolResults()[0].Text)
			require.Equal(t, "two", call.ToolResults()[1].Text)
			require.Len(t, call.Tools, 1)
			require.Equal(t, "see", call.Tools[0].Name)
			require.JSONEq(t, schema, string(call.Schema))
			require.Contains(t, got.body, "The tools say: one; two")
		})
	}
}
