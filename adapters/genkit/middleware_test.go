package genkittraceforge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/modelio"
)

const scriptedName = "scripted/model"

// everything is a model that supports all that there is.
func everything() *ai.ModelOptions {
	return &ai.ModelOptions{Supports: &ai.ModelSupports{
		Multiturn: true, Media: true, Tools: true, ToolChoice: true, SystemRole: true, Context: true, Constrained: ai.ConstrainedSupportAll,
	}}
}

// gone is what a model is in replay.
func gone(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	return nil, errors.New("the model is gone")
}

// weather is a model that thinks, asks for the weather of two cities, and tells it. Its thoughts
// have a signature that it wants back as it was.
func weather(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	thought := ai.NewReasoningPart("Hm.", []byte{0xff, 0x00})
	last := req.Messages[len(req.Messages)-1]
	content := []*ai.Part{thought}
	if last.Role == ai.RoleTool {
		previous := req.Messages[len(req.Messages)-2].Content[0]
		if signature, ok := previous.Metadata["signature"].([]byte); !ok || string(signature) != "\xff\x00" {
			return nil, fmt.Errorf("thought without its signature: %v", previous.Metadata)
		}
		var results []string // in an order of its own: Genkit's is that in which they were ready
		for _, part := range last.Content {
			results = append(results, part.ToolResponse.Output.(string))
		}
		slices.Sort(results)
		content = append(content, ai.NewTextPart(strings.Join(results, ", ")))
	} else {
		for _, city := range []string{"Oslo", "Rome"} {
			content = append(content, ai.NewToolRequestPart(&ai.ToolRequest{Name: "weather", Input: map[string]any{"city": city}}))
		}
	}
	if stream != nil {
		for _, part := range content {
			if err := stream(ctx, &ai.ModelResponseChunk{Content: []*ai.Part{part}}); err != nil {
				return nil, err
			}
		}
	}
	return &ai.ModelResponse{
		Message:      &ai.Message{Role: ai.RoleModel, Content: content},
		FinishReason: ai.FinishReasonUnknown,
		Usage:        &ai.GenerationUsage{InputTokens: 3},
	}, nil
}

// askWeather runs an application that asks the scripted model for the weather, with two tools.
// It returns the answer and the text of the chunks.
func askWeather(t *testing.T, model ai.ModelFunc, rec genkittraceforge.Recorder) (*ai.ModelResponse, []string, error) {
	t.Helper()
	g := genkit.Init(t.Context())
	genkit.DefineModel(g, scriptedName, everything(), model)
	type input struct {
		City string `json:"city"`
	}
	tool := genkit.DefineTool(g, "weather", "tells the weather", func(_ *ai.ToolContext, in input) (string, error) { return "sun in " + in.City, nil })
	other := genkit.DefineTool(g, "clock", "tells the time", func(_ *ai.ToolContext, in input) (string, error) { return "noon", nil })
	var chunks []string
	resp, err := genkit.Generate(t.Context(), g,
		ai.WithModelName(scriptedName),
		ai.WithSystem("Be brief."),
		ai.WithPrompt("How is the weather?"),
		ai.WithTools(tool, other),
		ai.WithStreaming(func(_ context.Context, chunk *ai.ModelResponseChunk) error {
			chunks = append(chunks, fmt.Sprintf("%d %s %q %q", chunk.Index, chunk.Role, chunk.Reasoning(), strings.TrimPrefix(chunk.Text(), chunk.Reasoning())))
			return nil
		}),
		ai.WithMiddleware(genkittraceforge.Middleware(rec, scriptedName)),
	)
	return resp, chunks, err
}

// TestMiddleware: an application with tools and streaming gets the same when its model is gone.
// Genkit gives the tool requests random refs, hands out the tools in random order and puts the
// results in the order in which they are ready; none of this is drift.
func TestMiddleware(t *testing.T) {
	rehearse(t, func(t *testing.T, rec genkittraceforge.Recorder, live bool) {
		model := gone
		if live {
			model = weather
		}
		resp, chunks, err := askWeather(t, model, rec)
		require.NoError(t, err)
		require.Equal(t, "sun in Oslo, sun in Rome", resp.Text())
		require.Equal(t, []string{
			`0 model "Hm." ""`, `0 model "" ""`, `0 model "" ""`, // the tool requests
			`1 tool "" ""`, // Genkit's own
			`2 model "Hm." ""`, `2 model "" "sun in Oslo, sun in Rome"`,
		}, chunks)
		require.Equal(t, []byte{0xff, 0x00}, resp.Message.Content[0].Metadata["signature"])
		require.Equal(t, ai.FinishReasonUnknown, resp.FinishReason)
		require.Equal(t, 3, resp.Usage.InputTokens)
		require.Equal(t, 27, resp.Usage.OutputCharacters)
		require.Len(t, resp.History(), 5)
	})
}

// TestMiddleware_Unrecorded: what changes from run to run, or is there already, is not recorded;
// and the order that Genkit leaves to chance is not, however often it is tried.
func TestMiddleware_Unrecorded(t *testing.T) {
	recording := &tape{}
	_, _, err := askWeather(t, weather, recording)
	require.NoError(t, err)
	require.Len(t, recording.entries, 2)
	for _, e := range recording.entries {
		require.NotContains(t, e.response, "latencyMs")
		require.NotContains(t, e.response, `"request"`)
		require.NotContains(t, strings.Join(e.chunks, ""), "traceforge", "the stream is as it should be")
	}
	for range 8 { // each order of two is the same by chance every other time
		_, _, err := askWeather(t, gone, recording.rewound())
		require.NoError(t, err)
	}
}

// TestMiddleware_Stream: a stream that does not add up to the answer is recorded so that it
// does, and replayed as it was.
func TestMiddleware_Stream(t *testing.T) {
	request := func(name, ref string, input any) *ai.Part {
		return ai.NewToolRequestPart(&ai.ToolRequest{Name: name, Ref: ref, Input: input})
	}
	whole := []*ai.Part{request("t", "1", map[string]any{"a": 1.0}), request("t", "2", map[string]any{"a": 2.0})}
	for _, tc := range []struct {
		name   string
		chunks []*ai.Part
	}{
		{"fragments", []*ai.Part{request("t", "1", ""), request("", "", `{"a":`), request("", "", "1}"), request("t", "2", ""), request("", "", `{"a":2}`)}},
		{"fragments_with_refs", []*ai.Part{request("t", "1", ""), request("t", "1", `{"a":`), request("t", "1", "1}"), request("t", "2", ""), request("t", "2", `{"a":2}`)}},
		{"something_else", []*ai.Part{ai.NewTextPart("3"), ai.NewTextPart("2")}},
		{"half", whole[:1]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			model := func(ctx context.Context, _ *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
				for _, part := range tc.chunks {
					if err := stream(ctx, &ai.ModelResponseChunk{Content: []*ai.Part{part}}); err != nil {
						return nil, err
					}
				}
				return &ai.ModelResponse{Message: &ai.Message{Role: ai.RoleModel, Content: whole}, FinishReason: ai.FinishReasonStop}, nil
			}
			recording := &tape{}
			for _, rec := range []*tape{recording, recording} {
				if len(recording.entries) > 0 {
					rec, model = recording.rewound(), gone
				}
				var got []*ai.Part
				resp, err := genkittraceforge.Middleware(rec, scriptedName)(model)(t.Context(),
					&ai.ModelRequest{Messages: []*ai.Message{ai.NewUserTextMessage("hi")}},
					func(_ context.Context, chunk *ai.ModelResponseChunk) error {
						got = append(got, chunk.Content...)
						return nil
					})
				require.NoError(t, err)
				require.Equal(t, tc.chunks, got)
				require.Equal(t, whole, resp.Message.Content)
			}
			var chunks []*modelio.GenerateResponseChunk
			for _, text := range recording.entries[0].chunks {
				chunks = append(chunks, decode[modelio.GenerateResponseChunk](t, text))
			}
			message, err := modelio.Aggregate(chunks)
			require.NoError(t, err)
			require.Equal(t, canonical(t, decode[modelio.GenerateResponse](t, recording.entries[0].response).Message), canonical(t, message))
		})
	}
}

// TestMiddleware_HalfRecorded: a model that is called after a replayed turn finds what it put
// into that turn.
func TestMiddleware_HalfRecorded(t *testing.T) {
	recording := &tape{}
	_, _, err := askWeather(t, weather, recording)
	require.NoError(t, err)
	half := &halfTape{replaying: recording.rewound(), recording: &tape{}}
	half.replaying.entries = half.replaying.entries[:1]
	resp, _, err := askWeather(t, weather, half)
	require.NoError(t, err)
	require.Equal(t, "sun in Oslo, sun in Rome", resp.Text())
	require.Len(t, half.recording.entries, 1)
}

// A halfTape replays what is recorded and records the rest.
type halfTape struct{ replaying, recording *tape }

func (h *halfTape) Model(name string, m modelio.Model) modelio.Model {
	return modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		resp, err := h.replaying.Model(name, m).Generate(ctx, req, stream)
		if err != nil {
			return h.recording.Model(name, m).Generate(ctx, req, stream)
		}
		return resp, nil
	})
}

// TestMiddleware_Results: results stay in the application's order where it is not clear which
// call they belong to.
func TestMiddleware_Results(t *testing.T) {
	call := func(ref string) *ai.Part { return ai.NewToolRequestPart(&ai.ToolRequest{Name: "t", Ref: ref}) }
	result := func(ref string) *ai.Part {
		return ai.NewToolResponsePart(&ai.ToolResponse{Name: "t", Ref: ref, Output: ref})
	}
	for _, tc := range []struct {
		name    string
		results []*ai.Part
		want    string
	}{
		{"by_ref", []*ai.Part{result("b"), result("a")}, `"a" "b"`},
		{"unknown_ref", []*ai.Part{result("b"), result("c"), result("a")}, `"b" "c" "a"`},
		{"no_ref", []*ai.Part{result("b"), result("")}, `"b" ""`},
		{"text_between", []*ai.Part{result("b"), ai.NewTextPart("and"), result("a")}, `"b" "a"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			recording := &tape{}
			_, err := genkittraceforge.Middleware(recording, scriptedName)(echo)(t.Context(), &ai.ModelRequest{Messages: []*ai.Message{
				{Role: ai.RoleModel, Content: []*ai.Part{call("a"), call("b")}}, {Role: ai.RoleTool, Content: tc.results},
			}}, nil)
			require.NoError(t, err)
			var got []string
			for _, part := range decode[modelio.GenerateRequest](t, recording.entries[0].request).Messages[1].Content {
				if part.ToolResponse != nil {
					got = append(got, string(part.ToolResponse.Output))
				}
			}
			require.Equal(t, tc.want, strings.Join(got, " "))
		})
	}
}

func TestMiddleware_Drift(t *testing.T) {
	recording := &tape{}
	_, _, err := askWeather(t, weather, recording)
	require.NoError(t, err)
	replaying := recording.rewound()
	middleware := genkittraceforge.Middleware(replaying, "scripted/other")(gone)
	_, err = middleware(t.Context(), &ai.ModelRequest{Messages: []*ai.Message{ai.NewUserTextMessage("other")}}, nil)
	require.ErrorContains(t, err, "drift: no recorded call")
}

// TestMiddleware_Original: while recording, the application gets the answer and the chunks of
// the model themselves.
func TestMiddleware_Original(t *testing.T) {
	answer := &ai.ModelResponse{Message: ai.NewModelTextMessage("a"), LatencyMs: 3, Raw: struct{ N int }{1}}
	chunk := &ai.ModelResponseChunk{Content: []*ai.Part{ai.NewTextPart("a")}}
	model := genkittraceforge.Middleware(&tape{}, scriptedName)(func(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		return answer, stream(ctx, chunk)
	})
	req := &ai.ModelRequest{Messages: []*ai.Message{ai.NewUserTextMessage("hi")}}
	got, err := model(t.Context(), req, func(_ context.Context, got *ai.ModelResponseChunk) error {
		require.Same(t, chunk, got)
		return nil
	})
	require.NoError(t, err)
	require.Same(t, answer, got)
	require.Same(t, req, got.Request)
	require.Equal(t, 3.0, got.LatencyMs)
}

func TestMiddleware_Errors(t *testing.T) {
	stop := errors.New("stop")
	req := &ai.ModelRequest{Messages: []*ai.Message{ai.NewUserTextMessage("hi")}}
	say := func(ctx context.Context, _ *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		if err := stream(ctx, &ai.ModelResponseChunk{Content: []*ai.Part{ai.NewTextPart("a")}}); err != nil {
			return nil, err
		}
		return &ai.ModelResponse{Message: ai.NewModelTextMessage("a")}, nil
	}
	ok := func(context.Context, *ai.ModelResponseChunk) error { return nil }
	stopping := func(context.Context, *ai.ModelResponseChunk) error { return stop }

	recording := &tape{}
	_, err := genkittraceforge.Middleware(recording, scriptedName)(say)(t.Context(), req, stopping)
	require.ErrorIs(t, err, stop, "while recording")
	_, err = genkittraceforge.Middleware(recording, scriptedName)(say)(t.Context(), req, ok)
	require.NoError(t, err)
	_, err = genkittraceforge.Middleware(recording.rewound(), scriptedName)(gone)(t.Context(), req, stopping)
	require.ErrorIs(t, err, stop, "in replay")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = genkittraceforge.Middleware(recording.rewound(), scriptedName)(gone)(ctx, req, ok)
	require.ErrorIs(t, err, context.Canceled)

	_, err = genkittraceforge.Middleware(&tape{}, scriptedName)(gone)(t.Context(), req, nil)
	require.EqualError(t, err, "the model is gone")
	_, err = genkittraceforge.Middleware(&tape{}, scriptedName)(gone)(t.Context(), &ai.ModelRequest{Config: func() {}}, nil)
	require.EqualError(t, err, "from genkit request: config: json: unsupported type: func()")
	nothing := func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		return nil, nil
	}
	_, err = genkittraceforge.Middleware(&tape{}, scriptedName)(nothing)(t.Context(), req, nil)
	require.EqualError(t, err, "genkit model returned neither an answer nor an error")
}

// TestModel: a model that is not there answers from the tape.
func TestModel(t *testing.T) {
	ask := func(rec genkittraceforge.Recorder, installed bool) (string, error) {
		g := genkit.Init(t.Context())
		var live ai.Model
		if installed {
			live = genkit.DefineModel(g, scriptedName, everything(), func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
				return &ai.ModelResponse{Message: ai.NewModelTextMessage("hello"), FinishReason: ai.FinishReasonStop}, nil
			})
		}
		model := genkittraceforge.Model(rec, g, "traceforge/model", live, nil)
		return genkit.GenerateText(t.Context(), g, ai.WithModel(model), ai.WithSystem("s"), ai.WithPrompt("hi"))
	}
	recording := &tape{}
	text, err := ask(recording, true)
	require.NoError(t, err)
	require.Equal(t, "hello", text)
	text, err = ask(recording.rewound(), false)
	require.NoError(t, err)
	require.Equal(t, "hello", text)
	_, err = ask(&tape{}, false)
	require.ErrorContains(t, err, "genkittraceforge: no model to record")
}

// TestFromModel: a model of Genkit's, alone, recorded and replayed, keeps the model contract.
func TestFromModel(t *testing.T) {
	g := genkit.Init(t.Context())
	live := genkit.DefineModel(g, scriptedName, &ai.ModelOptions{Label: "echo", Supports: &ai.ModelSupports{
		Multiturn: true, Media: true, SystemRole: true, Output: []string{"text"}, Constrained: ai.ConstrainedSupportNone,
	}}, echo)
	model := genkittraceforge.FromModel(live)
	info := modelio.InfoOf(model)
	require.Equal(t, "echo", info.Label)
	require.Equal(t, []string{"text"}, info.Supports.Output)
	require.True(t, info.Supports.Multiturn && info.Supports.Media && info.Supports.SystemRole)
	require.False(t, info.Supports.Tools || info.Supports.ToolChoice)
	require.Equal(t, modelio.ConstrainedNone, info.Supports.Constrained)
	require.NoError(t, modelio.Check(t.Context(), model, info))

	recording := &tape{}
	recorded := genkittraceforge.FromModel(genkittraceforge.Model(recording, g, "traceforge/model", live, nil))
	require.NoError(t, modelio.Check(t.Context(), recorded, info))
	replayed := genkittraceforge.FromModel(genkittraceforge.Model(recording.rewound(), genkit.Init(t.Context()), "traceforge/model", nil, nil))
	_, err := replayed.Generate(t.Context(), &modelio.GenerateRequest{Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Say hello in one short sentence.")}}}}, nil)
	require.NoError(t, err)
}

// echo is a model of Genkit's that repeats the last text it is given.
func echo(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text := ""
	for _, part := range req.Messages[len(req.Messages)-1].Content {
		if part.IsText() {
			text = part.Text
		}
	}
	if stream != nil {
		for _, half := range []string{text[:len(text)/2], text[len(text)/2:]} {
			if err := stream(ctx, &ai.ModelResponseChunk{Content: []*ai.Part{ai.NewTextPart(half)}}); err != nil {
				return nil, err
			}
		}
	}
	return &ai.ModelResponse{Message: ai.NewModelTextMessage(text), FinishReason: ai.FinishReasonStop}, nil
}
