package modelio_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
)

// newByType makes an empty value of each type that has a JSON form.
var newByType = map[string]func() any{
	"message":         func() any { return new(modelio.Message) },
	"part":            func() any { return new(modelio.Part) },
	"media":           func() any { return new(modelio.Media) },
	"tool request":    func() any { return new(modelio.ToolRequest) },
	"tool response":   func() any { return new(modelio.ToolResponse) },
	"tool definition": func() any { return new(modelio.ToolDefinition) },
	"output config":   func() any { return new(modelio.OutputConfig) },
	"request":         func() any { return new(modelio.GenerateRequest) },
	"response":        func() any { return new(modelio.GenerateResponse) },
	"usage":           func() any { return new(modelio.Usage) },
	"chunk":           func() any { return new(modelio.GenerateResponseChunk) },
	"model info":      func() any { return new(modelio.ModelInfo) },
	"capabilities":    func() any { return new(modelio.Capabilities) },
}

// roundTrips are texts in written form. A round trip changes no byte.
var roundTrips = []struct{ name, why, what, text string }{
	{"text", "the plain case", "part", `{"text":"a"}`},
	{"empty_text", "a stream may open with it", "part", `{"text":""}`},
	{"null_text", "null is not the empty text", "part", `{"text":null}`},
	{"no_kind", "Genkit Go writes an empty text part so", "part", `{}`},
	{"text_metadata", "GK Metadata", "part", `{"metadata":{"thoughtSignature":"g-1"},"text":"a"}`},
	{"empty_metadata", "an empty object is not an absent one", "part", `{"metadata":{},"text":"a"}`},
	{"null_metadata", "null is not an absent object", "part", `{"metadata":null,"text":"a"}`},
	{"reasoning", "GK Reasoning Part", "part", `{"metadata":{"signature":"c2ln"},"reasoning":"r"}`},
	{"empty_reasoning", "redacted thinking", "part", `{"reasoning":""}`},
	{"custom", "GK Custom Part", "part", `{"custom":{"a":1}}`},
	{"empty_custom", "it is a custom part all the same", "part", `{"custom":{}}`},
	{"data", "a Genkit kind that GK does not name", "part", `{"data":{"a":1}}`},
	{"data_string", "data holds anything", "part", `{"data":"x"}`},
	{"custom_and_data", "Genkit's schema allows both", "part", `{"custom":{"a":1},"data":"y"}`},
	{"custom_beside_text", "Genkit's schema allows custom beside every kind", "part", `{"custom":{},"text":"t"}`},
	{"resource", "a Genkit kind that GK does not name", "part", `{"resource":{"uri":"x"}}`},
	{"unknown", "nothing is dropped", "part", `{"aaa":[1, 2],"text":"a","unknown":1}`},
	{"media", "GK Media Part", "part", `{"media":{"contentType":"image/png","url":"data:image/png;base64,iVBORw0KGgo="}}`},
	{"media_no_type", "contentType may be absent", "media", `{"url":"u"}`},
	{"media_empty_type", "or empty", "media", `{"contentType":"","url":""}`},
	{"media_unknown", "nothing is dropped", "media", `{"bytes":3,"url":"u"}`},
	{"media_null_url", "null, and saying so", "media", `{"url":null}`},
	{"big_integer", "float64 would round it", "tool request", `{"input":{"n":9007199254740993,"m":-9223372036854775808},"name":"t"}`},
	{"number_spelling", "1.0 is what was sent", "tool request", `{"input":[1.0,1e400,-0],"name":"t"}`},
	{"partial_true", "GK Streaming Behavior", "tool request", `{"input":{},"name":"t","partial":true,"ref":"r"}`},
	{"partial_false", "GK forbids the field in the final request, so its presence matters", "tool request", `{"name":"t","partial":false}`},
	{"partial_null", "likewise", "tool request", `{"name":"t","partial":null}`},
	{"input_null", "null is not absent", "tool request", `{"input":null,"name":"t"}`},
	{"empty_ref", "an empty ref is not an absent one", "tool request", `{"name":"","ref":""}`},
	{"output_null", "a tool that returns nothing", "tool response", `{"name":"t","output":null}`},
	{"output_absent", "not null", "tool response", `{"name":"t"}`},
	{"multipart", "Genkit's multipart tool responses", "tool response", `{"content":[{"text":"z"},{"media":{"url":"u"}}],"name":"t","output":{"a":1},"ref":"r"}`},
	{"tool_response_unknown", "nothing is dropped", "tool response", `{"isError":true,"name":"t"}`},
	{"multipart_empty", "not absent", "tool response", `{"content":[],"name":"t"}`},
	{"message", "GK Message", "message", `{"content":[{"text":"a"},{"text":"b"}],"metadata":{"k":[]},"role":"user"}`},
	{"message_empty", "a model may answer nothing", "message", `{"content":[],"role":"model"}`},
	{"message_nulls", "null, and saying so", "message", `{"content":null,"role":null}`},
	{"message_unknown", "nothing is dropped", "message", `{"content":[],"id":7,"role":"assistant"}`},
	{"tool", "GK ToolDefinition", "tool definition", `{"description":"d","inputSchema":{"type":"object","maximum":9223372036854775807},"key":"/tool/t","metadata":{},"name":"t","outputSchema":null}`},
	{"tool_schema_order", "a schema keeps its own order", "tool definition", `{"inputSchema":{"z":1,"a":2},"name":"t"}`},
	{"tool_empty_description", "Genkit requires it, providers do not", "tool definition", `{"description":"","name":"t"}`},
	{"output", "GK output", "output config", `{"constrained":true,"contentType":"application/json","format":"json","schema":{"type":"object"}}`},
	{"output_false", "constrained:false is a choice", "output config", `{"constrained":false}`},
	{"output_empty", "Genkit sends it", "output config", `{}`},
	{"request", "GK Generate Request", "request", `{"config":{"temperature":11},"docs":[{"content":[{"text":"d"}]}],"messages":[{"content":[{"text":"hi"}],"role":"user"}],"output":{},"toolChoice":"auto","tools":[]}`},
	{"request_empty_config", "an empty object is not an absent one", "request", `{"config":{},"messages":[]}`},
	{"request_least", "only messages are required", "request", `{"messages":[]}`},
	{"request_nulls", "null, and saying so", "request", `{"config":null,"messages":null,"output":null,"toolChoice":null,"tools":null}`},
	{"response", "GK Generate Response", "response", `{"custom":{"n":18446744073709551615},"finishReason":"stop","latencyMs":12.5,"message":{"content":[],"role":"model"},"usage":{"inputTokens":1}}`},
	{"response_empty", "nothing is required", "response", `{}`},
	{"response_nulls", "null, and saying so", "response", `{"custom":null,"finishReason":null,"message":null,"usage":null}`},
	{"usage", "usage extras are kept", "usage", `{"cacheWriteTokens":6,"cachedContentTokens":5,"custom":{"x":1.5},"inputCharacters":9,"inputTokens":0,"outputTokens":2,"thoughtsTokens":4,"totalTokens":9223372036854775807}`},
	{"usage_null", "not reported is not null", "usage", `{"inputTokens":null}`},
	{"chunk", "GK Chunk Structure", "chunk", `{"aggregated":true,"content":[{"text":"3"}],"custom":{},"index":1,"role":"model"}`},
	{"chunk_zeroes", "an index of 0 and aggregated:false may be spelled or not", "chunk", `{"aggregated":false,"content":[],"index":0}`},
	{"chunk_nulls", "null, and saying so", "chunk", `{"aggregated":null,"content":null,"index":null,"usage":{}}`},
	{"chunk_least", "only content is required", "chunk", `{"content":[{"text":""}]}`},
	{"model_info", "GK Capabilities", "model info", `{"label":"l","stage":"stable","supports":{"constrained":"no-tools","context":true,"media":false,"multiturn":true,"output":["text"]},"versions":["1"]}`},
	{"model_info_empty", "nothing is required", "model info", `{}`},
	{"model_info_none", "nothing is supported, and saying so", "model info", `{"label":"","supports":{}}`},
	{"model_info_null", "null, and saying so", "model info", `{"supports":null}`},
	{"capabilities", "GK Capabilities", "capabilities", `{"constrained":"all","media":true,"multiturn":true,"output":[],"systemRole":true,"toolChoice":true,"tools":true}`},
	{"capabilities_nulls", "null, and saying so", "capabilities", `{"constrained":null,"output":null,"tools":null}`},
	{"escapes", "each string comes back", "part", `{"text":"\"\\\u0000\u001f\n\r\t/<>&é😀"}`},
}

func TestJSON_RoundTrip(t *testing.T) {
	for _, tc := range roundTrips {
		t.Run(tc.name, func(t *testing.T) {
			v := newByType[tc.what]()
			require.NoError(t, json.Unmarshal([]byte(tc.text), v), tc.why)
			got, err := v.(json.Marshaler).MarshalJSON()
			require.NoError(t, err, tc.why)
			require.Equal(t, tc.text, string(got), tc.why)
		})
	}
}

// TestJSON_Fields checks that each member in GK has a field. A round trip does not show this, since unknown members
// come back too.
func TestJSON_Fields(t *testing.T) {
	for _, tc := range []struct{ clause, what, text string }{
		{"Message", "message", `{"role":"tool","content":[],"metadata":{"k":1}}`},
		{"Text Part", "part", `{"text":"a","metadata":{"thoughtSignature":"g-1234567890"}}`},
		{"Media Part", "part", `{"media":{"contentType":"image/png","url":"data:image/png;base64,iVBORw0KGgo="},"metadata":{"k":1}}`},
		{"Tool Request Part", "part", `{"toolRequest":{"name":"getWeather","input":{"city":"Sea"},"ref":"call_abc123","partial":true}}`},
		{"Tool Response Part", "part", `{"toolResponse":{"name":"getWeather","output":{"temperature":15},"ref":"call_abc123"}}`},
		{"Reasoning Part", "part", `{"reasoning":"The user is asking about the weather.","metadata":{"k":1}}`},
		{"Custom Part", "part", `{"custom":{"myProviderSpecificField":"someValue"},"metadata":{"k":1}}`},
		{"Generate Request", "request", `{"messages":[],"tools":[{"name":"t","description":"d","inputSchema":{},"outputSchema":{}}],
			"config":{"temperature":0},"toolChoice":"auto","output":{"format":"json","schema":{},"constrained":true}}`},
		{"Generate Response", "response", `{"message":{"role":"model","content":[]},"finishReason":"stop",
			"usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3},"custom":{"id":"x"}}`},
		{"Capabilities & Declaration", "model info", `{"supports":{"multiturn":true,"media":true,"tools":true,"systemRole":true,"constrained":true}}`},
		{"Streaming", "chunk", `{"content":[],"index":1}`},
	} {
		v := newByType[tc.what]()
		require.NoError(t, json.Unmarshal([]byte(tc.text), v), tc.clause)
		require.Empty(t, unknownMembers(reflect.ValueOf(v)), tc.clause)
	}
	require.Equal(t, []string{"id"}, unknownMembers(reflect.ValueOf(decode[modelio.GenerateRequest](t, `{"messages":[{"role":"user","content":[],"id":1}]}`))))
}

// unknownMembers returns the names of members, on all levels, for which a value has no field.
func unknownMembers(v reflect.Value) (names []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			names = unknownMembers(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			names = append(names, unknownMembers(v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Unknown" {
				names = append(names, unknownMembers(v.Field(i))...)
				continue
			}
			for _, name := range v.Field(i).MapKeys() {
				names = append(names, name.String())
			}
		}
	}
	return names
}

func TestJSON_Written(t *testing.T) {
	yes := true
	for _, tc := range []struct {
		name, why string
		value     any
		want      string
	}{
		{"message", "required members are written always", modelio.Message{}, `{"content":[],"role":""}`},
		{"request", "required members are written always", modelio.GenerateRequest{}, `{"messages":[]}`},
		{"chunk", "required members are written always", modelio.GenerateResponseChunk{}, `{"content":[]}`},
		{"usage", "no count is reported", modelio.Usage{}, `{}`},
		{"field_wins", "a field that is set wins over the unknown member of its name",
			modelio.ToolRequest{Name: "t", Partial: true, Unknown: modelio.Object{"partial": json.RawMessage("false"), "name": json.RawMessage("null")}},
			`{"name":"t","partial":true}`},
		{"whole_numbers", "an integer is one however it is spelled", decode[modelio.Usage](t, `{"inputTokens":12.0,"outputTokens":1.2e1,"totalTokens":-0}`), `{"inputTokens":12,"outputTokens":12,"totalTokens":0}`},
		{"constrained_true", "GK says true where Genkit says all", decode[modelio.Capabilities](t, `{"constrained":true}`), `{"constrained":"all"}`},
		{"constrained_false", "GK says false where Genkit says none", decode[modelio.Capabilities](t, `{"constrained":false}`), `{"constrained":"none"}`},
		{"pointer", "a pointer is written as its value", &modelio.OutputConfig{Constrained: &yes}, `{"constrained":true}`},
		{"nested", "values nest in other types", map[string]any{"p": []modelio.Part{modelio.TextPart("<a>")}}, `{"p":[{"text":"\u003ca\u003e"}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := json.Marshal(tc.value)
			require.NoError(t, err, tc.why)
			require.Equal(t, tc.want, string(got), tc.why)
		})
	}
}

func TestJSON_Rejected(t *testing.T) {
	for _, tc := range []struct{ name, why, what, text, want string }{
		{"syntax", "no text of JSON", "part", `{"text":`, "modelio: part: /text: invalid JSON: unexpected end, want a value"},
		{"utf8", "encoding/json would put U+FFFD there", "part", "{\"text\":\"\xff\"}", "modelio: part: /text: invalid Unicode: byte 0xff is not UTF-8 here"},
		{"lone_high", "encoding/json would put U+FFFD there", "part", `{"text":"\ud800"}`, "modelio: part: /text: invalid Unicode: lone surrogate"},
		{"lone_low", "likewise", "part", `{"text":"a\udc00"}`, "modelio: part: /text: invalid Unicode: lone surrogate"},
		{"two_highs", "likewise", "part", `{"text":"\ud800\ud800"}`, "modelio: part: /text: invalid Unicode: lone surrogate"},
		{"high_and_n", "likewise", "part", `{"text":"\ud800\n"}`, "modelio: part: /text: invalid Unicode: lone surrogate"},
		{"lone_in_raw", "raw values are looked into", "tool request", `{"name":"t","input":{"a":["\udfff"]}}`, "modelio: tool request: /input/a/0: invalid Unicode: lone surrogate"},
		{"twice", "one of them would be lost", "part", `{"text":"a","text":"b"}`, "modelio: part: /text: duplicate member name \"text\""},
		{"twice_escaped", "spelling does not make a name another", "part", `{"text":"a","te\u0078t":"b"}`, "modelio: part: /text: duplicate member name \"text\""},
		{"twice_unknown", "unknown members too", "part", `{"x":1,"y":2,"x":1}`, "modelio: part: /x: duplicate member name \"x\""},
		{"twice_raw", "raw values are looked into", "request", `{"messages":[{"role":"user","content":[{"toolRequest":{"name":"t","input":{"a/b":[{"~":1,"~":2}]}}}]}]}`,
			"modelio: request: /messages/0/content/0/toolRequest/input/a~1b/0/~0: duplicate member name \"~\""},
		{"null", "a null message would become an empty one", "message", `null`, "modelio: message: want an object, got null"},
		{"list", "want an object", "message", `[]`, "modelio: message: want an object, got a list"},
		{"text_number", "a text is a string", "message", `{"role":"user","content":[{"text":"a"},{"text":5}]}`, "modelio: message: /content/1/text: want a string, got a number"},
		{"text_object", "a text is a string", "part", `{"text":{}}`, "modelio: part: /text: want a string, got an object"},
		{"content_string", "GK content is a list", "message", `{"role":"user","content":"a"}`, "modelio: message: /content: want a list, got a string"},
		{"content_null_part", "a part is an object", "message", `{"role":"user","content":[null]}`, "modelio: message: /content/0: want an object, got null"},
		{"custom_list", "GK custom is a dictionary", "part", `{"custom":[]}`, "modelio: part: /custom: want an object, got a list"},
		{"metadata_true", "GK metadata is an object", "part", `{"metadata":true}`, "modelio: part: /metadata: want an object, got a boolean"},
		{"two_kinds", "a part is of one kind", "part", `{"text":"a","media":{"url":"u"}}`, "modelio: part: a part is of one kind, not text and media"},
		{"reasoning_and_text", "a thought is not what is said", "part", `{"reasoning":"r","text":"a"}`, "modelio: part: a part is of one kind, not text and reasoning"},
		{"partial_string", "partial is a boolean", "tool request", `{"name":"t","partial":"true"}`, "modelio: tool request: /partial: want a boolean, got a string"},
		{"no_name", "GK name is not optional", "tool request", `{"input":{}}`, "modelio: tool request: /name: required member is missing"},
		{"no_role", "GK role is not optional", "message", `{"content":[]}`, "modelio: message: /role: required member is missing"},
		{"no_content", "GK content is not optional", "chunk", `{}`, "modelio: chunk: /content: required member is missing"},
		{"no_url", "GK url is not optional", "part", `{"media":{}}`, "modelio: part: /media/url: required member is missing"},
		{"tokens_fraction", "tokens are whole", "usage", `{"inputTokens":1.5}`, "modelio: usage: /inputTokens: want an integer of 64 bits, got 1.5"},
		{"tokens_large", "it would be rounded", "usage", `{"inputTokens":9223372036854775808}`, "modelio: usage: /inputTokens: want an integer of 64 bits, got 9223372036854775808"},
		{"tokens_string", "a count is a number", "usage", `{"inputTokens":"1"}`, "modelio: usage: /inputTokens: want a number, got a string"},
		{"index_string", "an index is a number", "chunk", `{"content":[],"index":"0"}`, "modelio: chunk: /index: want a number, got a string"},
		{"index_negative", "no such candidate", "chunk", `{"content":[],"index":-1}`, "modelio: chunk: /index: want an index, got -1"},
		{"output_null", "a format is a string", "capabilities", `{"output":["text",null]}`, "modelio: capabilities: /output/1: want a value, got null"},
		{"constrained_number", "constrained is a boolean", "output config", `{"constrained":1}`, "modelio: output config: /constrained: want a boolean, got a number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := newByType[tc.what]()
			err := v.(json.Unmarshaler).UnmarshalJSON([]byte(tc.text))
			require.EqualError(t, err, tc.want, tc.why)
			var format *modelio.FormatError
			require.ErrorAs(t, err, &format)
			require.Equal(t, newByType[tc.what](), v, "a failed read leaves the value as it was")
		})
	}
}

func TestJSON_NotWritten(t *testing.T) {
	text := "a"
	for _, tc := range []struct {
		name, why string
		value     any
		want      string
	}{
		{"utf8", "it would come back as U+FFFD", modelio.Message{Content: []modelio.Part{{}, modelio.TextPart("\xff")}}, "modelio: message: /content/1/text: string is not UTF-8"},
		{"raw", "a raw value must be JSON", modelio.ToolRequest{Input: json.RawMessage(`{"a":`)}, "modelio: tool request: /input/a: invalid JSON: unexpected end, want a value"},
		{"raw_twice", "it could not be read again", modelio.Part{Metadata: modelio.Object{"k": json.RawMessage(`{"a":1,"a":2}`)}}, "modelio: part: /metadata/k/a: duplicate member name \"a\""},
		{"two_kinds", "a part is of one kind", modelio.Part{Text: &text, Reasoning: &text}, "modelio: part: a part is of one kind, not text and reasoning"},
		{"name", "a name is a string too", modelio.Part{Unknown: modelio.Object{"\xff": json.RawMessage("1")}}, "modelio: part: /\xff: string is not UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.value.(json.Marshaler).MarshalJSON()
			require.EqualError(t, err, tc.want, tc.why)
			_, err = json.Marshal(tc.value)
			var format *modelio.FormatError
			require.True(t, errors.As(err, &format), tc.why)
		})
	}
}

// FuzzJSON checks that a value stays equal when read and written, and that written texts are stable.
func FuzzJSON(t *testing.F) {
	f := mutation.New(t)
	for _, tc := range roundTrips {
		f.Add(tc.what, tc.text)
	}
	f.Fuzz(func(t *testing.T, what, text string) {
		empty, ok := newByType[what]
		if !ok {
			return
		}
		v := empty()
		if v.(json.Unmarshaler).UnmarshalJSON([]byte(text)) != nil {
			return
		}
		written, err := v.(json.Marshaler).MarshalJSON()
		require.NoError(t, err)
		want := tree(t, text)
		if what == "model info" || what == "capabilities" {
			want = spellConstrained(want)
		}
		require.Equal(t, want, tree(t, string(written)))

		again := empty()
		require.NoError(t, again.(json.Unmarshaler).UnmarshalJSON(written))
		require.Equal(t, v, again)
		rewritten, err := again.(json.Marshaler).MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))
	})
}

// tree decodes text to a value that compares as JSON does: the order of members and the spelling of an integer do not
// matter.
func tree(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	require.ErrorIs(t, dec.Decode(new(any)), io.EOF)
	return plainNumbers(v)
}

// spellConstrained replaces true and false in a model's info by Genkit's words, as in GK.
func spellConstrained(v any) any {
	info, _ := v.(map[string]any)
	if supports, ok := info["supports"]; ok {
		spellConstrained(supports)
	}
	switch info["constrained"] {
	case true:
		info["constrained"] = "all"
	case false:
		info["constrained"] = "none"
	}
	return v
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = plainNumbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case json.Number:
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil && f == float64(int32(f)) {
			return int32(f)
		}
	}
	return v
}

// TestJSON_Stdlib checks that the reader accepts exactly the strings that encoding/json reads without loss.
func TestJSON_Stdlib(t *testing.T) {
	var all bytes.Buffer
	for c := range rune(0x300) {
		all.WriteRune(c)
	}
	all.WriteString("\u2028\u2029\ufffd😀")
	want := modelio.TextPart(all.String())
	data, err := json.Marshal(want)
	require.NoError(t, err)
	var got modelio.Part
	require.NoError(t, json.Unmarshal(data, &got))
	require.True(t, reflect.DeepEqual(want, got))
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// rawJSON returns the JSON text of v without the white space and escapes that encoding/json changes.
func rawJSON(t *testing.T, v json.Marshaler) string {
	t.Helper()
	data, err := v.MarshalJSON()
	require.NoError(t, err)
	return string(data)
}

// TestUsageCompleted checks that a total that was reported stays, and that no other is made up.
func TestUsageCompleted(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	for _, c := range []struct{ usage, want *modelio.Usage }{
		{nil, nil},
		{&modelio.Usage{InputTokens: n(1), OutputTokens: n(2), TotalTokens: n(5)}, &modelio.Usage{InputTokens: n(1), OutputTokens: n(2), TotalTokens: n(5)}},
		{&modelio.Usage{InputTokens: n(1), OutputTokens: n(2)}, &modelio.Usage{InputTokens: n(1), OutputTokens: n(2), TotalTokens: n(3)}},
		{&modelio.Usage{InputTokens: n(1)}, &modelio.Usage{InputTokens: n(1)}},
		{&modelio.Usage{OutputTokens: n(2)}, &modelio.Usage{OutputTokens: n(2)}},
	} {
		require.Equal(t, c.want, c.usage.Completed())
	}
	require.Nil(t, (*modelio.Usage)(nil).Used())
}
