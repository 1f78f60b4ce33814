package contract_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestReplySendsBack covers the parts of an answer that a provider requires in the next request, and the parts that it
// would refuse.
func TestReplySendsBack(t *testing.T) {
	for _, test := range []struct {
		name, why string
		api       api
		answer    string
		want      []string // texts in the next request
		not       []string
	}{
		{"signature", "Anthropic wants its reasoning signed and in its place", apis[2],
			`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"eA=="},{"type":"tool_use","id":"toolu_9","name":"calc","input":{}}],"stop_reason":"tool_use"}`,
			[]string{`{"signature":"c2ln","thinking":"hm","type":"thinking"},{"data":"eA==","type":"redacted_thinking"},{"id":"call_1","input":{},"name":"calc","type":"tool_use"}`},
			[]string{"toolu_9", "msg_1"}},
		{"anthropic_own_tools", "Anthropic takes back what its own tools did, by its own ids", apis[2],
			`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_9","name":"calc","input":{}},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"u","title":"t","encrypted_content":"abc"}]},{"type":"mcp_tool_use","id":"mcptoolu_1","name":"m","server_name":"x","input":{}},{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","content":[]}],"stop_reason":"tool_use"}`,
			[]string{
				`{"id":"call_1","input":{},"name":"calc","type":"tool_use"},` +
					`{"id":"srvtoolu_1","input":{"query":"q"},"name":"web_search","type":"server_tool_use"},` +
					`{"content":[{"encrypted_content":"abc","title":"t","type":"web_search_result","url":"u"}],"tool_use_id":"srvtoolu_1","type":"web_search_tool_result"},` +
					`{"id":"mcptoolu_1","input":{},"name":"m","server_name":"x","type":"mcp_tool_use"},` +
					`{"content":[],"tool_use_id":"mcptoolu_1","type":"mcp_tool_result"}`,
				`"tool_use_id":"call_1"`,
			},
			[]string{"call_2", "call_3", "toolu_9"}},
		{"caller", "Anthropic takes back which of its own tools made a call, and needs no mark for the model", apis[2],
			`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_9","name":"calc","input":{},"caller":{"type":"direct"}},{"type":"tool_use","id":"toolu_10","name":"calc","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_1"}}],"stop_reason":"tool_use"}`,
			[]string{`{"id":"call_1","input":{},"name":"calc","type":"tool_use"},{"caller":{"tool_id":"srvtoolu_1","type":"code_execution_20250825"},"id":"call_2","input":{},"name":"calc","type":"tool_use"}`},
			[]string{"direct"}},
		{"log_probabilities", "OpenAI takes none in requests", apis[0],
			`{"id":"chatcmpl-1","choices":[{"index":0,"logprobs":{"content":[]},"content_filter_results":{"hate":{"filtered":false}},"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"annotations":[{"type":"x"}],"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"calc","arguments":"{}"}}]}}]}`,
			[]string{`"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"calc"},"id":"call_1","type":"function"}]`},
			[]string{"logprobs", "content_filter_results", "annotations", "call_abc"}},
		{"encrypted_reasoning", "OpenAI takes it back in its place, by what it encrypted of it", apis[1],
			`{"id":"resp_1","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"},{"type":"summary_text","text":"so"}],"encrypted_content":"Z0FB"},{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"Z0FC"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"wait","annotations":[]}]},{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"calc","arguments":"{}"}]}`,
			[]string{`{"encrypted_content":"Z0FB","summary":[{"text":"hm","type":"summary_text"},{"text":"so","type":"summary_text"}],"type":"reasoning"},` +
				`{"encrypted_content":"Z0FC","summary":[],"type":"reasoning"},` +
				`{"content":"wait","role":"assistant"},` +
				`{"arguments":"{}","call_id":"call_1","name":"calc","type":"function_call"}`},
			[]string{"rs_", "fc_1", "msg_1", "call_abc"}},
		{"own_tools", "what OpenAI's own tools did is an item, not a block of a message", apis[1],
			`{"id":"resp_1","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Z0FB"},{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"calc","arguments":"{}"}]}`,
			[]string{`{"encrypted_content":"Z0FB","summary":[],"type":"reasoning"},{"action":{"query":"q","type":"search"},"status":"completed","type":"web_search_call"},{"arguments"`},
			[]string{"ws_1"}},
		{"reasoning_of_both_kinds", "what one item encrypted says nothing of the next", apis[1],
			`{"id":"resp_1","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"Z0FB"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"wait","annotations":[]}]},{"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"so"}],"encrypted_content":null},{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"calc","arguments":"{}"}]}`,
			[]string{`{"encrypted_content":"Z0FB","summary":[],"type":"reasoning"},{"content":"wait","role":"assistant"},{"arguments":"{}"`},
			[]string{`"so"`}},
		{"images", "OpenAI takes none of its own without their ids", apis[1],
			`{"id":"resp_1","status":"completed","output":[{"type":"image_generation_call","id":"ig_1","status":"completed","result":"AAAA"},{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"calc","arguments":"{}"}]}`,
			[]string{`"role":"user"},{"arguments":"{}","call_id":"call_1","name":"calc","type":"function_call"}`},
			[]string{"ig_1", "AAAA", "image"}},
		{"reasoning", "OpenAI takes none without its id, or encrypted", apis[1],
			`{"id":"resp_1","status":"completed","output":[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":null},{"type":"function_call","id":"fc_1","call_id":"call_abc","name":"calc","arguments":"{}"}]}`,
			[]string{`{"arguments":"{}","call_id":"call_1","name":"calc","type":"function_call"}`},
			[]string{"rs_1", "fc_1", "call_abc", `"reasoning"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newScene(t)
			requests := s.serve("application/json", json.RawMessage(test.answer), json.RawMessage(test.answer))
			params := s.asks(test.api)
			reply, err := s.adapter.Reply(params, s.generate(params))
			require.NoError(t, err)
			params.MessageRefs = append(params.MessageRefs, reply,
				s.message(results(modelio.ToolResponse{Name: "calc", Ref: "call_1", Output: json.RawMessage("1")})))
			s.generate(params)
			for _, part := range test.want {
				require.Contains(t, (*requests)[1], part, test.why)
			}
			for _, part := range append(test.not, `"$`) {
				require.NotContains(t, (*requests)[1], part, test.why)
			}
		})
	}
}

// TestReplyToAnotherModel covers a session whose next run uses another model (LC "Model Change Boundary"). It must send
// that model only parts that every model takes.
func TestReplyToAnotherModel(t *testing.T) {
	const signed = "c2lnbmVk"
	answers := []string{ // by API, with all parts that only its models can read
		`{"choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","reasoning_content":"` + signed + `","content":"hi","annotations":[{"type":"` + signed + `"}],"tool_calls":[{"id":"call_x","type":"function","function":{"name":"calc","arguments":"{}"}}]}}]}`,
		`{"status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"` + signed + `"},{"type":"web_search_call","status":"` + signed + `"},` +
			`{"type":"function_call","call_id":"call_p","name":"` + signed + `","arguments":"{}"},{"type":"function_call_output","call_id":"call_p","output":"1"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[{"type":"` + signed + `"}]}]},{"type":"function_call","call_id":"call_x","name":"calc","arguments":"{}"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"` + signed + `"},{"type":"redacted_thinking","data":"` + signed + `"},{"type":"server_tool_use","id":"srvtoolu_1","name":"` + signed + `","input":{}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"hi","citations":[{"type":"` + signed + `"}]},{"type":"tool_use","id":"toolu_x","name":"calc","input":{},"caller":{"type":"direct"}}],"stop_reason":"tool_use"}`,
	}
	common := []string{ // by API; ID is the id of the call
		`{"content":"hi","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"calc"},"id":"ID","type":"function"}]},{"content":"1","role":"tool","tool_call_id":"ID"}]`,
		`{"content":"hi","role":"assistant"},{"arguments":"{}","call_id":"ID","name":"calc","type":"function_call"},{"call_id":"ID","output":"1","type":"function_call_output"}]`,
		`{"content":[{"text":"hi","type":"text"},{"id":"ID","input":{},"name":"calc","type":"tool_use"}],"role":"assistant"},{"content":[{"content":"1","tool_use_id":"ID","type":"tool_result"}],"role":"user"}]`,
	}
	next := json.RawMessage(`{"choices":[{"message":{"content":"x"}}],"status":"completed","output":[],"type":"message","content":[]}`)
	for from, a := range apis {
		for to, b := range apis {
			t.Run(a.name+"_to_"+b.name, func(t *testing.T) {
				s := newScene(t)
				s.adapter.Catalog[b.provider] = contract.Provider{API: b.name} // it allows any model
				requests := s.serve("application/json", json.RawMessage(answers[from]), next, next)
				params := s.asks(a)
				receipt := s.generate(params)
				reply, err := s.adapter.Reply(params, receipt)
				require.NoError(t, err)
				id := s.output(receipt).calls[0].id
				messages := append(params.MessageRefs, reply, s.message(results(modelio.ToolResponse{Name: "calc", Ref: id, Output: json.RawMessage("1")})))
				if from == to {
					s.generate(s.params(b, messages...))
					require.Contains(t, (*requests)[1], signed, "the same model gets it all")
					require.NotContains(t, (*requests)[1], `"$model"`)
					b.model = "another"
				}
				s.generate(s.params(b, messages...))
				last := (*requests)[len(*requests)-1]
				require.Contains(t, last, strings.ReplaceAll(common[to], "ID", id))
				require.NotContains(t, last, signed)
				require.NotContains(t, last, `"$`)
			})
		}
	}
}

// TestReplyOfThoughtsAlone checks that a message is not sent to another model if that model takes no part of it.
func TestReplyOfThoughtsAlone(t *testing.T) {
	s := newScene(t)
	requests := s.serve("application/json",
		json.RawMessage(`{"type":"message","role":"assistant","content":[{"type":"redacted_thinking","data":"eA=="}],"stop_reason":"max_tokens"}`),
		json.RawMessage(`{"choices":[{"message":{"content":"x"}}]}`))
	params := s.asks(apis[2])
	reply, err := s.adapter.Reply(params, s.generate(params))
	require.NoError(t, err)
	s.generate(s.params(apis[0], append(params.MessageRefs, reply, s.says(modelio.RoleUser, "Well?"))...))
	require.Contains(t, (*requests)[1], `{"content":"Say hello","role":"user"},{"content":"Well?","role":"user"}`)
}

func TestReplyErrors(t *testing.T) {
	s := newScene(t)
	s.serve("application/json", json.RawMessage(`{"choices":[{"message":{"content":"hi"}}]}`))
	params := s.asks(apis[0])
	receipt := s.generate(params)

	unknown := params
	unknown.Provider = "nobody"
	_, err := s.adapter.Reply(unknown, receipt)
	require.ErrorIs(t, err, contract.ErrUnknown)

	bare := receipt
	bare.RawOutputRef = nil
	_, err = s.adapter.Reply(params, bare)
	require.EqualError(t, err, "generate receipt: /raw_output_ref: missing: is required: it has the answer")

	gone := receipt
	gone.RawOutputRef = contract.Some(ref("1"))
	_, err = s.adapter.Reply(params, gone)
	require.ErrorIs(t, err, contract.ErrBlob)

	other := receipt
	other.RawOutputRef = contract.Some(params.MessageRefs[0])
	_, err = s.adapter.Reply(params, other)
	require.ErrorContains(t, err, "/raw_output_ref: openai.chat: ", "a blob that is no answer")

	params.MessageRefs = []canon.Hash{ref("1")}
	_, err = s.adapter.Reply(params, receipt)
	require.ErrorIs(t, err, contract.ErrBlob)
}

// TestReplyToCustomCall checks the result of a call in a custom part, which is an item that the API gets as it is.
func TestReplyToCustomCall(t *testing.T) {
	s := newScene(t)
	requests := s.serve("application/json",
		json.RawMessage(`{"status":"completed","output":[{"type":"computer_call","id":"cu_1","call_id":"call_x","action":{"type":"wait"}}]}`),
		json.RawMessage(`{"status":"completed","output":[]}`))
	params := s.asks(apis[1])
	receipt := s.generate(params)
	require.Equal(t, contract.FinishToolCalls, receipt.FinishReason.Reason)
	reply, err := s.adapter.Reply(params, receipt)
	require.NoError(t, err)
	result := s.message(modelio.Message{
		Role:     modelio.RoleTool,
		Content:  []modelio.Part{{Custom: modelio.Object{"type": json.RawMessage(`"computer_call_output"`), "call_id": json.RawMessage(`"call_x"`)}}},
		Metadata: modelio.Object{"$wire": json.RawMessage(`"item"`)},
	})
	s.generate(s.params(apis[1], append(params.MessageRefs, reply, result)...))
	require.Contains(t, (*requests)[1], `{"action":{"type":"wait"},"call_id":"call_x","type":"computer_call"},{"call_id":"call_x","type":"computer_call_output"}`)
}
