package modelio_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

func object(t testing.TB, text string) modelio.Object {
	var o modelio.Object
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	return o
}

// TestNumberingPlaces checks each place of a provider's values, and similar places of other values.
func TestNumberingPlaces(t *testing.T) {
	for _, c := range []struct{ name, why, custom, want string }{
		{"item", "an item of an answer", `{"id":"rs_0123456789abcdefXYZ"}`, `{"id":"item_1"}`},
		{"any prefix", "an id is known by its place", `{"id":"fc_tmp_4x"}`, `{"id":"item_1"}`},
		{"any length", "so here", `{"id":"output_tool_7"}`, `{"id":"item_1"}`},
		{"uuid", "hosts without ids like OpenAI's", `{"id":"123e4567-e89b-12d3-a456-426614174000"}`, `{"id":"item_1"}`},
		{"reference", "an item that the provider has kept", `{"type":"item_reference","id":"msg_x"}`, `{"type":"item_reference","id":"item_1"}`},
		{"same value", "the same value has the same number", `{"id":"fc_1","item_id":"fc_1"}`, `{"id":"item_1","item_id":"item_1"}`},
		{"container", "kept by the provider, and counted on its own", `{"id":"ci_1","container_id":"cntr_1"}`, `{"id":"item_1","container_id":"container_1"}`},
		{"object", "a conversation as an object", `{"conversation":{"id":"conv_1"}}`, `{"conversation":{"id":"conversation_1"}}`},
		{"checks", "ids in a list of objects", `{"pending_safety_checks":[{"id":"cu_1","code":"x"}]}`, `{"pending_safety_checks":[{"id":"item_1","code":"x"}]}`},
		{"cache", "Google's names", `{"cachedContent":"cachedContents/abcdefghijkl"}`, `{"cachedContent":"cachedContent_1"}`},
		{"upload", "and URLs", `{"uri":"https://generativelanguage.googleapis.com/v1beta/files/abcdefghijkl"}`, `{"uri":"file_1"}`},
		{"list", "ids in a list", `{"run_ids":["run_1","run_2"]}`, `{"run_ids":["run_1","run_2"]}`},
		{"other list", "ids in a list", `{"run_ids":["r8","r7"]}`, `{"run_ids":["run_1","run_2"]}`},
		{"signature", "handed out to be given back", `{"signature":"ErUB"}`, `{"signature":"signature_1"}`},
		{"encrypted", "so here", `{"encrypted_content":"gAAA","encrypted_index":"x"}`, `{"encrypted_content":"encrypted_1","encrypted_index":"encrypted_2"}`},
		{"redacted", "reasoning that only the provider reads", `{"type":"redacted_thinking","data":"x"}`, `{"type":"redacted_thinking","data":"encrypted_1"}`},
		{"details", "OpenRouter's", `{"reasoning_details":[{"type":"reasoning.encrypted","data":"x","id":"rs_1"}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"encrypted_1","id":"item_1"}]}`},
		{"call", "a call that is no tool request", `{"type":"computer_call","call_id":"x"}`, `{"type":"computer_call","call_id":"call_1"}`},
		{"caller", "the program of OpenAI that makes a call", `{"call_id":"x","caller":{"type":"program","caller_id":"y"}}`,
			`{"call_id":"call_1","caller":{"type":"program","caller_id":"call_2"}}`},
		{"program", "what shows that it is unchanged", `{"type":"program","call_id":"x","code":"1","fingerprint":"f"}`,
			`{"type":"program","call_id":"call_1","code":"1","fingerprint":"signature_1"}`},
		{"caller's tool", "Claude's program that makes a call", `{"caller":{"type":"code_execution_20260120","tool_id":"x"}}`,
			`{"caller":{"type":"code_execution_20260120","tool_id":"call_1"}}`},
		{"code", "Gemini's own tools", `{"executableCode":{"id":"x","code":"1"},"codeExecutionResult":{"id":"x"}}`,
			`{"executableCode":{"id":"call_1","code":"1"},"codeExecutionResult":{"id":"call_1"}}`},
		{"other tools", "also Gemini's", `{"toolCall":{"id":"x","toolType":"URL_CONTEXT"},"toolResponse":{"id":"x"}}`,
			`{"toolCall":{"id":"call_1","toolType":"URL_CONTEXT"},"toolResponse":{"id":"call_1"}}`},
		{"cancelled", "calls that need no result", `{"toolCallCancellation":{"ids":["x","y"]}}`, `{"toolCallCancellation":{"ids":["call_1","call_2"]}}`},
		{"a program's step", "its own state", `{"requestState":"step2"}`, `{"requestState":"step2"}`},
		{"elicitation", "MCP's state of a question", `{"params":{"requestState":"eyJ4IjoxfQ","name":"f"}}`, `{"params":{"requestState":"state_1","name":"f"}}`},
		{"spelling", "what stays keeps its spelling", `{"conversation":{ "id" : "c1", "n" : 1.0 }}`, `{"conversation":{ "id" : "conversation_1", "n" : 1.0 }}`},

		{"file", "lives long: another one is another request", `{"file_id":"file-0123456789abcdefXYZ"}`, ""},
		{"vector store", "so does this", `{"vector_store_ids":["vs_1"]}`, ""},
		{"assistant", "and this", `{"assistant_id":"asst_1"}`, ""},
		{"own document", "an id that the caller made", `{"type":"document","document":{"id":"doc:0"}}`, ""},
		{"own metadata", "so here", `{"metadata":{"run_id":"7"}}`, ""},
		{"own thread", "without a digit it is a name", `{"thread_id":"main"}`, ""},
		{"own caller", "of other kinds", `{"caller":{"id":"5","caller_id":"7","tool_id":"9"}}`, ""},
		{"own fingerprint", "of other kinds", `{"type":"device","fingerprint":"f7"}`, ""},
		{"own ids", "of objects that are no calls", `{"users":{"ids":["u1"]}}`, ""},
		{"prose", "only in places for ids", `{"text":"msg_0123456789abcdefXYZ","words":["msg_1"]}`, ""},
		{"data", "of other types", `{"type":"image","data":"x"}`, ""},
		{"other hosts", "only Google's files are Google's", `{"uri":"https://example.com/files/abcdefghijkl"}`, ""},
		{"surrogate", "no text", `{"signature":"\ud800"}`, ""},
		{"empty", "nothing to number", `{"id":"","signature":null}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == "" {
				want = c.custom
			}
			var n modelio.Numbering
			in := []modelio.Message{{Content: []modelio.Part{{Custom: object(t, c.custom)}}}}
			out, err := n.Messages(in)
			require.NoError(t, err)
			require.Equal(t, object(t, want), out[0].Content[0].Custom, c.why)
			require.Equal(t, object(t, c.custom), in[0].Content[0].Custom, "what was given is not changed")
		})
	}
}

// TestNumberingSessions: a provider of agents names their sessions. Other APIs get names of the caller's own, such as of a user.
func TestNumberingSessions(t *testing.T) {
	for api, want := range map[string]string{
		"anthropic.agents": `{"path":"/v1/sessions/item_1/events"}`, "http.json": `{"path":"/v1/sessions/user42/events"}`,
	} {
		req := &modelio.Request{API: api, Options: modelio.Object{"$url": []byte(`{"path":"/v1/sessions/user42/events"}`)}}
		got, err := new(modelio.Numbering).Request(req)
		require.NoError(t, err)
		require.Equal(t, want, string(got.Options["$url"]), api)
	}
}

// TestNumberingTasks: servers of MCP name their tasks, and callers of other APIs, or of a prompt, their own.
func TestNumberingTasks(t *testing.T) {
	const options = `{"params":{"arguments":{"taskId":"42"},"taskId":"786512e2-9e0d-44bd-8f29-789f320fe840"}}`
	for api, want := range map[string]string{"mcp": `{"params":{"arguments":{"taskId":"42"},"taskId":"task_1"}}`, "http.json": options} {
		var n modelio.Numbering
		got, err := n.Request(&modelio.Request{API: api, Options: object(t, options)})
		require.NoError(t, err)
		text, err := json.Marshal(got.Options)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
		said := modelio.Message{Content: []modelio.Part{{Custom: object(t, options)}}}
		resp, err := n.Response(&modelio.Response{Candidates: []modelio.Candidate{{Message: said}}})
		require.NoError(t, err)
		text, err = json.Marshal(resp.Candidates[0].Message.Content[0].Custom)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
}

func TestNumberingOptions(t *testing.T) {
	for _, c := range []struct{ name, why, options, want string }{
		{"resumed", "a session that Gemini's Live goes on with", `{"setup":{"sessionResumption":{"handle":"h-7f3a"}}}`,
			`{"setup":{"sessionResumption":{"handle":"session_1"}}}`},
		{"owner", "of a handle of a caller's", `{"input":[{"handle":{"id":"alice"}}]}`, `{"input":[{"handle":{"id":"alice"}}]}`},
		{"handle", "anyone may have one", `{"handle":"h-7f3a","input":[{"handle":"h-8"}]}`, `{"handle":"h-7f3a","input":[{"handle":"h-8"}]}`},
		{"answer", "an answer that this one follows", `{"previous_response_id":"resp_x"}`, `{"previous_response_id":"response_1"}`},
		{"thread", "an answer that this one follows", `{"thread":{"type":"continue","previous_message_id":"msg_x"}}`,
			`{"thread":{"type":"continue","previous_message_id":"response_1"}}`},
		{"compared", "for the cache", `{"prompt_cache_options":{"comparison_response_id":"x"}}`, `{"prompt_cache_options":{"comparison_response_id":"response_1"}}`},
		{"continuation", "of an answer that goes on", `{"continuationToken":"QUJD"}`, `{"continuationToken":"continuation_1"}`},
		{"continuation too", "of an interaction", `{"continuation_token":"x"}`, `{"continuation_token":"continuation_1"}`},
		{"credit", "from a refusal", `{"fallback_credit_token":"fct_1"}`, `{"fallback_credit_token":"credit_1"}`},
		{"container", "kept by the provider", `{"container":"c1"}`, `{"container":"container_1"}`},
		{"path", "a call about what was made before", `{"$url":{"path":"/v1/batches/b1/cancel"}}`, `{"$url":{"path":"/v1/batches/item_1/cancel"}}`},
		{"file in a path", "uploaded before", `{"$url":{"path":"/v1/files/file-1/content"}}`, `{"$url":{"path":"/v1/files/item_1/content"}}`},
		{"no digit in it", "by chance, as two of a hundred", `{"$url":{"path":"/v1/files/file-jUGCcajNfzUHfMnQADuerG"}}`, `{"$url":{"path":"/v1/files/item_1"}}`},
		{"chat in a path", "stored before", `{"$url":{"path":"/v1/chat/completions/chatcmpl-1"}}`,
			`{"$url":{"path":"/v1/chat/completions/item_1"}}`},
		{"deferred chat in a path", "xAI's", `{"$url":{"path":"/v1/chat/deferred-completion/7a-1"}}`,
			`{"$url":{"path":"/v1/chat/deferred-completion/item_1"}}`},
		{"two in a path", "each collection has its own", `{"$url":{"path":"/v1/threads/t1/runs/r1"}}`, `{"$url":{"path":"/v1/threads/item_1/runs/item_2"}}`},
		{"cursor", "a list goes on from an item", `{"$url":{"query":{"after":"b1","limit":"10"}}}`, `{"$url":{"query":{"after":"item_1","limit":"10"}}}`},
		{"cursor back", "a list ends at an item", `{"$url":{"query":{"before":"b1"}}}`, `{"$url":{"query":{"before":"item_1"}}}`},
		{"batch", "Google's names", `{"name":"batches/abcdefghijkl"}`, `{"name":"batch_1"}`},
		{"polled", "what was asked for before", `{"$url":{"query":{"id":"4ca5b657-4b04"}}}`, `{"$url":{"query":{"id":"item_1"}}}`},
		{"tool outputs", "the results of calls", `{"tool_outputs":[{"tool_call_id":"x","output":"1"}]}`, `{"tool_outputs":[{"tool_call_id":"call_1","output":"1"}]}`},

		{"long operation", "is no id", `{"$url":{"path":"/v1/files/batch-retrieve"}}`, ""},
		{"operation", "is no id", `{"$url":{"path":"/v1/responses/compact"}}`, ""},
		{"assistant", "lives long", `{"$url":{"path":"/v1/assistants/asst_1"}}`, ""},
		{"tool call", "a text holds no call", `{"user":{"id":"1","toolCall":"c1"}}`, ""},
		{"id", "a field of the caller's", `{"id":"1"}`, ""},
		{"prompt", "lives long", `{"prompt":{"id":"pmpt_1"}}`, ""},
		{"schema", "is the caller's", `{"response_format":{"json_schema":{"schema":{"examples":[{"run_id":"1"}]}}}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == "" {
				want = c.options
			}
			var n modelio.Numbering
			out, err := n.Request(&modelio.Request{Options: object(t, c.options)})
			require.NoError(t, err)
			require.Equal(t, object(t, want), out.Options, c.why)
			again, err := new(modelio.Numbering).Request(out)
			require.NoError(t, err)
			require.Equal(t, out, again, "the numbers of a numbered request are the same")
		})
	}
}

// spoken returns a conversation whose values from the provider differ with every salt.
func spoken(t testing.TB, salt string, turns int) *modelio.Request {
	r := &modelio.Request{Options: object(t, fmt.Sprintf(`{"previous_response_id":"resp_%s","container":"cntr_%s1"}`, salt, salt))}
	for i := range turns {
		at := fmt.Sprintf("%s%d", salt, i)
		r.Messages = append(r.Messages, asked(t, at), modelio.Message{
			Role:    modelio.RoleTool,
			Content: []modelio.Part{{ToolResponse: &modelio.ToolResponse{Name: "f", Ref: "toolu_" + at, Output: json.RawMessage(`{"id":"own 1"}`)}}},
		})
	}
	return r
}

func asked(t testing.TB, at string) modelio.Message {
	reasoning := "so"
	return modelio.Message{Role: modelio.RoleModel, Metadata: object(t, `{"id":"msg_`+at+`"}`), Content: []modelio.Part{
		{Reasoning: &reasoning, Metadata: object(t, `{"signature":"sig`+at+`"}`)},
		{Custom: object(t, `{"type":"web_search_call","id":"ws_`+at+`","call_id":"toolu_p`+at+`"}`)},
		{ToolRequest: &modelio.ToolRequest{Name: "f", Ref: "toolu_" + at, Input: json.RawMessage(`{"id":"own 1"}`)}, Metadata: object(t, `{"id":"fc_`+at+`"}`)},
	}}
}

// TestNumberingLeavesNoTrace proves that the numbers of a request do not depend on the provider's values, that an
// answer keeps its numbers when it is sent back, and that a call has one number in the answer and in later requests.
func TestNumberingLeavesNoTrace(t *testing.T) {
	var one, other modelio.Numbering
	a, err := one.Request(spoken(t, "x", 2))
	require.NoError(t, err)
	b, err := other.Request(spoken(t, "another", 2))
	require.NoError(t, err)
	require.Equal(t, a, b)
	text, err := json.Marshal([]any{a.Messages, a.Options})
	require.NoError(t, err)
	require.NotContains(t, strings.ReplaceAll(string(text), "own 1", ""), "x0")
	require.Contains(t, string(text), `{"id":"own 1"}`, "what a tool takes and says is the caller's")

	answer, err := one.Response(&modelio.Response{Candidates: []modelio.Candidate{{Message: asked(t, "x2")}, {Message: asked(t, "y")}}})
	require.NoError(t, err)
	require.Equal(t, answer.Candidates[0], answer.Candidates[1], "each candidate is numbered on its own")
	next, err := new(modelio.Numbering).Request(spoken(t, "x", 3))
	require.NoError(t, err)
	require.Equal(t, a.Messages, next.Messages[:4])
	require.Equal(t, next.Messages[4], answer.Candidates[0].Message)
	require.Equal(t, a.Options, next.Options, "options do not move the numbers of messages, nor those theirs")

	ref := answer.Candidates[0].Message.Content[2].ToolRequest.Ref
	require.Equal(t, "call_6", ref)
	for number, want := range map[string]string{ref: "toolu_x2", "call_1": "toolu_px0", "signature_3": "sigx2", "response_1": "resp_x"} {
		original, ok := one.Original(number)
		require.True(t, ok, number)
		require.Equal(t, want, original)
	}
	_, ok := one.Original("call_7")
	require.False(t, ok)
}

func TestNumberingShares(t *testing.T) {
	r := &modelio.Request{
		Messages: []modelio.Message{{Content: []modelio.Part{modelio.TextPart("hi")}}, {Content: []modelio.Part{{Custom: object(t, `{"id":"x"}`)}}}},
		Tools:    []modelio.ToolDefinition{{Name: "f", Metadata: object(t, `{"container":"c1"}`)}, {Name: "g"}},
	}
	out, err := new(modelio.Numbering).Request(r)
	require.NoError(t, err)
	require.Same(t, &r.Messages[0].Content[0], &out.Messages[0].Content[0])
	require.NotSame(t, &r.Messages[1].Content[0], &out.Messages[1].Content[0])
	require.JSONEq(t, `"container_1"`, string(out.Tools[0].Metadata["container"]))

	again, err := new(modelio.Numbering).Request(out)
	require.NoError(t, err)
	require.Same(t, &out.Messages[0], &again.Messages[0])
	require.Same(t, &out.Tools[0], &again.Tools[0])
}

func TestNumberingMedia(t *testing.T) {
	file := modelio.MediaPart("image/png", "https://generativelanguage.googleapis.com/v1beta/files/abcdefghijkl")
	searched := modelio.Part{
		ToolResponse: &modelio.ToolResponse{Ref: "srvtoolu_1", Output: json.RawMessage(`[{"encrypted_content":"x"}]`)},
		Metadata:     object(t, `{"type":"web_search_tool_result"}`),
	}
	nested := modelio.Part{ToolResponse: &modelio.ToolResponse{Ref: "toolu_1", Content: []modelio.Part{file}}}
	out, err := new(modelio.Numbering).Messages([]modelio.Message{{Content: []modelio.Part{file, searched, nested}}})
	require.NoError(t, err)
	require.Equal(t, "file_1", out[0].Content[0].Media.URL)
	require.JSONEq(t, `[{"encrypted_content":"encrypted_1"}]`, string(out[0].Content[1].ToolResponse.Output))
	require.Equal(t, "file_1", out[0].Content[2].ToolResponse.Content[0].Media.URL)
	require.Equal(t, "call_2", out[0].Content[2].ToolResponse.Ref)
}

func TestNumberingRefuses(t *testing.T) {
	bad := modelio.Object{"id": json.RawMessage(`"x`)}
	part := []modelio.Part{{Custom: bad}}
	for _, c := range []struct {
		name, why string
		r         *modelio.Request
		want      string
	}{
		{"message", "a model's parts may be anything", &modelio.Request{Messages: []modelio.Message{{}, {Content: part}}}, "message 2: id: "},
		{"metadata", "so may its metadata", &modelio.Request{Messages: []modelio.Message{{Metadata: bad}}}, "message 1: id: "},
		{"nested", "content of a result", &modelio.Request{Messages: []modelio.Message{{Content: []modelio.Part{{ToolResponse: &modelio.ToolResponse{Content: part}}}}}}, "message 1: id: "},
		{"output", "of a provider's own tool", &modelio.Request{Messages: []modelio.Message{{Content: []modelio.Part{{
			ToolResponse: &modelio.ToolResponse{Output: json.RawMessage(`{"id"`)}, Metadata: modelio.Object{"type": json.RawMessage(`"x"`)}}}}}}, "message 1: "},
		{"tool", "its metadata", &modelio.Request{Tools: []modelio.ToolDefinition{{Metadata: modelio.Object{"container": json.RawMessage(`"x`)}}}}, "tools: container: "},
		{"options", "what is left of the body", &modelio.Request{Options: modelio.Object{"container": json.RawMessage(`"x`)}}, "options: container: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := new(modelio.Numbering).Request(c.r)
			require.ErrorContains(t, err, c.want, c.why)
		})
	}
	_, err := new(modelio.Numbering).Response(&modelio.Response{Candidates: []modelio.Candidate{{}, {Message: modelio.Message{Content: part}}}})
	require.ErrorContains(t, err, "candidate 2: message 1: id: ")
}

func ExampleNumbering() {
	var n modelio.Numbering
	request, err := n.Request(&modelio.Request{Messages: []modelio.Message{
		{Role: modelio.RoleModel, Content: []modelio.Part{{ToolRequest: &modelio.ToolRequest{Name: "weather", Ref: "toolu_01A9x"}}}},
		{Role: modelio.RoleTool, Content: []modelio.Part{{ToolResponse: &modelio.ToolResponse{Name: "weather", Ref: "toolu_01A9x"}}}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(request.Messages[0].Content[0].ToolRequest.Ref, request.Messages[1].Content[0].ToolResponse.Ref)
	fmt.Println(n.Original("call_1"))
	// Output:
	// call_1 call_1
	// toolu_01A9x true
}
