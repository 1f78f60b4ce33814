package contract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/schematest"
)

// ref returns a valid hash that is easy to recognize.
func ref(digit string) canon.Hash { return canon.Hash("sha256:" + strings.Repeat(digit, 64)) }

// nulls are runtime args without any value.
const nulls = `{"temperature":null,"max_tokens":null,"tool_refs":null,"tool_choice":null,"reasoning_effort":null,` +
	`"stop_sequences":null,"metadata":null,"provider_options_ref":null,"response_format_ref":null}`

// shapes are values of all types, with their exact JSON.
var shapes = []struct {
	name, why string
	value     any
	text      string
}{
	{"params_empty", "options that are not set are explicit nulls",
		contract.GenerateParams{Provider: "openai", Model: "m", MessageRefs: []canon.Hash{ref("a")}},
		`{"correlation_id":null,"provider":"openai","model":"m","message_refs":["` + string(ref("a")) + `"],"runtime":` + nulls + `,"api_key":null}`},
	{"params_full", "all that can be said",
		contract.GenerateParams{
			CorrelationID: contract.Some("c"), Provider: "p", Model: "m", MessageRefs: []canon.Hash{ref("a"), ref("b")},
			Runtime: contract.RuntimeArgs{
				Temperature: contract.Some[contract.Decimal]("0.20"), MaxTokens: contract.Some[uint64](24),
				ToolRefs: []canon.Hash{ref("c")}, ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceTool, Name: "calc"},
				ReasoningEffort: contract.Some("high"), StopSequences: []string{"END"}, Metadata: map[string]string{"k": "v"},
				ProviderOptionsRef: contract.Some(ref("d")), ResponseFormatRef: contract.Some(ref("e")),
			},
			APIKey: contract.Secret("openai", 3),
		},
		`{"correlation_id":"c","provider":"p","model":"m","message_refs":["` + string(ref("a")) + `","` + string(ref("b")) + `"],"runtime":{` +
			`"temperature":"0.20","max_tokens":24,"tool_refs":["` + string(ref("c")) + `"],"tool_choice":{"$tag":"Tool","$value":{"name":"calc"}},` +
			`"reasoning_effort":"high","stop_sequences":["END"],"metadata":{"k":"v"},"provider_options_ref":"` + string(ref("d")) + `",` +
			`"response_format_ref":"` + string(ref("e")) + `"},"api_key":{"$tag":"secret","$value":{"alias":"openai","version":3}}}`},
	{"runtime_empty_lists", "an empty list is not the same as none",
		contract.RuntimeArgs{ToolRefs: []canon.Hash{}, StopSequences: []string{}, Metadata: map[string]string{}},
		`{"temperature":null,"max_tokens":null,"tool_refs":[],"tool_choice":null,"reasoning_effort":null,` +
			`"stop_sequences":[],"metadata":{},"provider_options_ref":null,"response_format_ref":null}`},
	{"choice_auto", "a tag without a value", contract.ToolChoice{Tag: contract.ChoiceAuto}, `{"$tag":"Auto"}`},
	{"choice_none", "a tag without a value", contract.ToolChoice{Tag: contract.ChoiceNone}, `{"$tag":"None"}`},
	{"choice_required", "a tag without a value", contract.ToolChoice{Tag: contract.ChoiceRequired}, `{"$tag":"Required"}`},
	{"literal", "a text", contract.TextOrSecretRef{Literal: contract.Some("")}, `{"$tag":"literal","$value":""}`},
	{"secret", "a reference", contract.SecretRef{Alias: "a", Version: 0}, `{"alias":"a","version":0}`},
	{"receipt_empty", "options that are not set are explicit nulls",
		contract.GenerateReceipt{OutputRef: ref("a"), FinishReason: contract.FinishReason{Reason: contract.FinishOther}, ProviderID: "openai"},
		`{"output_ref":"` + string(ref("a")) + `","raw_output_ref":null,"provider_response_id":null,"finish_reason":{"reason":"other","raw":null},` +
			`"token_usage":{"prompt":0,"completion":0},"usage_details":null,"warnings_ref":null,"cost_cents":null,"provider_id":"openai"}`},
	{"receipt_full", "all that can be said",
		contract.GenerateReceipt{
			OutputRef: ref("a"), RawOutputRef: contract.Some(ref("b")), ProviderResponseID: contract.Some("resp_1"),
			FinishReason: contract.FinishReason{Reason: contract.FinishToolCalls, Raw: contract.Some("tool_use")},
			TokenUsage:   contract.TokenUsage{Prompt: 1, Completion: 2},
			UsageDetails: &contract.UsageDetails{ReasoningTokens: contract.Some[uint64](3), CacheReadTokens: contract.Some[uint64](4), CacheWriteTokens: contract.Some[uint64](5)},
			WarningsRef:  contract.Some(ref("c")), CostCents: contract.Some[uint64](6), ProviderID: "openai",
		},
		`{"output_ref":"` + string(ref("a")) + `","raw_output_ref":"` + string(ref("b")) + `","provider_response_id":"resp_1",` +
			`"finish_reason":{"reason":"tool_calls","raw":"tool_use"},"token_usage":{"prompt":1,"completion":2},` +
			`"usage_details":{"reasoning_tokens":3,"cache_read_tokens":4,"cache_write_tokens":5},` +
			`"warnings_ref":"` + string(ref("c")) + `","cost_cents":6,"provider_id":"openai"}`},
	{"envelope_empty", "an error has no answer", contract.OutputEnvelope{}, `{"assistant_text":null,"tool_calls_ref":null,"reasoning_ref":null}`},
	{"envelope", "all that can be said",
		contract.OutputEnvelope{AssistantText: contract.Some("hi"), ToolCallsRef: contract.Some(ref("a")), ReasoningRef: contract.Some(ref("b"))},
		`{"assistant_text":"hi","tool_calls_ref":"` + string(ref("a")) + `","reasoning_ref":"` + string(ref("b")) + `"}`},
	{"tool_calls", "a plain list",
		contract.ToolCallList{{CallID: "call_1", ToolName: "calc", ArgumentsRef: ref("a"), ProviderCallID: contract.Some("toolu_1")}, {CallID: "call_2", ToolName: "calc", ArgumentsRef: ref("b")}},
		`[{"call_id":"call_1","tool_name":"calc","arguments_ref":"` + string(ref("a")) + `","provider_call_id":"toolu_1"},` +
			`{"call_id":"call_2","tool_name":"calc","arguments_ref":"` + string(ref("b")) + `","provider_call_id":null}]`},
	{"tool_call", "one of them", contract.ToolCall{CallID: "call_1", ToolName: "calc", ArgumentsRef: ref("a")},
		`{"call_id":"call_1","tool_name":"calc","arguments_ref":"` + string(ref("a")) + `","provider_call_id":null}`},
	{"run_config", "a session's too", contract.RunConfig{Provider: "p", Model: "m", MaxTokens: contract.Some[uint64](9)},
		`{"provider":"p","model":"m","reasoning_effort":null,"max_tokens":9}`},
	{"step_context", "what a step adds", contract.StepContext{MessageRefs: []canon.Hash{ref("a")}, Temperature: contract.Some[contract.Decimal]("1")},
		`{"correlation_id":null,"message_refs":["` + string(ref("a")) + `"],"temperature":"1","tool_refs":null,"tool_choice":null,"stop_sequences":null,` +
			`"metadata":null,"provider_options_ref":null,"response_format_ref":null,"api_key":null}`},
	{"usage", "counts", contract.TokenUsage{Prompt: 1, Completion: 2}, `{"prompt":1,"completion":2}`},
	{"usage_details", "counts", contract.UsageDetails{}, `{"reasoning_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null}`},
	{"finish", "a word", contract.FinishReason{Reason: "stop"}, `{"reason":"stop","raw":null}`},
	{"warning", "a code and a text", contract.Warning{Code: "c", Message: "m"}, `{"code":"c","message":"m"}`},
	{"format", "a schema keeps its numbers", contract.ResponseFormat{Type: "json_schema", JSONSchema: json.RawMessage(`{"maximum":9223372036854775807}`), Strict: contract.Some(false)},
		`{"type":"json_schema","json_schema":{"maximum":9223372036854775807},"strict":false}`},
}

// schemaOf returns the name of the schema for a pointer's type, or "".
func schemaOf(to any) string {
	switch to.(type) {
	case *contract.GenerateParams:
		return "llm-params"
	case *contract.GenerateReceipt:
		return "llm-receipt"
	case *contract.OutputEnvelope:
		return "llm-envelope"
	case *contract.ToolCallList:
		return "llm-tool-calls"
	}
	return ""
}

func TestShapes(t *testing.T) {
	for _, test := range shapes {
		t.Run(test.name, func(t *testing.T) {
			text, err := json.Marshal(test.value)
			require.NoError(t, err)
			require.Equal(t, test.text, string(text), test.why)
			if schema := schemaOf(blank(test.value)); schema != "" {
				require.NoError(t, schematest.Validate(schema, text))
			}

			again := blank(test.value)
			require.NoError(t, json.Unmarshal(text, again))
			require.Equal(t, test.value, deref(again))

			// Null members may be left out. Other members may not be added.
			if text[0] == '{' {
				again = blank(test.value)
				require.NoError(t, json.Unmarshal(withoutNulls(t, text), again))
				require.Equal(t, test.value, deref(again))
				extra := append([]byte(`{"no_member":1,`), text[1:]...)
				require.ErrorIs(t, json.Unmarshal(extra, blank(test.value)), contract.ErrUnknown)
			}
		})
	}
}

// TestRequiredMembers removes each member that is not null from each shape.
func TestRequiredMembers(t *testing.T) {
	optional := map[string]bool{"$value": true}
	for _, test := range shapes {
		if strings.HasSuffix(test.name, "_full") || !strings.HasPrefix(test.text, "{") {
			continue // these set optional members
		}
		switch test.value.(type) {
		case contract.RuntimeArgs, contract.OutputEnvelope, contract.UsageDetails:
			continue // its members are all optional
		}
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(test.text), &members))
		for name, value := range members {
			if string(value) == "null" || optional[name] || name == "max_tokens" || name == "temperature" || name == "strict" {
				continue
			}
			for _, null := range []bool{false, true} {
				less := map[string]json.RawMessage{}
				maps.Copy(less, members)
				if delete(less, name); null {
					less[name] = json.RawMessage("null")
				}
				text, err := json.Marshal(less)
				require.NoError(t, err)
				err = json.Unmarshal(text, blank(test.value))
				require.ErrorIs(t, err, contract.ErrMissing, "%s without %s", test.name, name)
				if schema := schemaOf(blank(test.value)); schema != "" {
					require.Error(t, schematest.Validate(schema, text), "%s without %s", test.name, name)
				}
				require.ErrorContains(t, err, name)
			}
		}
	}
}

func TestInvalidJSON(t *testing.T) {
	params := func(member, value string) string {
		text := shapes[0].text
		start := strings.Index(text, `"`+member+`":`) + len(member) + 3
		end := start + strings.IndexAny(text[start:], ",}")
		if member == "message_refs" {
			end = start + strings.IndexByte(text[start:], ']') + 1
		}
		return text[:start] + value + text[end:]
	}
	for _, test := range []struct {
		name, why string
		into      any
		text      string
		want      string
	}{
		{"not_json", "one error with its place", &contract.GenerateParams{}, `{"provider":`, "unexpected end of JSON input"},
		{"repeated", "a member twice says two things", &contract.RunConfig{}, `{"provider":"a","provider":"b","model":"m"}`, "run config: /provider: json: duplicate member name"},
		{"case", "names are exact", &contract.RunConfig{}, `{"Provider":"a","provider":"b","model":"m"}`, "run config: /Provider: unknown: is no member of this type"},
		{"not_object", "a list is no record", &contract.RunConfig{}, `[]`, "run config: type: must be an object, is a list"},
		{"number_as_text", "texts are texts", &contract.GenerateParams{}, params("model", "1"), "generate params: /model: type: must be a text, is a number"},
		{"blank", "a blank name is none", &contract.GenerateParams{}, params("provider", `" "`), "generate params: /provider: missing: is blank"},
		{"decimal_number", "decimals are texts", &contract.GenerateParams{}, params("temperature", "0.2"), "generate params: /runtime/temperature: type: must be a decimal as a text, is a number"},
		{"decimal_spelling", "no exponent without digits", &contract.GenerateParams{}, params("temperature", `"1e"`), `generate params: /runtime/temperature: decimal: must be a decimal such as 0.2 or 1e-3, is "1e"`},
		{"decimal_newline", "the whole text is matched", &contract.GenerateParams{}, params("temperature", `"1\n"`), `is "1\n"`},
		{"negative", "a nat is natural", &contract.GenerateParams{}, params("max_tokens", "-1"), "generate params: /runtime/max_tokens: type: must be a natural number of at most 9007199254740992, is -1"},
		{"fraction", "a nat is whole", &contract.GenerateParams{}, params("max_tokens", "1.5"), "is 1.5"},
		{"too_large", "two numbers must not share a hash", &contract.GenerateParams{}, params("max_tokens", "9007199254740993"), "is 9007199254740993"},
		{"hash", "refs are hashes", &contract.GenerateParams{}, params("message_refs", `["sha256:AA"]`), `generate params: /message_refs/0: hash: must be sha256: and 64 lower-case hexadecimal digits, is "sha256:AA"`},
		{"effort_blank", "null leaves it unset", &contract.GenerateParams{}, params("reasoning_effort", `""`), "generate params: /runtime/reasoning_effort: blank: must not be blank"},
		{"metadata_values", "a map of texts", &contract.GenerateParams{}, params("metadata", `{"a/b":1}`), "generate params: /runtime/metadata/a~1b: type: must be a text, is a number"},
		{"choice_tag", "four choices there are", &contract.ToolChoice{}, `{"$tag":"auto"}`, `tool choice: /$tag: choice: must be one of Auto, None, Required, Tool, is "auto"`},
		{"choice_empty", "an empty tag is not one of them", &contract.ToolChoice{}, `{"$tag":""}`, `tool choice: /$tag: choice: must be one of Auto, None, Required, Tool, is ""`},
		{"choice_value", "a tag without a value", &contract.ToolChoice{}, `{"$tag":"Auto","$value":{}}`, "tool choice: /$value: unknown: Auto has no value"},
		{"choice_name", "which tool", &contract.ToolChoice{}, `{"$tag":"Tool"}`, "tool choice: /$value: missing: is required with Tool"},
		{"choice_name_blank", "which tool", &contract.ToolChoice{}, `{"$tag":"Tool","$value":{"name":""}}`, "tool choice: /$value/name: missing: is blank"},
		{"choice_sugar", "one spelling only", &contract.ToolChoice{}, `{"Auto":{}}`, "tool choice: /$tag: missing: is required"},
		{"literal_key", "params are kept", &contract.GenerateParams{}, params("api_key", `{"$tag":"literal","$value":"sk-secret"}`), "generate params: /api_key: literal: params are kept, so an API key must not stand in them: name it as a secret ref"},
		{"format_schema", "json_schema needs one", &contract.ResponseFormat{}, `{"type":"json_schema"}`, "response format: /json_schema: missing: is required with json_schema"},
		{"format_extra", "a schema that is not used", &contract.ResponseFormat{}, `{"type":"text","json_schema":{}}`, "go with the type json_schema only"},
		{"format_type", "three types there are", &contract.ResponseFormat{}, `{"type":"json_object"}`, `must be one of json, json_schema, text, is "json_object"`},
		{"format_no_object", "a schema is an object", &contract.ResponseFormat{}, `{"type":"json_schema","json_schema":true}`, "response format: /json_schema: type: must be an object, is a boolean"},
		{"strict", "yes or no", &contract.ResponseFormat{}, `{"type":"json_schema","json_schema":{},"strict":1}`, "response format: /strict: type: must be a boolean, is a number"},
		{"list", "a list of calls", &contract.ToolCallList{}, `{}`, "tool call list: type: must be a list, is an object"},
		{"map", "metadata is a map", &contract.GenerateParams{}, params("metadata", `[]`), "generate params: /runtime/metadata: type: must be an object, is a list"},
		{"null_in_list", "no ref", &contract.GenerateParams{}, params("message_refs", `[null]`), "generate params: /message_refs/0: type: must be a hash, is null"},
		{"decimal_alone", "also on its own", new(contract.Decimal), `"x"`, "decimal: decimal: must be"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := json.Unmarshal([]byte(test.text), test.into)
			require.ErrorContains(t, err, test.want, test.why)
			require.NotContains(t, err.Error(), "sk-secret")
			if schema := schemaOf(test.into); schema != "" && json.Valid([]byte(test.text)) {
				require.Error(t, schematest.Validate(schema, []byte(test.text)), "the schema too")
			}
		})
	}
}

// TestAllViolations proves that a reader reports all violations, in order.
func TestAllViolations(t *testing.T) {
	var p contract.GenerateParams
	err := json.Unmarshal([]byte(`{"provider":"","model":7,"message_refs":[1],"runtime":{"zz":1,"temperature":"x"}}`), &p)
	var all *contract.Error
	require.ErrorAs(t, err, &all)
	var pointers []string
	for _, v := range all.Violations {
		pointers = append(pointers, v.Pointer+" "+v.Rule)
	}
	require.Equal(t, []string{"/message_refs/0 type", "/model type", "/provider missing", "/runtime/temperature decimal", "/runtime/zz unknown"}, pointers)
	require.True(t, errors.Is(err, contract.ErrMissing) && errors.Is(err, contract.ErrUnknown))
	require.False(t, errors.Is(err, contract.ErrConflict))
	require.Zero(t, p, "nothing is read of what is wrong")
}

func TestDecimals(t *testing.T) {
	for _, text := range []string{"0", "-0", "+1", "007", "0.20", "1e5", "1E+5", "-1.5e-10", "123456789012345678901234567890.1"} {
		var d contract.Decimal
		require.NoError(t, json.Unmarshal([]byte(`"`+text+`"`), &d))
		require.Equal(t, text, string(d), "kept as it is written")
	}
	for _, text := range []string{"", ".5", "5.", "1e", "e5", "0x1", "1_0", "NaN", "Infinity", " 1", "1 ", "--1", "1,5", "١"} {
		var d contract.Decimal
		require.Error(t, json.Unmarshal([]byte(`"`+text+`"`), &d), text)
	}
}

func TestLiteralIsNotShown(t *testing.T) {
	key := contract.TextOrSecretRef{Literal: contract.Some("sk-secret")}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d"} {
		require.NotContains(t, fmt.Sprintf(format, key), "sk-secret")
		require.NotContains(t, fmt.Sprintf(format, &key), "sk-secret")
		require.NotContains(t, fmt.Sprintf(format, contract.GenerateParams{APIKey: &key}), "sk-secret")
	}
	require.Equal(t, "secret openai@2", fmt.Sprint(contract.Secret("openai", 2)))
	require.Equal(t, "nothing", fmt.Sprint(contract.TextOrSecretRef{}))

	for _, invalid := range []contract.TextOrSecretRef{{}, {Literal: contract.Some("x"), Secret: &contract.SecretRef{}}} {
		_, err := json.Marshal(invalid)
		require.Error(t, err)
	}
}
