package genkittraceforge_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

const scriptedName = "scripted/model"

var _ genkittraceforge.Recorder = (*traceforgetest.Recorder)(nil)

// weather is a model that thinks, asks for the weather of two cities, and tells it. Its thoughts
// have a signature that it wants back as it was.
func weather(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	content := []*ai.Part{ai.NewReasoningPart("Hm.", []byte{0xff, 0x00})}
	if last := req.Messages[len(req.Messages)-1]; last.Role == ai.RoleTool {
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
		Raw:          struct{ N int }{1},
	}, nil
}

// askWeather runs an application that asks a model for the weather, with two tools.
func askWeather(t *testing.T, rec *traceforgetest.Recorder, opts *ai.ModelOptions, more ...ai.GenerateOption) *ai.ModelResponse {
	t.Helper()
	g := genkit.Init(t.Context())
	genkit.DefineModel(g, scriptedName, opts, genkittest.LiveOnly(rec, weather))
	type input struct {
		City string `json:"city"`
	}
	tool := genkit.DefineTool(g, "weather", "tells the weather", func(_ *ai.ToolContext, in input) (string, error) { return "sun in " + in.City, nil })
	other := genkit.DefineTool(g, "clock", "tells the time", func(_ *ai.ToolContext, in input) (string, error) { return "noon", nil })
	resp, err := genkit.Generate(t.Context(), g, append(more,
		ai.WithModelName(scriptedName),
		ai.WithSystem("Be brief."),
		ai.WithPrompt("How is the weather?"),
		ai.WithTools(tool, other),
		ai.WithMiddleware(genkittraceforge.Middleware(rec, scriptedName)),
	)...)
	require.NoError(t, err)
	return resp
}

// TestMiddleware: an application with tools and streaming gets the same when its model is gone.
// Genkit gives the tool requests random refs; that is no drift.
func TestMiddleware(t *testing.T) {
	dir := genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		var chunks []string
		resp := askWeather(t, rec, genkittest.Everything(), ai.WithStreaming(func(_ context.Context, chunk *ai.ModelResponseChunk) error {
			chunks = append(chunks, fmt.Sprintf("%d %s %q %q", chunk.Index, chunk.Role, chunk.Reasoning(), strings.TrimPrefix(chunk.Text(), chunk.Reasoning())))
			return nil
		}))
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
		require.Equal(t, map[string]any{"N": 1.0}, resp.Raw, "as JSON, also while recording")
		require.Len(t, resp.History(), 5)
	})
	for name, text := range files(t, dir) {
		require.NotContains(t, text, "latencyMs", name)
		require.NotContains(t, text, "Characters", name)
	}
}

// files returns what is in a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(dir), name)
		texts[name] = string(text)
		return err
	}))
	require.NotEmpty(t, texts)
	return texts
}

// TestMiddleware_Order: the orders that Genkit leaves to chance are no drift, however often they
// are tried: each of two is the same by chance every other time.
func TestMiddleware_Order(t *testing.T) {
	ask := func(rec *traceforgetest.Recorder) { askWeather(t, rec, genkittest.Everything()) }
	dir := genkittest.Rehearse(t, ask)
	for range 8 {
		genkittest.Play(t, dir, "", ask)
	}
}

// TestMiddleware_ChangedRequest: around a model that takes no system role and no documents,
// Genkit changes the request; where no model is called, it does not.
func TestMiddleware_ChangedRequest(t *testing.T) {
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		resp := askWeather(t, rec, &ai.ModelOptions{Supports: &ai.ModelSupports{Multiturn: true, Tools: true}}, ai.WithTextDocs("It is May."))
		require.Equal(t, "sun in Oslo, sun in Rome", resp.Text())
		require.Len(t, resp.History(), 5)
		require.Equal(t, ai.RoleSystem, resp.Request.Messages[0].Role)
		require.Equal(t, "How is the weather?", resp.Request.Messages[1].Text())
	})
}

// TestMiddleware_UpdateNew: a model that is called after a replayed turn finds what it put into
// that turn.
func TestMiddleware_UpdateNew(t *testing.T) {
	dir := t.TempDir()
	genkittest.Play(t, dir, "1", func(rec *traceforgetest.Recorder) {
		require.Len(t, askWeather(t, rec, genkittest.Everything(), ai.WithReturnToolRequests(true)).ToolRequests(), 2)
	})
	for _, mode := range []string{"new", ""} {
		genkittest.Play(t, dir, mode, func(rec *traceforgetest.Recorder) {
			require.Equal(t, "sun in Oslo, sun in Rome", askWeather(t, rec, genkittest.Everything()).Text())
		})
	}
}

// TestMiddleware_Stream: a stream is replayed as it was, also where its chunks do not add up to
// the answer.
func TestMiddleware_Stream(t *testing.T) {
	request := func(name, ref string, input any) *ai.Part {
		return ai.NewToolRequestPart(&ai.ToolRequest{Name: name, Ref: ref, Input: input})
	}
	whole := []*ai.Part{request("t", "1", map[string]any{"a": 1.0}), request("t", "2", map[string]any{"a": 2.0})}
	for _, tc := range []struct {
		name, why string
		chunks    []*ai.Part
	}{
		{"fragments", "Genkit's OpenAI plugin passes arguments on as they come", []*ai.Part{request("t", "1", ""), request("", "", `{"a":`), request("", "", "1}"), request("t", "2", `{"a":2}`)}},
		{"something_else", "it is what the model did", []*ai.Part{ai.NewTextPart("3"), ai.NewTextPart("2")}},
		{"half", "it is what the model did", whole[:1]},
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
			genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
				var got []*ai.Part
				resp, err := genkittraceforge.Middleware(rec, scriptedName)(genkittest.LiveOnly(rec, model))(t.Context(), hello(),
					func(_ context.Context, chunk *ai.ModelResponseChunk) error {
						got = append(got, chunk.Content...)
						return nil
					})
				require.NoError(t, err)
				require.Equal(t, tc.chunks, got, tc.why)
				require.Equal(t, whole, resp.Message.Content)
			})
		})
	}
}

func hello() *ai.ModelRequest {
	return &ai.ModelRequest{Messages: []*ai.Message{ai.NewUserTextMessage("hi")}}
}

// A recorderFunc is a recorder that answers by itself.
type recorderFunc modelio.ModelFunc

func (f recorderFunc) Model(string, modelio.Model) modelio.Model { return modelio.ModelFunc(f) }

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
			var got []string
			rec := recorderFunc(func(_ context.Context, req *modelio.GenerateRequest, _ modelio.StreamFunc) (*modelio.GenerateResponse, error) {
				for _, part := range req.Messages[1].Content {
					if part.ToolResponse != nil {
						got = append(got, string(part.ToolResponse.Output))
					}
				}
				return &modelio.GenerateResponse{}, nil
			})
			_, err := genkittraceforge.Middleware(rec, scriptedName)(echo)(t.Context(), &ai.ModelRequest{Messages: []*ai.Message{
				{Role: ai.RoleModel, Content: []*ai.Part{call("a"), call("b")}}, {Role: ai.RoleTool, Content: tc.results},
			}}, nil)
			require.NoError(t, err)
			require.Equal(t, tc.want, strings.Join(got, " "))
		})
	}
}

// TestMiddleware_Drift: another question, and another model, is drift.
func TestMiddleware_Drift(t *testing.T) {
	dir := genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) { askWeather(t, rec, genkittest.Everything()) })
	for name, req := range map[string]*ai.ModelRequest{
		scriptedName:     {Messages: []*ai.Message{ai.NewUserTextMessage("How is the weather today?")}},
		"scripted/other": {Messages: []*ai.Message{ai.NewUserTextMessage("How is the weather?")}},
	} {
		tb := tbtest.New(t.Name())
		rec := traceforgetest.New(tb, traceforgetest.Dir(dir))
		_, err := genkittraceforge.Middleware(rec, name)(echo)(t.Context(), req, nil)
		require.ErrorContains(t, err, "scripted request drifted")
		tb.End()
		require.True(t, tb.Failed())
	}
}

func TestMiddleware_Errors(t *testing.T) {
	stop := errors.New("stop")
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		call := genkittraceforge.Middleware(rec, scriptedName)(genkittest.LiveOnly(rec, echo))
		_, err := call(t.Context(), hello(), func(context.Context, *ai.ModelResponseChunk) error { return stop })
		require.ErrorIs(t, err, stop)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = call(ctx, hello(), nil)
		require.ErrorIs(t, err, context.Canceled)
	})

	for _, tc := range []struct {
		want  string
		req   *ai.ModelRequest
		model ai.ModelFunc
	}{
		{"boom", hello(), func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			return nil, errors.New("boom")
		}},
		{"genkit model returned neither an answer nor an error", hello(), func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			return nil, nil
		}},
		{"from genkit request: config: json: unsupported type: func()", &ai.ModelRequest{Config: func() {}}, echo},
	} {
		_, err := genkittraceforge.Middleware(passing{}, scriptedName)(tc.model)(t.Context(), tc.req, nil)
		require.EqualError(t, err, tc.want)
	}
}

// passing is a recorder that neither records nor replays.
type passing struct{}

func (passing) Model(_ string, m modelio.Model) modelio.Model { return m }

// TestModel: a model that is not there answers from the recorder.
func TestModel(t *testing.T) {
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		g := genkit.Init(t.Context())
		var live ai.Model
		if rec.Recording() {
			live = genkit.DefineModel(g, scriptedName, genkittest.Everything(), echo)
		}
		model := genkittraceforge.Model(rec, g, "traceforge/model", live, nil)
		text, err := genkit.GenerateText(t.Context(), g, ai.WithModel(model), ai.WithSystem("s"), ai.WithPrompt("hi"))
		require.NoError(t, err)
		require.Equal(t, "hi", text)
	})
	model := genkittraceforge.Model(passing{}, genkit.Init(t.Context()), "traceforge/model", nil, nil)
	_, err := model.Generate(t.Context(), hello(), nil)
	require.ErrorContains(t, err, "genkittraceforge: no model to record")
}

// TestFromModel: a model of Genkit's keeps the model contract, alone, recorded and replayed.
func TestFromModel(t *testing.T) {
	opts := &ai.ModelOptions{Label: "echo", Supports: &ai.ModelSupports{
		Multiturn: true, Media: true, SystemRole: true, Output: []string{"text"}, Constrained: ai.ConstrainedSupportNone,
	}}
	live := genkit.DefineModel(genkit.Init(t.Context()), scriptedName, opts, echo)
	model := genkittraceforge.FromModel(live)
	info := modelio.InfoOf(model)
	require.Equal(t, "echo", info.Label)
	require.Equal(t, []string{"text"}, info.Supports.Output)
	require.True(t, info.Supports.Multiturn && info.Supports.Media && info.Supports.SystemRole)
	require.False(t, info.Supports.Tools || info.Supports.ToolChoice)
	require.Equal(t, modelio.ConstrainedNone, info.Supports.Constrained)
	require.NoError(t, modeltest.TestModel(model))

	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		var underneath ai.Model
		if rec.Recording() {
			underneath = live
		}
		model := genkittraceforge.Model(rec, genkit.Init(t.Context()), "traceforge/model", underneath, opts)
		require.NoError(t, modeltest.TestModel(genkittraceforge.FromModel(model)))
	})
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
