package genkittraceforge_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio"
)

func decode[T any](t testing.TB, text string) *T {
	t.Helper()
	v := new(T)
	require.NoError(t, json.Unmarshal([]byte(text), v))
	return v
}

func canonical(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	text, err = canon.KeepNumbers(text)
	require.NoError(t, err)
	return string(text)
}

// throughGenkit returns what comes back of a part that goes to Genkit's types.
func throughGenkit(t *testing.T, part string) (*ai.Part, string) {
	t.Helper()
	chunk, err := genkittraceforge.ToChunk(decode[modelio.GenerateResponseChunk](t, `{"content":[`+part+`]}`))
	require.NoError(t, err)
	back, err := genkittraceforge.FromChunk(chunk)
	require.NoError(t, err)
	return chunk.Content[0], canonical(t, back.Content[0])
}

func TestParts(t *testing.T) {
	for _, tc := range []struct {
		name, part string
		want       ai.Part
	}{
		{"text", `{"text":"a"}`, *ai.NewTextPart("a")},
		{"empty_text", `{"text":""}`, *ai.NewTextPart("")},
		{"text_metadata", `{"text":"a","metadata":{"k":{"n":1.5,"b":null}}}`,
			ai.Part{Kind: ai.PartText, ContentType: "plain/text", Text: "a", Metadata: map[string]any{"k": map[string]any{"n": 1.5, "b": nil}}}},
		{"json_text", `{"text":"{}","contentType":"application/json"}`, *ai.NewJSONPart("{}")},
		{"reasoning", `{"reasoning":"r","metadata":{"signature":"c2ln"}}`, *ai.NewReasoningPart("r", []byte("sig"))},
		{"reasoning_unsigned", `{"reasoning":"","metadata":{"signature":"not base64"}}`,
			ai.Part{Kind: ai.PartReasoning, ContentType: "plain/text", Metadata: map[string]any{"signature": "not base64"}}},
		{"media", `{"media":{"contentType":"image/png","url":"data:,"}}`, *ai.NewMediaPart("image/png", "data:,")},
		{"data", `{"data":"x"}`, *ai.NewDataPart("x")},
		{"resource", `{"resource":{"uri":"u"}}`, *ai.NewResourcePart("u")},
		{"custom", `{"custom":{"a":[1]}}`, *ai.NewCustomPart(map[string]any{"a": []any{1.0}})},
		{"custom_empty", `{"custom":{}}`, *ai.NewCustomPart(map[string]any{})},
		{"custom_beside_text", `{"text":"a","custom":{"b":true}}`, ai.Part{Kind: ai.PartText, ContentType: "plain/text", Text: "a", Custom: map[string]any{"b": true}}},
		{"tool_request", `{"toolRequest":{"name":"t","ref":"r","input":{"a":1},"partial":true}}`,
			*ai.NewToolRequestPart(&ai.ToolRequest{Name: "t", Ref: "r", Input: map[string]any{"a": 1.0}, Partial: true})},
		{"tool_request_large", `{"toolRequest":{"name":"t","input":{"a":9007199254740993,"b":-9007199254740991,"c":1e400,"d":1e2}}}`,
			*ai.NewToolRequestPart(&ai.ToolRequest{Name: "t", Input: map[string]any{"a": json.Number("9007199254740993"), "b": -9007199254740991.0, "c": json.Number("1e400"), "d": 100.0}})},
		{"tool_request_null", `{"toolRequest":{"name":"t","input":null}}`, *ai.NewToolRequestPart(&ai.ToolRequest{Name: "t", Input: json.RawMessage("null")})},
		{"tool_request_fragment", `{"toolRequest":{"name":"","input":"{\"ci"}}`, *ai.NewToolRequestPart(&ai.ToolRequest{Input: `{"ci`})},
		{"tool_response", `{"toolResponse":{"name":"t","output":[],"content":[{"text":""}]}}`,
			*ai.NewToolResponsePart(&ai.ToolResponse{Name: "t", Output: []any{}, Content: []*ai.Part{ai.NewTextPart("")}})},
		{"tool_response_null", `{"toolResponse":{"name":"t","output":null}}`, *ai.NewToolResponsePart(&ai.ToolResponse{Name: "t", Output: json.RawMessage("null")})},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, back := throughGenkit(t, tc.part)
			require.Equal(t, &tc.want, got)
			require.Equal(t, canonical(t, json.RawMessage(tc.part)), back)
		})
	}
}

// TestParts_Vectors: the parts that Genkit's own JSON loses something of come through, or are
// refused where Genkit's fields cannot hold them.
func TestParts_Vectors(t *testing.T) {
	refused := map[string]string{
		`{"data":{"a":1}}`:              "data: json: cannot unmarshal object",
		`{"custom":{"a":1},"data":"y"}`: "genkit has no place for data",
		`{"text":"a","unknown":1}`:      "genkit has no place for unknown",
	}
	vectors := decode[struct{ Cases []struct{ In string } }](t, string(vector.Text(t, "genkit/go_v1.4.0_part_roundtrip.json")))
	require.NotEmpty(t, vectors.Cases)
	for _, tc := range vectors.Cases {
		if want := refused[tc.In]; want != "" {
			_, err := genkittraceforge.ToChunk(decode[modelio.GenerateResponseChunk](t, `{"content":[`+tc.In+`]}`))
			require.ErrorContains(t, err, want)
			continue
		}
		_, back := throughGenkit(t, tc.In)
		require.Equal(t, canonical(t, json.RawMessage(strings.Replace(tc.In, `,"partial":false`, "", 1))), back, "false is the same as none")
	}
}

func TestRequest(t *testing.T) {
	text := `{"config":{"seed":9007199254740993,"temperature":0},"docs":[{"content":[{"text":"d"}],"metadata":{"ref":"1"}}],
		"messages":[{"role":"system","content":[],"metadata":{"k":1}},{"role":"user","content":[{"text":"hi"}]}],
		"output":{"constrained":true,"contentType":"application/json","format":"json","schema":{"type":"object"}},"toolChoice":"required",
		"tools":[{"name":"b","description":"d","inputSchema":{"maximum":9223372036854775807},"outputSchema":{},"metadata":{"m":1}},{"name":"a"}]}`
	genkit, err := genkittraceforge.ToRequest(decode[modelio.GenerateRequest](t, text))
	require.NoError(t, err)
	require.Equal(t, ai.ToolChoiceRequired, genkit.ToolChoice)
	require.Equal(t, map[string]any{"seed": json.Number("9007199254740993"), "temperature": 0.0}, genkit.Config)
	require.Equal(t, "d", genkit.Docs[0].Content[0].Text)
	back, err := genkittraceforge.FromRequest(genkit)
	require.NoError(t, err)
	require.Equal(t, canonical(t, json.RawMessage(text)), canonical(t, back))

	genkit, err = genkittraceforge.ToRequest(decode[modelio.GenerateRequest](t, `{"messages":[],"output":{"constrained":false}}`))
	require.NoError(t, err)
	require.Equal(t, &ai.ModelRequest{Messages: []*ai.Message{}, Output: &ai.ModelOutputConfig{}}, genkit)
}

// TestRequest_Config: Genkit's configuration may be any Go value.
func TestRequest_Config(t *testing.T) {
	type config struct {
		Temperature float64 `json:"temperature"`
		Stop        string  `json:"stop,omitempty"`
	}
	for _, tc := range []struct {
		name   string
		config any
		want   string
	}{
		{"none", nil, `{"messages":[]}`},
		{"struct", config{}, `{"config":{"temperature":0},"messages":[]}`},
		{"pointer", &config{Stop: "<"}, `{"config":{"stop":"<","temperature":0},"messages":[]}`},
		{"nil_pointer", (*config)(nil), `{"messages":[]}`},
		{"no_object", "none", `{"config":"none","messages":[]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := genkittraceforge.FromRequest(&ai.ModelRequest{Config: tc.config})
			require.NoError(t, err)
			require.Equal(t, tc.want, canonical(t, got))
			genkit, err := genkittraceforge.ToRequest(got)
			require.NoError(t, err)
			again, err := genkittraceforge.FromRequest(genkit)
			require.NoError(t, err)
			require.Equal(t, tc.want, canonical(t, again))
		})
	}
}

func TestResponse(t *testing.T) {
	original := &ai.ModelResponse{
		Message:       &ai.Message{Role: ai.RoleModel, Content: []*ai.Part{ai.NewReasoningPart("r", []byte("sig")), ai.NewTextPart("")}},
		FinishReason:  ai.FinishReasonUnknown,
		FinishMessage: "m",
		Custom:        map[string]any{"a": "<"},
		Raw:           []any{1.0},
		Operation:     &ai.Operation{Id: "op", Action: "a", Done: true},
		Usage: &ai.GenerationUsage{
			InputTokens: 1, OutputTokens: 2, TotalTokens: 3, ThoughtsTokens: 4, CachedContentTokens: 5, Custom: map[string]float64{"x": 0.5},
		},
	}
	around := *original
	around.Request, around.LatencyMs = &ai.ModelRequest{}, 1.5
	converted, err := genkittraceforge.FromResponse(&around)
	require.NoError(t, err)
	require.Equal(t, modelio.FinishOther, converted.FinishReason)
	require.Equal(t, `{"custom":{"a":"<"},"finishMessage":"m","finishReason":"other","finishReasonRaw":"unknown",`+
		`"message":{"content":[{"metadata":{"signature":"c2ln"},"reasoning":"r"},{"text":""}],"role":"model"},"operation":{"action":"a","done":true,"id":"op"},"raw":[1],`+
		`"usage":{"cachedContentTokens":5,"custom":{"x":0.5},"inputTokens":1,"outputTokens":2,"thoughtsTokens":4,"totalTokens":3}}`, canonical(t, converted))

	again, err := genkittraceforge.ToResponse(decode[modelio.GenerateResponse](t, canonical(t, converted)))
	require.NoError(t, err)
	require.Equal(t, original, again)

	for _, text := range []string{`{}`, `{"custom":null}`, `{"finishReason":"length","usage":{}}`, `{"message":{"role":"model","content":[]}}`} {
		genkit, err := genkittraceforge.ToResponse(decode[modelio.GenerateResponse](t, text))
		require.NoError(t, err)
		back, err := genkittraceforge.FromResponse(genkit)
		require.NoError(t, err)
		require.Equal(t, canonical(t, json.RawMessage(text)), canonical(t, back))
	}
}

func TestChunk(t *testing.T) {
	original := &ai.ModelResponseChunk{Role: ai.RoleModel, Index: 2, Aggregated: true, Custom: map[string]any{"a": nil}, Content: []*ai.Part{ai.NewTextPart("a")}}
	converted, err := genkittraceforge.FromChunk(original)
	require.NoError(t, err)
	require.Equal(t, `{"aggregated":true,"content":[{"text":"a"}],"custom":{"a":null},"index":2,"role":"model"}`, canonical(t, converted))
	again, err := genkittraceforge.ToChunk(converted)
	require.NoError(t, err)
	require.Equal(t, original, again)
}

func TestFrom_Errors(t *testing.T) {
	for _, tc := range []struct {
		name string
		req  ai.ModelRequest
		want string
	}{
		{"nil_message", ai.ModelRequest{Messages: []*ai.Message{nil}}, "from genkit request: message 0: is nil"},
		{"nil_part", ai.ModelRequest{Messages: []*ai.Message{{Content: []*ai.Part{nil}}}}, "from genkit request: message 0: part 0: is nil"},
		{"nil_tool", ai.ModelRequest{Tools: []*ai.ToolDefinition{nil}}, "from genkit request: tool 0: is nil"},
		{"nil_doc", ai.ModelRequest{Docs: []*ai.Document{nil}}, "from genkit request: doc 0: is nil"},
		{"kind", ai.ModelRequest{Messages: []*ai.Message{{Content: []*ai.Part{{Kind: 99}}}}}, "from genkit request: message 0: part 0: unknown kind 99"},
		{"tool_request", ai.ModelRequest{Messages: []*ai.Message{{Content: []*ai.Part{{Kind: ai.PartToolRequest}}}}}, "from genkit request: message 0: part 0: tool request part without a tool request"},
		{"tool_response", ai.ModelRequest{Messages: []*ai.Message{{Content: []*ai.Part{{Kind: ai.PartToolResponse}}}}}, "from genkit request: message 0: part 0: tool response part without a tool response"},
		{"resource", ai.ModelRequest{Messages: []*ai.Message{{Content: []*ai.Part{{Kind: ai.PartResource}}}}}, "from genkit request: message 0: part 0: resource part without a resource"},
		{"metadata", ai.ModelRequest{Messages: []*ai.Message{{Metadata: map[string]any{"f": math.NaN()}}}}, "from genkit request: message 0: metadata: f: json: unsupported value: NaN"},
		{"config", ai.ModelRequest{Config: func() {}}, "from genkit request: config: json: unsupported type: func()"},
		{"schema", ai.ModelRequest{Output: &ai.ModelOutputConfig{Schema: map[string]any{"f": math.NaN()}}}, "from genkit request: output: schema: json: unsupported value: NaN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := genkittraceforge.FromRequest(&tc.req)
			require.EqualError(t, err, tc.want)
		})
	}
	_, err := genkittraceforge.FromResponse(&ai.ModelResponse{Raw: make(chan int)})
	require.EqualError(t, err, "from genkit response: raw: json: unsupported type: chan int")
	_, err = genkittraceforge.FromChunk(&ai.ModelResponseChunk{Custom: make(chan int)})
	require.EqualError(t, err, "from genkit chunk: custom: json: unsupported type: chan int")
}

func TestTo_Errors(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"request", `{"messages":[],"z":1,"a":2}`, "to genkit request: genkit has no place for a, z"},
		{"message", `{"messages":[{"role":"user","content":[],"id":1}]}`, "to genkit request: message 0: genkit has no place for id"},
		{"part", `{"messages":[{"role":"user","content":[{"text":"a","id":1}]}]}`, "to genkit request: message 0: part 0: genkit has no place for id"},
		{"media", `{"messages":[{"role":"user","content":[{"media":{"url":"u","id":1}}]}]}`, "to genkit request: message 0: part 0: genkit has no place for id"},
		{"tool_request", `{"messages":[{"role":"model","content":[{"toolRequest":{"name":"t","id":1}}]}]}`, "to genkit request: message 0: part 0: genkit has no place for id"},
		{"tool_response", `{"messages":[{"role":"tool","content":[{"toolResponse":{"name":"t","id":1}}]}]}`, "to genkit request: message 0: part 0: genkit has no place for id"},
		{"resource", `{"messages":[{"role":"user","content":[{"resource":1}]}]}`, "to genkit request: message 0: part 0: resource: json: cannot unmarshal number into Go value of type ai.ResourcePart"},
		{"tool", `{"messages":[],"tools":[{"name":"t","key":"k"}]}`, "to genkit request: tool 0: genkit has no place for key"},
		{"output", `{"messages":[],"output":{"strict":true}}`, "to genkit request: output: genkit has no place for strict"},
		{"schema", `{"messages":[],"output":{"schema":true}}`, "to genkit request: output: schema: a schema in Genkit is an object, not true"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := genkittraceforge.ToRequest(decode[modelio.GenerateRequest](t, tc.text))
			require.EqualError(t, err, tc.want)
		})
	}
	_, err := genkittraceforge.ToResponse(decode[modelio.GenerateResponse](t, `{"candidates":[]}`))
	require.EqualError(t, err, "to genkit response: genkit has no place for candidates")
	_, err = genkittraceforge.ToResponse(decode[modelio.GenerateResponse](t, `{"usage":{"cacheWriteTokens":1}}`))
	require.EqualError(t, err, "to genkit response: usage: genkit has no place for cacheWriteTokens")
	_, err = genkittraceforge.ToResponse(decode[modelio.GenerateResponse](t, `{"usage":{"custom":{"x":"many"}}}`))
	require.ErrorContains(t, err, "to genkit response: usage: custom: json: cannot unmarshal string")
	_, err = genkittraceforge.ToChunk(decode[modelio.GenerateResponseChunk](t, `{"content":[],"id":1}`))
	require.EqualError(t, err, "to genkit chunk: genkit has no place for id")
}
