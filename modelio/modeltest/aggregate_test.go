package modeltest_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
)

func TestAggregate(t *testing.T) {
	for _, tc := range []struct{ name, why, chunks, want string }{
		{"nothing", "an empty stream is an empty answer", `[]`, `{"content":[],"role":"model"}`},
		{"text", "fragments join", `[{"content":[{"text":"3"}]},{"content":[{"text":"2"},{"text":"1"}]}]`, `{"content":[{"text":"321"}],"role":"model"}`},
		{"rune", "a stream may be cut anywhere", `[{"content":[{"text":"h"}]},{"content":[{"text":"é"}]}]`, `{"content":[{"text":"hé"}],"role":"model"}`},
		{"empty_fragments", "an empty fragment says nothing", `[{"content":[{"text":""}]},{"content":[]},{"content":[{"toolRequest":{"name":"t","input":{}}},{"text":""},{"reasoning":""}]}]`,
			`{"content":[{"toolRequest":{"input":{},"name":"t"}}],"role":"model"}`},
		{"role", "the chunks' own role", `[{"role":"tool","content":[{"toolResponse":{"name":"t","output":1}}]},{"content":[]}]`, `{"content":[{"toolResponse":{"name":"t","output":1}}],"role":"tool"}`},
		{"reasoning_then_text", "kinds do not join with each other", `[{"content":[{"reasoning":"r1"}]},{"content":[{"reasoning":"r2"},{"text":"t1"}]},{"content":[{"text":"t2"},{"reasoning":"r3"}]}]`,
			`{"content":[{"reasoning":"r1r2"},{"text":"t1t2"},{"reasoning":"r3"}],"role":"model"}`},
		{"late_signature", "a thoughtSignature comes in a chunk without text", `[{"content":[{"text":"a"}]},{"content":[{"text":"","metadata":{"thoughtSignature":"g"}}]}]`,
			`{"content":[{"metadata":{"thoughtSignature":"g"},"text":"a"}],"role":"model"}`},
		{"early_signature", "or in the first", `[{"content":[{"reasoning":"a","metadata":{"signature":"s"}}]},{"content":[{"reasoning":"b"}]}]`,
			`{"content":[{"metadata":{"signature":"s"},"reasoning":"ab"}],"role":"model"}`},
		{"repeated_signature", "or in each", `[{"content":[{"text":"a","metadata":{"k":{"x":1,"y":2}}}]},{"content":[{"text":"b","metadata":{"k":{"y":2, "x":1.0}}}]}]`,
			`{"content":[{"metadata":{"k":{"y":2, "x":1.0}},"text":"ab"}],"role":"model"}`},
		{"metadata_unites", "members of one part may come one by one", `[{"content":[{"text":"a","metadata":{"j":1}}]},{"content":[{"text":"b","metadata":{"k":2}}]}]`,
			`{"content":[{"metadata":{"j":1,"k":2},"text":"ab"}],"role":"model"}`},
		{"metadata_empty", "an empty object stays one", `[{"content":[{"text":"a","metadata":{}}]},{"content":[{"text":"b"}]}]`,
			`{"content":[{"metadata":{},"text":"ab"}],"role":"model"}`},
		{"metadata_contradicts", "two signatures are two parts", `[{"content":[{"text":"a","metadata":{"k":1}}]},{"content":[{"text":"b","metadata":{"k":2}}]},{"content":[{"text":"c"}]}]`,
			`{"content":[{"metadata":{"k":1},"text":"a"},{"metadata":{"k":2},"text":"bc"}],"role":"model"}`},
		{"unknown_unites", "members GK does not name are kept", `[{"content":[{"text":"a","x":1}]},{"content":[{"text":"b","custom":{"c":1}}]},{"content":[{"text":"c","x":2}]}]`,
			`{"content":[{"custom":{"c":1},"text":"ab","x":1},{"text":"c","x":2}],"role":"model"}`},
		{"other_kinds", "media, custom and unknown kinds do not join", `[{"content":[{"media":{"url":"u"}},{"media":{"url":"u"}},{"custom":{}},{"data":1},{"text":"a"},{"data":1},{"text":"b"}]}]`,
			`{"content":[{"media":{"url":"u"}},{"media":{"url":"u"}},{"custom":{}},{"data":1},{"text":"a"},{"data":1},{"text":"b"}],"role":"model"}`},
		{"tool_request", "GK's example: the final chunk alone has the ref",
			`[{"content":[{"toolRequest":{"name":"getWeather","input":{"city":"Sea"},"partial":true},"metadata":{"thoughtSignature":"g"}}]},
			{"content":[{"toolRequest":{"name":"getWeather","input":{"city":"Seattle","units":"metric"},"ref":"call_abc123"},"metadata":{"thoughtSignature":"g"}}]}]`,
			`{"content":[{"metadata":{"thoughtSignature":"g"},"toolRequest":{"input":{"city":"Seattle","units":"metric"},"name":"getWeather","ref":"call_abc123"}}],"role":"model"}`},
		{"tool_request_whole", "a model need not stream them in pieces", `[{"content":[{"toolRequest":{"name":"a"}},{"toolRequest":{"name":"a"}}]}]`,
			`{"content":[{"toolRequest":{"name":"a"}},{"toolRequest":{"name":"a"}}],"role":"model"}`},
		{"tool_requests_interleaved", "parallel requests are told apart by ref, and stand where they began",
			`[{"content":[{"text":"x"},{"toolRequest":{"name":"t","ref":"1","partial":true}}]},
			{"content":[{"toolRequest":{"name":"t","ref":"2","partial":true,"input":{}}}]},
			{"content":[{"text":"y"},{"toolRequest":{"name":"t","ref":"1","partial":true,"input":{"a":0}}},{"text":"z"}]},
			{"content":[{"toolRequest":{"name":"t","ref":"2","input":{"b":1}}}]},
			{"content":[{"toolRequest":{"name":"t","ref":"1","input":{"a":1}}}]}]`,
			`{"content":[{"text":"x"},{"toolRequest":{"input":{"a":1},"name":"t","ref":"1"}},{"toolRequest":{"input":{"b":1},"name":"t","ref":"2"}},{"text":"yz"}],"role":"model"}`},
		{"tool_requests_by_name", "where there are no refs, by name; where the names are the same, one after the other",
			`[{"content":[{"toolRequest":{"name":"a","partial":true}},{"toolRequest":{"name":"b","partial":true}}]},
			{"content":[{"toolRequest":{"name":"b","input":2}},{"toolRequest":{"name":"a","input":1}}]},
			{"content":[{"toolRequest":{"name":"a","partial":true,"input":0}},{"toolRequest":{"name":"a","input":3}}]}]`,
			`{"content":[{"toolRequest":{"input":1,"name":"a"}},{"toolRequest":{"input":2,"name":"b"}},{"toolRequest":{"input":3,"name":"a"}}],"role":"model"}`},
		{"tool_request_oldest", "a chunk without ref goes to the oldest request of its name",
			`[{"content":[{"toolRequest":{"name":"a","ref":"1","partial":true}},{"toolRequest":{"name":"a","ref":"2","partial":true}}]},
			{"content":[{"toolRequest":{"name":"a","input":1}},{"toolRequest":{"name":"a","input":2}}]}]`,
			`{"content":[{"toolRequest":{"input":1,"name":"a","ref":"1"}},{"toolRequest":{"input":2,"name":"a","ref":"2"}}],"role":"model"}`},
		{"tool_request_ref_once", "a ref that only the first chunk had is kept, and so is its metadata",
			`[{"content":[{"toolRequest":{"name":"a","ref":"1","partial":true,"x":1},"metadata":{"s":1,"n":0}}]},{"content":[{"toolRequest":{"name":"a","input":{}},"metadata":{"n":1}}]}]`,
			`{"content":[{"metadata":{"n":1,"s":1},"toolRequest":{"input":{},"name":"a","ref":"1","x":1}}],"role":"model"}`},
		{"tool_request_no_arguments", "a tool may take none", `[{"content":[{"toolRequest":{"name":"a","partial":true}}]},{"content":[{"toolRequest":{"name":"a"}}]}]`,
			`{"content":[{"toolRequest":{"name":"a"}}],"role":"model"}`},
		{"aggregated", "a chunk may carry the whole so far", `[{"content":[{"text":"a"}]},{"content":[{"text":"ab"}],"aggregated":true},{"content":[{"text":"c"}],"aggregated":false}]`,
			`{"content":[{"text":"abc"}],"role":"model"}`},
		{"aggregated_tool_requests", "it repeats the requests before it",
			`[{"content":[{"toolRequest":{"name":"t","ref":"1","input":{}}}],"role":"model"},
			{"content":[{"toolRequest":{"name":"t","ref":"1","input":{}}},{"toolRequest":{"name":"t","ref":"2","partial":true}}],"aggregated":true},
			{"content":[{"toolRequest":{"name":"t","ref":"1","input":{}}},{"toolRequest":{"name":"t","ref":"2","input":{}}}],"aggregated":true}]`,
			`{"content":[{"toolRequest":{"input":{},"name":"t","ref":"1"}},{"toolRequest":{"input":{},"name":"t","ref":"2"}}],"role":"model"}`},
		{"candidates", "the answer is candidate 0", `[{"index":1,"content":[{"text":"x"}]},{"content":[{"text":"a"}]},{"index":1,"content":[{"text":"y"}]},{"index":0,"content":[{"text":"b"}]}]`,
			`{"content":[{"text":"ab"}],"role":"model"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			chunks := decode[[]*modelio.GenerateResponseChunk](t, tc.chunks)
			before := encode(t, chunks)
			got, err := modeltest.Aggregate(chunks)
			require.NoError(t, err, tc.why)
			require.Equal(t, tc.want, rawJSON(t, *got), tc.why)
			require.Equal(t, before, encode(t, chunks), "the chunks are not changed")

			again, err := modeltest.Aggregate([]*modelio.GenerateResponseChunk{{Role: got.Role, Content: got.Content}})
			require.NoError(t, err)
			require.Equal(t, got, again, "an aggregate is its own aggregate")
		})
	}
}

// TestAggregate_EqualBytes checks that equal texts do not contradict, even those that no Go string can hold.
func TestAggregate_EqualBytes(t *testing.T) {
	part := modelio.TextPart("a")
	part.Metadata = modelio.Object{"k": json.RawMessage(`"\ud800"`)}
	got, err := modeltest.Aggregate([]*modelio.GenerateResponseChunk{{Content: []modelio.Part{part}}, {Content: []modelio.Part{part}}})
	require.NoError(t, err)
	require.Len(t, got.Content, 1)
}

func TestAggregate_Breaches(t *testing.T) {
	for _, tc := range []struct{ name, why, chunks, want string }{
		{"nil", "there is no such chunk", `[{"content":[]},null]`, "modelio: DEFINED stream-candidate: chunk 1 is nil"},
		{"other_candidate", "the answer is missing", `[{"index":1,"content":[]}]`, "modelio: DEFINED stream-candidate: no chunk is of candidate 0"},
		{"roles", "a message has one role", `[{"role":"model","content":[]},{"content":[]},{"role":"tool","content":[]}]`, "modelio: ADDED stream-role: chunk 2 has role tool in a message of role model"},
		{"other_partial", "the rules hold for each candidate", `[{"content":[]},{"index":1,"content":[{"toolRequest":{"name":"t","partial":true}}]}]`,
			`modelio: MUST stream-final: the stream ends with tool request "t" still partial`},
		{"only_partial", "GK: the final chunk MUST contain the complete input", `[{"content":[{"text":"a"},{"toolRequest":{"name":"t","ref":"c","partial":true,"input":{}}}]}]`,
			`modelio: MUST stream-final: the stream ends with tool request "t" (c) still partial`},
		{"partial_false", "GK: the final chunk MUST NOT have the partial field set", `[{"content":[{"toolRequest":{"name":"t","partial":true}}]},{"content":[{"toolRequest":{"name":"t","partial":false}}]}]`,
			`modelio: MUST stream-final: chunk 1, part 0: the final chunk of tool request "t" has the partial field`},
		{"not_partial", "GK: intermediate chunks MUST have partial:true", `[{"content":[{"toolRequest":{"name":"t","ref":"c","input":{"a":1}}}]},{"content":[{"text":""},{"toolRequest":{"name":"t","ref":"c","input":{"a":12}}}]}]`,
			`modelio: MUST stream-partial: chunk 1, part 1: tool request "t" (c) goes on after a chunk without partial:true`},
		{"partial_after_final", "likewise", `[{"content":[{"toolRequest":{"name":"t","ref":"c"}}]},{"content":[{"toolRequest":{"name":"t","ref":"c","partial":true}}]}]`,
			`modelio: MUST stream-partial: chunk 1, part 0: tool request "t" (c) goes on after a chunk without partial:true`},
		{"no_input", "GK: the final chunk MUST contain the complete input", `[{"content":[{"toolRequest":{"name":"t","partial":true,"input":{"a":1}}}]},{"content":[{"toolRequest":{"name":"t","partial":true}}]},{"content":[{"toolRequest":{"name":"t"}}]}]`,
			`modelio: MUST stream-input: chunk 2, part 0: the final chunk of tool request "t" has no input`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := modeltest.Aggregate(decode[[]*modelio.GenerateResponseChunk](t, tc.chunks))
			require.Nil(t, got)
			require.EqualError(t, err, tc.want, tc.why)
			var breach *modeltest.Breach
			require.ErrorAs(t, err, &breach)
			require.Equal(t, breach.Rule.Level(), breach.Level)
		})
	}
}

// FuzzAggregate checks that the cuts of a stream never change the result. The first two arguments give the message, the
// seed gives the cuts.
func FuzzAggregate(t *testing.F) {
	f := mutation.New(t)
	f.Add("plain text, ünïcode 😀", "trtmpRTq", uint64(1))
	f.Add("x", "ttttrrrrqqqq", uint64(2))
	f.Add("", "t", uint64(3))
	f.Fuzz(func(t *testing.T, text, kinds string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		whole := []*modelio.GenerateResponseChunk{{Role: modelio.RoleModel, Content: randomParts(r, text, kinds)}}
		want, err := modeltest.Aggregate(whole)
		require.NoError(t, err)

		for range 4 {
			got, err := modeltest.Aggregate(cut(r, whole[0].Content))
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		again, err := modeltest.Aggregate([]*modelio.GenerateResponseChunk{{Role: want.Role, Content: want.Content}})
		require.NoError(t, err)
		require.Equal(t, want, again)
	})
}

// randomParts returns a part for each letter of kinds.
func randomParts(r *rand.Rand, text, kinds string) []modelio.Part {
	parts := []modelio.Part{}
	for i, kind := range kinds {
		from := r.IntN(len(text) + 1)
		piece := text[from : from+r.IntN(len(text)-from+1)]
		switch kind {
		case 't':
			parts = append(parts, modelio.TextPart(piece))
		case 'r':
			parts = append(parts, modelio.ReasoningPart(piece))
		case 'T', 'R':
			part := modelio.TextPart(piece)
			if kind == 'R' {
				part = modelio.ReasoningPart(piece)
			}
			part.Metadata = modelio.Object{"k": json.RawMessage([]string{"1", "2"}[r.IntN(2)])}
			parts = append(parts, part)
		case 'm':
			parts = append(parts, modelio.MediaPart("image/png", "data:,"))
		case 'q':
			ref := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
			parts = append(parts, modelio.Part{ToolRequest: &modelio.ToolRequest{Name: "tool", Ref: ref, Input: json.RawMessage(`{"a":1}`)}})
		}
	}
	return parts
}

// cut cuts content into a stream of chunks of any length. Fragments of text and reasoning have the metadata on the
// first one or on all, and partial tool requests precede the final ones.
func cut(r *rand.Rand, content []modelio.Part) []*modelio.GenerateResponseChunk {
	var pieces []modelio.Part
	for _, part := range content {
		switch {
		case part.Text != nil:
			pieces = append(pieces, fragments(r, part, *part.Text, modelio.TextPart)...)
		case part.Reasoning != nil:
			pieces = append(pieces, fragments(r, part, *part.Reasoning, modelio.ReasoningPart)...)
		case part.ToolRequest != nil:
			for range r.IntN(3) {
				partial := *part.ToolRequest
				partial.Partial = true
				partial.Input = json.RawMessage(`{}`)
				pieces = append(pieces, modelio.Part{ToolRequest: &partial})
			}
			pieces = append(pieces, part)
		default:
			pieces = append(pieces, part)
		}
	}
	var chunks []*modelio.GenerateResponseChunk
	for {
		n := r.IntN(len(pieces) + 1)
		chunks = append(chunks, &modelio.GenerateResponseChunk{Content: slices.Clone(pieces[:n])})
		pieces = pieces[n:]
		if len(pieces) == 0 {
			return chunks
		}
	}
}

func fragments(r *rand.Rand, part modelio.Part, text string, newPart func(string) modelio.Part) []modelio.Part {
	var pieces []modelio.Part
	everywhere := r.IntN(2) == 0
	for text != "" || len(pieces) == 0 {
		n := r.IntN(len(text) + 1)
		piece := newPart(text[:n])
		if everywhere || len(pieces) == 0 {
			piece.Metadata = part.Metadata
		}
		pieces = append(pieces, piece)
		text = text[n:]
	}
	return pieces
}

// BenchmarkAggregate shows that the time grows linearly with the text.
func BenchmarkAggregate(b *testing.B) {
	chunks := make([]*modelio.GenerateResponseChunk, 10_000)
	for i := range chunks {
		chunks[i] = &modelio.GenerateResponseChunk{Content: []modelio.Part{modelio.TextPart("ten bytes.")}}
	}
	b.SetBytes(10 * int64(len(chunks)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := modeltest.Aggregate(chunks); err != nil {
			b.Fatal(err)
		}
	}
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
