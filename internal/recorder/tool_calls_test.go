package recorder

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestToolCallsAreTheCallers holds for every API with tools of its own that what the provider ran is a part of the answer,
// and only what the caller is to run a tool call (design R6).
func TestToolCallsAreTheCallers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, why, api, answer string
		calls                  string // names of the calls that the caller is to run
		parts                  int
	}{
		{"anthropic", "a search by Anthropic, then a call of the caller's", "anthropic.messages", `{"role":"assistant","stop_reason":"tool_use","content":[` +
			`{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[]},` +
			`{"type":"tool_use","id":"t_1","name":"mine","input":{}}]}`, "mine", 3},
		{"anthropic_mcp", "a server that Anthropic asks, whose result is to come", "anthropic.messages", `{"role":"assistant","stop_reason":"pause_turn","content":[` +
			`{"type":"mcp_tool_use","id":"m_1","name":"look","input":{},"server_name":"s"}]}`, "", 1},
		{"responses", "searches and code by OpenAI", "openai.responses", `{"status":"completed","output":[{"type":"web_search_call","id":"ws_1","status":"completed"},` +
			`{"type":"mcp_call","id":"m_1","name":"look","arguments":"{}","output":"x"},{"type":"code_interpreter_call","id":"c_1","code":"1"},` +
			`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"mine","arguments":"{}"}]}`, "mine", 4},
		{"responses_custom", "a custom tool of the caller's", "openai.responses", `{"status":"completed","tools":[{"type":"custom","name":"mine"}],"output":[` +
			`{"type":"custom_tool_call","id":"ctc_1","call_id":"call_1","name":"mine","input":"1"}]}`, "mine", 1},
		{"responses_program", "tools that OpenAI defines and the caller runs", "openai.responses", `{"status":"completed","output":[` +
			`{"type":"computer_call","id":"cu_1","call_id":"call_1","pending_safety_checks":[],"status":"completed","action":{"type":"wait"}},` +
			`{"type":"local_shell_call","id":"lsh_1","call_id":"call_2","action":{"type":"exec","command":["ls"],"env":{}}},` +
			`{"type":"apply_patch_call","id":"apc_1","call_id":"call_3","operation":{"type":"delete_file","path":"a"}},` +
			`{"type":"tool_search_call","id":"tsc_1","call_id":"call_4","execution":"client","arguments":{}},` +
			`{"type":"shell_call","id":"sh_1","call_id":"call_5","environment":{"type":"local"},"action":{"commands":["ls"]}}]}`,
			"computer_call local_shell_call apply_patch_call tool_search_call shell_call", 5},
		{"responses_container", "tools that OpenAI defines and runs", "openai.responses", `{"status":"incomplete","output":[` +
			`{"type":"shell_call","id":"sh_1","call_id":"call_1","action":{"commands":["ls"]}},{"type":"shell_call_output","call_id":"call_1","output":[]},` +
			`{"type":"tool_search_call","id":"tsc_1","call_id":null,"execution":"server","arguments":{}},` +
			`{"type":"shell_call","id":"sh_2","call_id":"call_2","environment":{"type":"container_reference","container_id":"c"},"action":{"commands":["ls"]}}]}`, "", 4},
		{"xai", "xAI's own search says that it is a custom tool", "openai.responses", `{"status":"completed","tools":[{"type":"x_search"}],"output":[` +
			`{"type":"custom_tool_call","id":"ctc_1","call_id":"xs_1","name":"x_keyword_search","input":"{}"}]}`, "", 1},
		{"gemini", "code that Google ran", "google.generate", `{"candidates":[{"finishReason":"STOP","content":{"parts":[{"executableCode":{"code":"1"}},` +
			`{"codeExecutionResult":{"output":"1"}},{"functionCall":{"name":"mine","args":{}}}]}}]}`, "mine", 3},
		{"groq", "what a compound system ran", "openai.chat", `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"1",` +
			`"executed_tools":[{"index":0,"type":"python","arguments":"{}","output":"1"}],"tool_calls":[{"id":"c_1","type":"function","function":{"name":"mine","arguments":"{}"}}]}}]}`,
			"mine", 3},
		{"unknown_kind", "a call of a kind that is not known is kept, and nobody is told to run it", "openai.chat",
			`{"choices":[{"index":0,"finish_reason":"stop","message":{"content":null,"tool_calls":[{"id":"c_1","type":"odd","odd":{"name":"f"}}]}}]}`, "", 1},
		{"converse", "what Bedrock answered itself", "bedrock.converse", `{"stopReason":"end_turn","output":{"message":{"role":"assistant","content":[` +
			`{"toolUse":{"toolUseId":"t_1","name":"nova_code","input":{},"type":"server_tool_use"}},{"toolResult":{"toolUseId":"t_1","content":[{"text":"1"}]}},{"text":"1"}]}}}`, "", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			codec, ok := provider.Named(c.api)
			require.True(t, ok)
			resp, err := codec.DecodeResponse(&provider.Answer{Status: 200, ContentType: "application/json", Body: []byte(c.answer)})
			require.NoError(t, err)
			require.Len(t, resp.Candidates[0].Message.Content, c.parts, c.why)
			core, err := snapshot.ResponseCore(&snapshot.Response{Response: *resp})
			require.NoError(t, err)
			var said struct {
				Calls []struct{ Name string } `json:"tool_calls"`
			}
			require.NoError(t, json.Unmarshal(core, &said))
			var names []string
			for _, call := range said.Calls {
				names = append(names, call.Name)
			}
			require.Equal(t, c.calls, strings.Join(names, " "), c.why)
		})
	}
}
