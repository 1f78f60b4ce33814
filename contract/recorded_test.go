package contract_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func text(role modelio.Role, text string) modelio.Message {
	return modelio.Message{Role: role, Content: []modelio.Part{modelio.TextPart(text)}}
}

// recordOf returns a record like the recorder's.
func recordOf(api string) contract.Record {
	return contract.Record{Provider: "openai", Snapshot: &snapshot.Snapshot{
		ID: "one", Timestamp: time.UnixMilli(0), Source: snapshot.Source{File: "a.go", Line: 1, Function: "F"},
		Request:  modelio.Request{API: api, Model: "m", Messages: []modelio.Message{text(modelio.RoleUser, "hi")}},
		Response: answered(200, modelio.Response{}, "stop", "", modelio.TextPart("hello")),
	}}
}

// answered returns resp with a candidate with these parts.
func answered(status int, resp modelio.Response, finish modelio.FinishReason, raw string, parts ...modelio.Part) snapshot.Response {
	first := modelio.Candidate{Message: modelio.Message{Role: modelio.RoleModel, Content: parts}, FinishReason: finish, FinishReasonRaw: raw}
	resp.Candidates = append([]modelio.Candidate{first}, resp.Candidates...)
	return snapshot.Response{Response: resp, Status: status}
}

// TestRecordedControls covers controls that a snapshot keeps under the wire's names. They get the contract's name if
// there is one, and no other control is lost.
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
		{"format_null", "null is no format", contract.AnthropicMessages, `{"output_config":{"format":null}}`, contract.RuntimeArgs{}, "", `{"anthropic":{"output_config":{"format":null}}}`},
		{"effort_anthropic", "beside the format", contract.AnthropicMessages, `{"output_config":{"effort":"max","format":{"type":"json_schema","schema":{"a":1}}}}`, contract.RuntimeArgs{ReasoningEffort: contract.Some("max")}, `{"json_schema":{"a":1},"strict":null,"type":"json_schema"}`, ""},
		{"choice_auto", "a word", contract.OpenAIChat, `{"tool_choice":"auto"}`, contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceAuto}}, "", ""},
		{"choice_tool_chat", "nested", contract.OpenAIChat, `{"tool_choice":{"type":"function","function":{"name":"f"}}}`, contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceTool, Name: "f"}}, "", ""},
		{"choice_tool_responses", "flat", contract.OpenAIResponses, `{"tool_choice":{"type":"function","name":"f"}}`, contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceTool, Name: "f"}}, "", ""},
		{"choice_blank", "no tool of the contract has such a name", contract.OpenAIResponses, `{"tool_choice":{"type":"function","name":" "}}`, contract.RuntimeArgs{}, "", `{"openai":{"tool_choice":{"name":" ","type":"function"}}}`},
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
		{"format_genkit", "GK's output", modelio.ModelAPI, `{"output":{"format":"json","schema":{"a":1}},"toolChoice":"required"}`, contract.RuntimeArgs{ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceRequired}}, `{"json_schema":{"a":1},"strict":null,"type":"json_schema"}`, `{"openai":{"output":{"format":"json"}}}`},
		{"schema_genkit_true", "a schema of the contract is an object", modelio.ModelAPI, `{"output":{"format":"json","schema":true}}`, contract.RuntimeArgs{}, "", `{"openai":{"output":{"format":"json","schema":true}}}`},
		{"schema_genkit_null", "no schema", modelio.ModelAPI, `{"output":{"schema":null}}`, contract.RuntimeArgs{}, "", `{"openai":{"output":{"schema":null}}}`},
		{"output_genkit", "without a schema", modelio.ModelAPI, `{"output":{"format":"text"}}`, contract.RuntimeArgs{}, "", `{"openai":{"output":{"format":"text"}}}`},
		{"other_api", "an API that the adapter does not speak", "other", `{"stream":true,"tool_choice":"auto"}`, contract.RuntimeArgs{}, "", `{"openai":{"stream":true,"tool_choice":"auto"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := recordOf(test.api)
			require.NoError(t, json.Unmarshal([]byte(test.options), &record.Snapshot.Request.Options))
			before, err := json.Marshal(record.Snapshot.Request.Options)
			require.NoError(t, err)
			got, err := contract.FromSnapshot(record)
			require.NoError(t, err)
			_, err = got.Params.Hash()
			require.NoError(t, err, "the params are valid")
			runtime := got.Params.Runtime
			requireBlob(t, got, runtime.ResponseFormatRef, test.format, test.why)
			requireBlob(t, got, runtime.ProviderOptionsRef, test.rest, test.why)
			runtime.ResponseFormatRef, runtime.ProviderOptionsRef = nil, nil
			require.Equal(t, test.runtime, runtime, test.why)
			after, err := json.Marshal(record.Snapshot.Request.Options)
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
	number := func(text json.Number) *json.Number { return &text }
	record := recordOf(contract.OpenAIChat)
	r := &record.Snapshot.Request
	r.Temperature, r.MaxTokens, r.TopP, r.Seed = number("0.0"), number("24"), number("0.5"), number("7")
	r.FrequencyPenalty, r.PresencePenalty, r.Stop = number("1"), number("-1"), []string{"END"}
	r.Tools = []modelio.ToolDefinition{{Name: "f"}}
	r.Messages = append(r.Messages, modelio.Message{
		Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("a"), modelio.TextPart("b")},
		Metadata: modelio.Object{"$wire": json.RawMessage(`"array"`)},
	})
	got, err := contract.FromSnapshot(record)
	require.NoError(t, err)
	a := got.Params.Runtime
	require.Equal(t, contract.Decimal("0.0"), *a.Temperature)
	require.Equal(t, uint64(24), *a.MaxTokens)
	require.Equal(t, []string{"END"}, a.StopSequences)
	requireBlob(t, got, &a.ToolRefs[0], `{"name":"f"}`, "")
	requireBlob(t, got, a.ProviderOptionsRef, `{"openai":{"frequency_penalty":1,"presence_penalty":-1,"seed":7,"top_p":0.5}}`, "")
	requireBlob(t, got, &got.Params.MessageRefs[0], `{"content":"hi","role":"user"}`, "")
	requireBlob(t, got, &got.Params.MessageRefs[1], `{"content":[{"text":"a"},{"text":"b"}],"metadata":{"$wire":"array"},"role":"model"}`, "")

	// A limit with another name, or one that is not a natural number, is kept as sent.
	r.MaxTokens = number("2.4e1")
	got, err = contract.FromSnapshot(record)
	require.NoError(t, err)
	require.Equal(t, uint64(24), *got.Params.Runtime.MaxTokens)
	r.Options = modelio.Object{"max_completion_tokens": json.RawMessage("24")}
	got, err = contract.FromSnapshot(record)
	require.NoError(t, err)
	require.Nil(t, got.Params.Runtime.MaxTokens)
	// In an API that has no such other name, it is an option like any other, and the limit was sent too.
	r.Options, r.API = modelio.Object{"max_completion_tokens": json.RawMessage("24"), "random_seed": json.RawMessage("7")}, contract.OpenAIResponses
	got, err = contract.FromSnapshot(record)
	require.NoError(t, err)
	require.Equal(t, uint64(24), *got.Params.Runtime.MaxTokens)
	requireBlob(t, got, got.Params.Runtime.ProviderOptionsRef,
		`{"openai":{"frequency_penalty":1,"max_completion_tokens":24,"presence_penalty":-1,"random_seed":7,"seed":7,"top_p":0.5}}`, "")
	r.Options, r.API = modelio.Object{"max_completion_tokens": json.RawMessage("null")}, contract.OpenAIChat
	got, err = contract.FromSnapshot(record)
	require.NoError(t, err)
	require.Equal(t, uint64(24), *got.Params.Runtime.MaxTokens, "null names no other limit")
	r.Options, r.MaxTokens = nil, number("9007199254740994")
	got, err = contract.FromSnapshot(record)
	require.NoError(t, err)
	require.Nil(t, got.Params.Runtime.MaxTokens, "larger than a number of the contract")
	_, err = got.Params.Hash()
	require.NoError(t, err)
	r.MaxTokens = number("-1")
	got, err = contract.FromSnapshot(record)
	require.NoError(t, err)
	require.Nil(t, got.Params.Runtime.MaxTokens)
	requireBlob(t, got, got.Params.Runtime.ProviderOptionsRef, `{"openai":{"frequency_penalty":1,"max_tokens":-1,"presence_penalty":-1,"seed":7,"top_p":0.5}}`, "")

	prompt := "Once upon"
	r.Messages, r.Prompt = nil, &prompt
	got, err = contract.FromSnapshot(record)
	require.NoError(t, err)
	requireBlob(t, got, &got.Params.MessageRefs[0], `{"content":"Once upon","role":"user"}`, "")
}

// TestRecordedWithout covers incomplete requests that a provider accepted or refused.
func TestRecordedWithout(t *testing.T) {
	record := recordOf(contract.OpenAIResponses)
	record.Snapshot.Request.Messages, record.Snapshot.Request.Model = []modelio.Message{}, ""
	record.Snapshot.Request.Options = modelio.Object{"previous_response_id": json.RawMessage(`"response_1"`)}
	got, err := contract.FromSnapshot(record)
	require.NoError(t, err)
	require.Empty(t, got.Params.MessageRefs)
	require.Empty(t, got.Params.Model)
	_, err = got.Params.Hash()
	require.EqualError(t, err, "generate params: /model: missing: is blank")
}

func TestRecordedAnswers(t *testing.T) {
	count := func(n int64) *int64 { return &n }
	cut := answered(200, modelio.Response{Candidates: []modelio.Candidate{{FinishReason: "stop"}}}, "other", "", modelio.TextPart("hel"))
	cut.Incomplete, cut.Readings = "aborted", []snapshot.Reading{{Event: 2, Kind: "added-call", Says: "rm({})"}}
	for _, test := range []struct {
		name, why string
		response  snapshot.Response
		receipt   contract.GenerateReceipt
		output    output
		warnings  []contract.Warning
	}{
		{"text", "the usual", answered(200, modelio.Response{Usage: &modelio.Usage{InputTokens: count(3), OutputTokens: count(4), CachedContentTokens: count(1)}}, "stop", "end_turn", modelio.TextPart("hello")),
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "stop", Raw: contract.Some("end_turn")}, TokenUsage: contract.TokenUsage{Prompt: 3, Completion: 4}, UsageDetails: &contract.UsageDetails{CacheReadTokens: contract.Some[uint64](1)}},
			output{text: "hello"}, nil},
		{"calls", "numbered as in the snapshot", answered(200, modelio.Response{Usage: &modelio.Usage{InputTokens: count(3), OutputTokens: count(4)}}, "stop", "tool_calls", modelio.TextPart("see"),
			modelio.Part{ToolRequest: &modelio.ToolRequest{Ref: "call_1", Name: "f", Input: json.RawMessage(`{"b":1,"a":2}`)}}, modelio.Part{ToolRequest: &modelio.ToolRequest{Ref: "call_2", Name: "g"}}),
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "tool_calls", Raw: contract.Some("tool_calls")}, TokenUsage: contract.TokenUsage{Prompt: 3, Completion: 4}},
			output{text: "see", calls: []call{{"call_1", "f", `{"a":2,"b":1}`}, {"call_2", "g", `{}`}}}, nil},
		{"parts", "more than text and calls", answered(200, modelio.Response{Usage: &modelio.Usage{InputTokens: count(3), OutputTokens: count(4)}}, "stop", "", modelio.ReasoningPart("hm"), modelio.TextPart("hello")),
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "stop"}, TokenUsage: contract.TokenUsage{Prompt: 3, Completion: 4}},
			output{text: "hello", reasoning: "hm"}, nil},
		{"error", "no answer", answered(400, modelio.Response{Error: &modelio.ProviderError{Status: 400, Message: "no such model"}}, "other", ""),
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "error"}}, output{}, []contract.Warning{{Code: contract.WarnError, Message: "no such model"}}},
		{"cut", "a part of an answer", cut,
			contract.GenerateReceipt{FinishReason: contract.FinishReason{Reason: "other"}}, output{text: "hel"}, []contract.Warning{
				{Code: contract.WarnIncomplete, Message: "the answer was cut: aborted"},
				{Code: contract.WarnReading, Message: "other programs read a call of rm({}) (event 2)"},
				{Code: contract.WarnCandidates, Message: "the envelope is of the first of 2 candidates"},
				{Code: contract.WarnUsage, Message: "the provider did not report the tokens of the prompt and the completion"},
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := recordOf(contract.AnthropicMessages)
			record.Snapshot.Response = test.response
			got, err := contract.FromSnapshot(record)
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

// TestRecordedRaw covers snapshots whose answer exists in the provider's own bytes.
func TestRecordedRaw(t *testing.T) {
	record := recordOf(contract.AnthropicMessages)
	r := &record.Snapshot.Response
	*r = answered(200, modelio.Response{}, "stop", "tool_use",
		modelio.TextPart("hello"), modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "f", Ref: "call_1"}})
	raw := func(text string) {
		record.Raw = []byte(text)
		r.RawOutputRef = canon.Sum(record.Raw)
	}
	providerID := func() *string {
		got, err := contract.FromSnapshot(record)
		require.NoError(t, err)
		require.Equal(t, "hello", *got.Envelope.AssistantText)
		require.Equal(t, contract.FinishToolCalls, got.Receipt.FinishReason.Reason)
		require.Equal(t, r.RawOutputRef, *got.Receipt.RawOutputRef)
		requireBlob(t, got, got.Receipt.RawOutputRef, string(record.Raw), "as it came")
		var calls contract.ToolCallList
		require.NoError(t, contract.ReadJSON(got, *got.Envelope.ToolCallsRef, &calls))
		require.Equal(t, "call_1", calls[0].CallID)
		if id := got.Receipt.ProviderResponseID; id != nil {
			require.Equal(t, "msg_1", *id)
		}
		return calls[0].ProviderCallID
	}

	raw(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hello"},{"type":"tool_use","id":"toolu_1","name":"f","input":{}}],"stop_reason":"tool_use"}`)
	require.Equal(t, "toolu_1", *providerID())
	raw(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":"tool_use"}`)
	require.Nil(t, providerID(), "an answer of other calls does not say it")
	raw("cut of")
	require.Nil(t, providerID(), "bytes that cannot be read say no id")

	for _, broken := range [][]byte{nil, []byte("altered")} {
		record.Raw = broken
		_, err := contract.FromSnapshot(record)
		require.ErrorIs(t, err, contract.ErrBlob)
		require.Equal(t, broken == nil, errors.Is(err, fs.ErrNotExist))
		require.ErrorContains(t, err, "snapshot one: /response/raw_output_ref: ")
	}
}

// TestRecordedCallIDs checks that a call has the same number in the record and its envelope.
func TestRecordedCallIDs(t *testing.T) {
	record := recordOf(contract.AnthropicMessages)
	asked := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "f", Ref: "call_7"}} // the history was cut
	record.Snapshot.Request.Messages = []modelio.Message{{Role: modelio.RoleModel, Content: []modelio.Part{asked}}}
	answer := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "f", Ref: "call_2"}}
	record.Snapshot.Response = answered(200, modelio.Response{}, "stop", "tool_use", answer)
	got, err := contract.FromSnapshot(record)
	require.NoError(t, err)
	var calls contract.ToolCallList
	require.NoError(t, contract.ReadJSON(got, *got.Envelope.ToolCallsRef, &calls))
	require.Equal(t, "call_2", calls[0].CallID)
}

// TestRecordedGenerations covers APIs that no adapter calls: a recorder keeps their calls, and the contract names them.
func TestRecordedGenerations(t *testing.T) {
	prompt := "Once upon"
	for _, request := range []modelio.Request{
		{API: "http.json", Messages: []modelio.Message{text(modelio.RoleUser, "hi")}},
		{API: "cohere.generate", Prompt: &prompt},
		{API: "openai.realtime", Messages: []modelio.Message{text(modelio.RoleUser, "hi")}},
		{API: "of.nobody", Prompt: &prompt},
	} {
		t.Run(request.API, func(t *testing.T) {
			record := recordOf(request.API)
			record.Snapshot.Request = request
			got, err := contract.FromSnapshot(record)
			require.NoError(t, err)
			require.Len(t, got.Params.MessageRefs, 1)
		})
	}
}

func TestRecordedErrors(t *testing.T) {
	for _, test := range []struct {
		name, why string
		change    func(*snapshot.Snapshot)
		want      string
	}{
		{"embeddings", "no generation", func(s *snapshot.Snapshot) { s.Request.API, s.Request.Messages = "openai.embeddings", nil },
			"snapshot one: /request: unsupported: a call of openai.embeddings is no generation"},
		{"no_messages", "an API of anything", func(s *snapshot.Snapshot) {
			s.Request.API, s.Request.Messages = "http.json", []modelio.Message{}
		}, "snapshot one: /request: unsupported: a call of http.json is no generation"},
		{"search", "a model that generates nothing", func(s *snapshot.Snapshot) { s.Request.API = "cohere.rerank" },
			"snapshot one: /request: unsupported: a call of cohere.rerank is no generation"},
		{"called_tool", "it is a call of the model's", func(s *snapshot.Snapshot) { s.Request.API = modelio.ToolAPI },
			"snapshot one: /request: unsupported: a call of tool.call is no generation"},
		{"embedder", "Genkit's has the form of a model", func(s *snapshot.Snapshot) { s.Request.API = "genkit.embed" },
			"snapshot one: /request: unsupported: a call of genkit.embed is no generation"},
		{"tool", "no JSON", func(s *snapshot.Snapshot) {
			s.Request.Tools = []modelio.ToolDefinition{{InputSchema: json.RawMessage(`{`)}}
		}, "snapshot one: params: /request/tools/0: blob of modelio.ToolDefinition: "},
		{"arguments", "no JSON", func(s *snapshot.Snapshot) {
			s.Response.Candidates[0].Message.Content[0] = modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "f", Ref: "call_1", Input: json.RawMessage(`{`)}}
		}, "snapshot one: arguments of tool call call_1 of f: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			record := recordOf(contract.OpenAIChat)
			test.change(record.Snapshot)
			got, err := contract.FromSnapshot(record)
			require.ErrorContains(t, err, test.want, test.why)
			require.Nil(t, got)
		})
	}
}
