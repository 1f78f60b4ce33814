package contract

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

func aRequest(ref, name, input string) modelio.Part {
	part := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: name, Ref: ref}}
	if input != "" {
		part.ToolRequest.Input = json.RawMessage(input)
	}
	return part
}

func aResponse(ref, name string) modelio.Part {
	return modelio.Part{ToolResponse: &modelio.ToolResponse{Name: name, Ref: ref}}
}

func typed(part modelio.Part, kind string) modelio.Part {
	part.Metadata = modelio.Object{"type": json.RawMessage(`"` + kind + `"`)}
	return part
}

func fromModel(parts ...modelio.Part) modelio.Message {
	return modelio.Message{Role: modelio.RoleModel, Content: parts}
}

func fromTool(parts ...modelio.Part) modelio.Message {
	return modelio.Message{Role: modelio.RoleTool, Content: parts}
}

func sumOf(text string) string { return string(canon.Sum([]byte(text))) }

func TestEnvelope(t *testing.T) {
	history := []modelio.Message{fromModel(aRequest("toolu_a", "f", "{}")), fromTool(aResponse("toolu_a", "f"))}
	for _, test := range []struct {
		name, why string
		history   []modelio.Message
		answer    []modelio.Part
		blobs     []string
	}{
		{"nothing", "no part at all", nil, nil, []string{
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":null}`}},
		{"text", "its parts are one text", nil, []modelio.Part{modelio.TextPart("a <b> "), modelio.TextPart("c")}, []string{
			`{"assistant_text":"a <b> c","reasoning_ref":null,"tool_calls_ref":null}`}},
		{"empty_text", "is none", nil, []modelio.Part{modelio.TextPart(""), modelio.ReasoningPart("")}, []string{
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":null}`}},
		{"reasoning", "its parts are paragraphs", nil, []modelio.Part{modelio.ReasoningPart("one"), modelio.TextPart("t"), modelio.ReasoningPart(""), modelio.ReasoningPart("two")}, []string{
			"one\n\ntwo",
			`{"assistant_text":"t","reasoning_ref":"` + sumOf("one\n\ntwo") + `","tool_calls_ref":null}`}},
		{"calls", "each with its arguments, in canonical form", nil, []modelio.Part{aRequest("toolu_b", "f", `{"b": 1.0, "a": 9223372036854775807}`), aRequest("", "g", "")}, []string{
			`{"a":{"$number":"9223372036854775807"},"b":1}`,
			`{}`,
			`[{"arguments_ref":"` + sumOf(`{"a":{"$number":"9223372036854775807"},"b":1}`) + `","call_id":"call_1","provider_call_id":"toolu_b","tool_name":"f"},` +
				`{"arguments_ref":"` + sumOf(`{}`) + `","call_id":"call_2","provider_call_id":null,"tool_name":"g"}]`,
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":"LIST"}`}},
		{"cut_arguments", "are a text", nil, []modelio.Part{aRequest("c", "f", `"{\"a\":"`)}, []string{
			`"{\"a\":"`,
			`[{"arguments_ref":"` + sumOf(`"{\"a\":"`) + `","call_id":"call_1","provider_call_id":"c","tool_name":"f"}]`,
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":"LIST"}`}},
		{"later_turn", "numbers go on", history, []modelio.Part{aRequest("toolu_b", "f", "{}")}, []string{
			`{}`,
			`[{"arguments_ref":"` + sumOf(`{}`) + `","call_id":"call_2","provider_call_id":"toolu_b","tool_name":"f"}]`,
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":"LIST"}`}},
		{"providers_tools", "are not the caller's to call, but count", nil, []modelio.Part{
			typed(aRequest("srv_a", "web_search", "{}"), "server_tool_use"), typed(aResponse("srv_a", "web_search"), "web_search_tool_result"),
			typed(aRequest("mcp_a", "m", "{}"), "mcp_tool_use"), typed(aRequest("c", "mine", `"x"`), "custom"),
		}, []string{
			`"x"`,
			`[{"arguments_ref":"` + sumOf(`"x"`) + `","call_id":"call_3","provider_call_id":"c","tool_name":"mine"}]`,
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":"LIST"}`}},
		{"answered_calls", "are not the caller's to call either", nil, []modelio.Part{
			aRequest("a", "search", "{}"), aResponse("a", "search"), aRequest("c", "mine", `"x"`),
		}, []string{
			`"x"`,
			`[{"arguments_ref":"` + sumOf(`"x"`) + `","call_id":"call_2","provider_call_id":"c","tool_name":"mine"}]`,
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":"LIST"}`}},
		{"custom_calls", "are the caller's too, by the provider's ids", nil, []modelio.Part{{Custom: modelio.Object{
			"type": json.RawMessage(`"computer_call"`), "call_id": json.RawMessage(`"c"`), "status": json.RawMessage(`"completed"`),
			"action": json.RawMessage(`{"type":"wait"}`),
		}}}, []string{
			`{"action":{"type":"wait"}}`,
			`[{"arguments_ref":"` + sumOf(`{"action":{"type":"wait"}}`) + `","call_id":"c","provider_call_id":null,"tool_name":"computer_call"}]`,
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":"LIST"}`}},
		{"other_parts", "are in the raw output", nil, []modelio.Part{modelio.MediaPart("image/png", "data:,"), {Custom: modelio.Object{}}}, []string{
			`{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":null}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := envelopeOf(numberCalls(test.history, firstOf(&modelio.Response{Candidates: []modelio.Candidate{
				{Message: fromModel(test.answer...)}, {Message: fromModel(modelio.TextPart("second"))},
			}})))
			require.NoError(t, err)
			want := test.blobs
			last := len(want) - 1
			if got.ToolCallsRef != nil {
				require.Equal(t, sumOf(want[last-1]), string(*got.ToolCallsRef))
				want[last] = `{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":"` + string(*got.ToolCallsRef) + `"}`
			}
			var blobs []string
			for _, blob := range got.blobs {
				blobs = append(blobs, string(blob))
			}
			require.ElementsMatch(t, want, blobs, test.why)
			require.Equal(t, sumOf(want[last]), string(got.ref))
		})
	}
}

func TestEnvelopeError(t *testing.T) {
	got, err := envelopeOf(firstOf(&modelio.Response{Error: &modelio.ProviderError{Message: "no"}}), nil)
	require.NoError(t, err)
	require.Equal(t, `{"assistant_text":null,"reasoning_ref":null,"tool_calls_ref":null}`, string(got.blobs[got.ref]))
	require.Nil(t, got.ToolCallsRef)

	_, err = envelopeOf(numberCalls(nil, fromModel(aRequest("a", "f", `{"a":1,"a":2}`))))
	require.ErrorIs(t, err, canon.ErrDuplicate)
	require.ErrorContains(t, err, "arguments of tool call call_1 of f: ")
}

// TestNumberCalls tests the refs of an answer's message. No two calls of the conversation may share one.
func TestNumberCalls(t *testing.T) {
	refs := func(m modelio.Message) (refs []string) {
		for _, part := range m.Content {
			switch {
			case part.ToolRequest != nil:
				refs = append(refs, part.ToolRequest.Ref)
			case part.ToolResponse != nil:
				refs = append(refs, "= "+part.ToolResponse.Ref)
			}
		}
		return refs
	}
	for _, test := range []struct {
		name, why string
		history   []modelio.Message
		answer    modelio.Message
		want      []string
		ids       map[string]string
	}{
		{"no_calls", "nothing to number", nil, fromModel(modelio.TextPart("a")), nil, map[string]string{}},
		{"first", "from one", nil, fromModel(aRequest("x", "f", ""), aRequest("y", "f", "")), []string{"call_1", "call_2"}, map[string]string{"call_1": "x", "call_2": "y"}},
		{"numbered_history", "its own refs", []modelio.Message{fromModel(aRequest("call_1", "f", "")), fromTool(aResponse("call_1", "f"))}, fromModel(aRequest("x", "f", "")), []string{"call_2"}, map[string]string{"call_2": "x"}},
		{"cut_history", "whose first calls are gone", []modelio.Message{fromModel(aRequest("call_4", "f", ""), aRequest("call_5", "f", "")), fromTool(aResponse("call_4", "f"), aResponse("call_5", "f"))}, fromModel(aRequest("x", "f", ""), aRequest("y", "f", "")), []string{"call_6", "call_7"}, map[string]string{"call_6": "x", "call_7": "y"}},
		{"cut_to_a_result", "without its call", []modelio.Message{fromTool(aResponse("call_9", "f"))}, fromModel(aRequest("", "f", "")), []string{"call_10"}, map[string]string{}},
		{"look_alikes", "are refs of somebody else", []modelio.Message{fromModel(aRequest("call_007", "f", ""), aRequest("call_-3", "f", ""), aRequest("call_99999999999", "f", ""), aRequest("call_", "f", ""))}, fromModel(aRequest("x", "f", "")), []string{"call_5"}, map[string]string{"call_5": "x"}},
		{"same_id_again", "as providers do that count per turn", []modelio.Message{fromModel(aRequest("a", "f", "")), fromTool(aResponse("a", "f"))}, fromModel(aRequest("a", "f", "")), []string{"call_2"}, map[string]string{"call_2": "a"}},
		{"own_results", "of the provider's tools", nil, fromModel(aRequest("s", "web", ""), aResponse("s", "web")), []string{"call_1", "= call_1"}, map[string]string{"call_1": "s"}},
		{"result_of_history", "the history has its ref still", []modelio.Message{fromModel(aRequest("s", "web", ""))}, fromModel(aResponse("s", "web"), aRequest("t", "f", "")), []string{"= s", "call_2"}, map[string]string{"call_2": "t"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, err := json.Marshal(append(test.history, test.answer))
			require.NoError(t, err)
			got, ids := numberCalls(test.history, test.answer)
			require.Equal(t, test.want, refs(got), test.why)
			require.Equal(t, test.ids, ids)
			after, err := json.Marshal(append(test.history, test.answer))
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), "what was passed is not changed")
		})
	}
}

// BenchmarkManyCalls finds the calls of a long answer that the caller must run.
func BenchmarkManyCalls(b *testing.B) {
	parts := make([]modelio.Part, 100_000)
	for i := range parts {
		parts[i].ToolRequest = &modelio.ToolRequest{Name: "pay", Ref: fmt.Sprint("call_", i)}
	}
	for b.Loop() {
		require.Len(b, commonParts(parts), len(parts))
		restoreOwn(parts, nil)
	}
}
