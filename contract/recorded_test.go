package contract_test

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/snapshot"
)

// recordOf returns a record of the store as the recorder would have made it.
func recordOf(api string) snapshot.Record {
	return snapshot.Record{Provider: "openai", Snapshot: &snapshot.Snapshot{
		ID: "one", Timestamp: time.UnixMilli(0), Source: snapshot.Source{File: "a.go", Line: 1, Function: "F"},
		Request: snapshot.Request{
			API: api, Model: "m",
			Messages: []snapshot.Message{{Role: "user", Content: json.RawMessage(`"hi"`)}},
		},
		Response: snapshot.Response{Content: "hello", FinishReason: "stop", Status: 200},
	}}
}

func emptyStore(t *testing.T) *snapshot.Store {
	store, err := snapshot.Open(filepath.Join(t.TempDir(), ".ai-snapshots"))
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	return store
}

// TestRecordedControls is about what a snapshot keeps under the wire's own names: what the contract
// has a name for gets it, and nothing else is lost.
func TestRecordedControls(t *testing.T) {
	for _, test := range []struct {
		name, why, api, options string
		runtime                 contract.RuntimeArgs
		format, rest            string
	}{
		{"nothing", "no options at all", contract.OpenAIChat, `{}`, contract.RuntimeArgs{}, "", ""},
		{"stream", "is for the adapter to say", contract.OpenAIChat, `{"stream":true,"stream_options":{"include_usage":true}}`, contract.RuntimeArgs{}, "", ""},
		{"stream_options", "that the adapter would not send", contract.OpenAIChat, `{"stream":true,"stream_options":{"include_usage":false}}`, contract.RuntimeArgs{}, "", `{"openai":{"stream_options":{"include_usage":false}}}`},
		{"url", "is for the catalog to say", contract.OpenAIChat, `{"$url":{"deployment":"d"},"n":2}`, contract.RuntimeArgs{}, "", `{"openai":{"n":2}}`},
		{"effort_chat", "one member", contract.OpenAIChat, `{"reasoning_effort":"low"}`, contract.RuntimeArgs{ReasoningEffort: contract.Some("low")}, "", ""},
		{"effort_responses", "with company", contract.OpenAIResponses, `{"reasoning":{"effort":"low","summary":"auto"}}`, contract.RuntimeArgs{ReasoningEffort: contract.Some("low")}, "", `{"openai":{"reasoning":{"summary":"auto"}}}`},
		{"effort_null", "null is no effort", contract.OpenAIResponses, `{"reasoning":{"effort":null}}`, contract.RuntimeArgs{}, "", `{"openai":{"reasoning":{"effort":null}}}`},
		{"effort_anthropic", "beside the format", contract.AnthropicMessages, `{"output_config":{"effort":"max","format":{"type":"json_schema","schema":{"a":1}}}}`, contract.RuntimeArgs{ReasoningEffort: contract.Some("max")}, `{"json_schema":{"a":1},"strict":null,"type":"json_schema"}`, ""},
		{"choice_auto", "a word", contract.OpenAIChat, `{"tool_choice":"auto"}`, contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceAuto}}, "", ""},
		{"choice_tool_chat", "nested", contract.OpenAIChat, `{"tool_choice":{"type":"function","function":{"name":"f"}}}`, contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceTool, Name: "f"}}, "", ""},
		{"choice_tool_responses", "flat", contract.OpenAIResponses, `{"tool_choice":{"type":"function","name":"f"}}`, contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceTool, Name: "f"}}, "", ""},
		{"choice_any", "Anthropic's word for required", contract.AnthropicMessages, `{"tool_choice":{"type":"any"}}`, contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceRequired}}, "", ""},
		{"choice_other", "says more than the contract can", contract.AnthropicMessages, `{"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}`, contract.RuntimeArgs{}, "", `{"anthropic":{"tool_choice":{"disable_parallel_tool_use":true,"type":"auto"}}}`},
		{"format_chat", "the adapter's own", contract.OpenAIChat, `{"response_format":{"type":"json_schema","json_schema":{"name":"response","schema":{"a":1},"strict":true}}}`, contract.RuntimeArgs{}, `{"json_schema":{"a":1},"strict":true,"type":"json_schema"}`, ""},
		{"format_named", "a name of the caller's would be lost", contract.OpenAIChat, `{"response_format":{"type":"json_schema","json_schema":{"name":"mine","schema":{"a":1}}}}`, contract.RuntimeArgs{}, "", `{"openai":{"response_format":{"json_schema":{"name":"mine","schema":{"a":1}},"type":"json_schema"}}}`},
		{"format_json", "no schema", contract.OpenAIResponses, `{"text":{"format":{"type":"json_object"},"verbosity":"low"}}`, contract.RuntimeArgs{}, `{"json_schema":null,"strict":null,"type":"json"}`, `{"openai":{"text":{"verbosity":"low"}}}`},
		{"metadata_store", "with store", contract.OpenAIChat, `{"metadata":{"a":"b"},"store":true}`, contract.RuntimeArgs{Metadata: map[string]string{"a": "b"}}, "", `{"openai":{"store":true}}`},
		{"metadata_alone", "the adapter would not send it", contract.OpenAIChat, `{"metadata":{"a":"b"}}`, contract.RuntimeArgs{}, "", `{"openai":{"metadata":{"a":"b"}}}`},
		{"metadata_user", "Anthropic's only one", contract.AnthropicMessages, `{"metadata":{"user_id":"u"}}`, contract.RuntimeArgs{Metadata: map[string]string{"user_id": "u"}}, "", ""},
		{"metadata_null", "no text", contract.AnthropicMessages, `{"metadata":{"user_id":null}}`, contract.RuntimeArgs{}, "", `{"anthropic":{"metadata":{"user_id":null}}}`},
		{"numbers", "large ones stay", contract.OpenAIChat, `{"x":9223372036854775807}`, contract.RuntimeArgs{}, "", `{"openai":{"x":{"$number":"9223372036854775807"}}}`},
		{"other_api", "an API that the adapter does not speak", "other", `{"stream":true,"tool_choice":"auto"}`, contract.RuntimeArgs{}, "", `{"openai":{"stream":true,"tool_choice":"auto"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := recordOf(test.api)
			require.NoError(t, json.Unmarshal([]byte(test.options), &record.Snapshot.Request.ProviderOptions))
			before, err := json.Marshal(record.Snapshot.Request.ProviderOptions)
			require.NoError(t, err)
			got, err := contract.FromSnapshot(record, emptyStore(t))
			require.NoError(t, err)
			runtime := got.Params.Runtime
			requireBlob(t, got, runtime.ResponseFormatRef, test.format, test.why)
			requireBlob(t, got, runtime.ProviderOptionsRef, test.rest, test.why)
			runtime.ResponseFormatRef, runtime.ProviderOptionsRef = nil, nil
			require.Equal(t, test.runtime, runtime, test.why)
			after, err := json.Marshal(record.Snapshot.Request.ProviderOptions)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), "the snapshot is not changed")
		})
	}
}

func requireBlob(t *testing.T, blobs contract.Blobs, ref *canon.Hash, want, why string) {
	t.Helper()
	if want == "" {
		require.Nil(t, ref, why)
		return
	}
	require.NotNil(t, ref, why)
	blob, err := blobs.Blob(*ref)
	require.NoError(t, err)
	require.Equal(t, want, string(blob), why)
}

func TestRecordedParameters(t *testing.T) {
	number := func(text snapshot.Number) *snapshot.Number { return &text }
	record := recordOf(contract.OpenAIChat)
	r := &record.Snapshot.Request
	r.Temperature, r.MaxTokens, r.TopP, r.Seed = number("0.0"), number("24"), number("0.5"), number("7")
	r.FrequencyPenalty, r.PresencePenalty, r.Stop = number("1"), number("-1"), []string{"END"}
	r.Tools = []json.RawMessage{json.RawMessage(`{"name":"f"}`)}
	r.Messages = append(r.Messages, snapshot.Message{Role: "model", Content: json.RawMessage(`[{"text":"a"},{"text":"b"}]`), Metadata: json.RawMessage(`{"$wire":"array"}`)})
	got, err := contract.FromSnapshot(record, emptyStore(t))
	require.NoError(t, err)
	a := got.Params.Runtime
	require.Equal(t, contract.Decimal("0.0"), *a.Temperature)
	require.Equal(t, uint64(24), *a.MaxTokens)
	require.Equal(t, []string{"END"}, a.StopSequences)
	requireBlob(t, got, &a.ToolRefs[0], `{"name":"f"}`, "")
	requireBlob(t, got, a.ProviderOptionsRef, `{"openai":{"frequency_penalty":1,"presence_penalty":-1,"seed":7,"top_p":0.5}}`, "")
	requireBlob(t, got, &got.Params.MessageRefs[0], `{"content":"hi","role":"user"}`, "")
	requireBlob(t, got, &got.Params.MessageRefs[1], `{"content":[{"text":"a"},{"text":"b"}],"metadata":{"$wire":"array"},"role":"model"}`, "")

	// A limit under another name, or that is no natural number, stays as it was sent.
	r.MaxTokens = number("2.4e1")
	got, err = contract.FromSnapshot(record, emptyStore(t))
	require.NoError(t, err)
	require.Equal(t, uint64(24), *got.Params.Runtime.MaxTokens)
	r.ProviderOptions = map[string]json.RawMessage{"max_completion_tokens": json.RawMessage("24")}
	got, err = contract.FromSnapshot(record, emptyStore(t))
	require.NoError(t, err)
	require.Nil(t, got.Params.Runtime.MaxTokens)
	r.ProviderOptions, r.MaxTokens = nil, number("-1")
	got, err = contract.FromSnapshot(record, emptyStore(t))
	require.NoError(t, err)
	require.Nil(t, got.Params.Runtime.MaxTokens)
	requireBlob(t, got, got.Params.Runtime.ProviderOptionsRef, `{"openai":{"frequency_penalty":1,"max_tokens":-1,"presence_penalty":-1,"seed":7,"top_p":0.5}}`, "")

	prompt := "Once upon"
	r.Messages, r.Prompt = nil, &prompt
	got, err = contract.FromSnapshot(record, emptyStore(t))
	require.NoError(t, err)
	requireBlob(t, got, &got.Params.MessageRefs[0], `{"content":"Once upon","role":"user"}`, "")
}

// TestRecordedWithout is about requests that a provider took, or refused, although something is
// missing in them.
func TestRecordedWithout(t *testing.T) {
	record := recordOf(contract.OpenAIResponses)
	record.Snapshot.Request.Messages, record.Snapshot.Request.Model = []snapshot.Message{}, ""
	record.Snapshot.Request.ProviderOptions = map[string]json.RawMessage{"previous_response_id": json.RawMessage(`"response_1"`)}
	got, err := contract.FromSnapshot(record, emptyStore(t))
	require.NoError(t, err)
	require.Empty(t, got.Params.MessageRefs)
	require.Empty(t, got.Params.Model)
	_, err = got.Params.Hash()
	require.EqualError(t, err, "generate params: /model: missing: is blank")
}

func TestRecordedAnswers(t *testing.T) {
	count := func(n int64) *int64 { return &n }
	for _, test := range []struct {
		name, why string
		response  snapshot.Response
		receipt   contract.GenerateReceipt
		output    output
		warnings  []contract.Warning
	}{
		{"text", "the usual", snapshot.Response{Content: "hello", FinishReason: "stop", FinishReasonRaw: "end_turn", Usage: &snapshot.Usage{Input: count(3), Output: count(4), CacheRead: count(1)}},
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "stop", Raw: contract.Some("end_turn")}, TokenUsage: contract.TokenUsage{Prompt: 3, Completion: 4}, UsageDetails: &contract.UsageDetails{CacheReadTokens: contract.Some[uint64](1)}},
			output{text: "hello"}, nil},
		{"calls", "numbered as in the snapshot", snapshot.Response{Content: "see", FinishReason: "stop", FinishReasonRaw: "tool_calls", ToolCalls: []snapshot.ToolCall{{Ref: "call_1", Name: "f", Input: json.RawMessage(`{"b":1,"a":2}`)}, {Ref: "call_2", Name: "g"}}, Usage: &snapshot.Usage{Input: count(3), Output: count(4)}},
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "tool_calls", Raw: contract.Some("tool_calls")}, TokenUsage: contract.TokenUsage{Prompt: 3, Completion: 4}},
			output{text: "see", calls: []call{{"call_1", "f", `{"a":2,"b":1}`}, {"call_2", "g", `{}`}}}, nil},
		{"parts", "what text and calls do not say", snapshot.Response{Content: "hello", FinishReason: "stop", Parts: []json.RawMessage{json.RawMessage(`{"reasoning":"hm"}`), json.RawMessage(`{"text":"hello"}`)}, Usage: &snapshot.Usage{Input: count(3), Output: count(4)}},
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "stop"}, TokenUsage: contract.TokenUsage{Prompt: 3, Completion: 4}},
			output{text: "hello", reasoning: "hm"}, nil},
		{"error", "no answer", snapshot.Response{FinishReason: "other", Status: 400, Error: &snapshot.ProviderError{Status: 400, Message: "no such model"}},
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "error"}}, output{}, []contract.Warning{{Code: contract.WarnError, Message: "no such model"}}},
		{"cut", "a part of an answer", snapshot.Response{Content: "hel", FinishReason: "other", Incomplete: "aborted", Candidates: []snapshot.Candidate{{Content: "more", FinishReason: "stop"}}},
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "other"}}, output{text: "hel"}, []contract.Warning{
				{Code: contract.WarnIncomplete, Message: "the answer was cut: aborted"},
				{Code: contract.WarnCandidates, Message: "the envelope is of the first of 2 candidates"},
				{Code: contract.WarnUsage, Message: "the provider did not report the tokens of the prompt and the completion"},
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := recordOf(contract.AnthropicMessages)
			record.Snapshot.Response = test.response
			got, err := contract.FromSnapshot(record, emptyStore(t))
			require.NoError(t, err)
			require.Equal(t, test.output, outputOf(t, got, got.Receipt.OutputRef), test.why)
			var warnings []contract.Warning
			if got.Receipt.WarningsRef != nil {
				require.NoError(t, contract.ReadJSON(got, *got.Receipt.WarningsRef, &warnings))
			}
			require.Equal(t, test.warnings, warnings)
			test.receipt.OutputRef, test.receipt.WarningsRef, test.receipt.ProviderID = got.Receipt.OutputRef, got.Receipt.WarningsRef, "openai"
			require.Equal(t, test.receipt, got.Receipt)
		})
	}
}

// TestRecordedRefs is about snapshots that name their envelope and the provider's bytes.
func TestRecordedRefs(t *testing.T) {
	store := emptyStore(t)
	put := func(text string) canon.Hash {
		ref, err := store.PutBlob([]byte(text))
		require.NoError(t, err)
		return ref
	}
	arguments := put(`{}`)
	calls := put(`[{"arguments_ref":"` + string(arguments) + `","call_id":"call_1","provider_call_id":"toolu_1","tool_name":"f"}]`)
	record := recordOf(contract.AnthropicMessages)
	r := &record.Snapshot.Response
	r.OutputRef = put(`{"assistant_text":"recorded","reasoning_ref":null,"tool_calls_ref":"` + string(calls) + `"}`)
	r.RawOutputRef = put(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":"tool_use"}`)
	got, err := contract.FromSnapshot(record, store)
	require.NoError(t, err)
	require.Equal(t, "recorded", *got.Envelope.AssistantText, "what was recorded counts")
	require.Equal(t, r.OutputRef, got.Receipt.OutputRef)
	require.Equal(t, r.RawOutputRef, *got.Receipt.RawOutputRef)
	require.Equal(t, "msg_1", *got.Receipt.ProviderResponseID)
	require.Equal(t, contract.FinishToolCalls, got.Receipt.FinishReason.Reason)

	r.RawOutputRef = put("cut of")
	got, err = contract.FromSnapshot(record, store)
	require.NoError(t, err)
	require.Nil(t, got.Receipt.ProviderResponseID, "bytes that cannot be read say no id")

	for _, broken := range []*canon.Hash{&r.RawOutputRef, &r.OutputRef} {
		whole := *broken
		*broken = ref("1")
		_, err = contract.FromSnapshot(record, store)
		require.ErrorIs(t, err, snapshot.ErrBlob)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, "snapshot one: /response/")
		*broken = whole
	}
}

func TestRecordedErrors(t *testing.T) {
	for _, test := range []struct {
		name, why string
		change    func(*snapshot.Snapshot)
		want      string
	}{
		{"embeddings", "no generation", func(s *snapshot.Snapshot) { s.Request.API, s.Request.Messages = "openai.embeddings", nil },
			"snapshot one: /request: unsupported: a call of openai.embeddings without messages is no generation"},
		{"no_messages", "an API of anything", func(s *snapshot.Snapshot) {
			s.Request.API, s.Request.Messages = "http.json", []snapshot.Message{}
		}, "snapshot one: /request: unsupported: a call of http.json without messages is no generation"},
		{"message", "no content", func(s *snapshot.Snapshot) { s.Request.Messages[0].Content = json.RawMessage(`1`) }, "snapshot one: params: /request/messages/0: "},
		{"tool", "no JSON", func(s *snapshot.Snapshot) { s.Request.Tools = []json.RawMessage{json.RawMessage(`{`)} }, "snapshot one: params: /request/tools/0: blob of json.RawMessage: "},
		{"parts", "no parts", func(s *snapshot.Snapshot) { s.Response.Parts = []json.RawMessage{json.RawMessage(`1`)} }, "snapshot one: /response/parts: modelio: part: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := recordOf(contract.OpenAIChat)
			test.change(record.Snapshot)
			got, err := contract.FromSnapshot(record, emptyStore(t))
			require.ErrorContains(t, err, test.want, test.why)
			require.Nil(t, got)
		})
	}
}
