package genkithooks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/middleware"
	"github.com/stretchr/testify/require"

	genkithooks "github.com/traceforge/traceforge-go/adapters/genkit/hooks"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestTools_Parallel: calls of tools that run at once get their own results, whichever is ready first.
func TestTools_Parallel(t *testing.T) {
	var cities []string
	for i := range 16 {
		cities = append(cities, fmt.Sprintf("city %02d", i))
	}
	run := func(rec *traceforgetest.Recorder) {
		g := install(t, rec, "scripted/model", weather(cities...))
		tool := genkit.DefineTool(g, "weather", "tells the weather", func(_ *ai.ToolContext, in place) (string, error) {
			time.Sleep(time.Duration(in.City[len(in.City)-1]%3) * time.Millisecond)
			return "sun in " + in.City, nil
		})
		resp := ask(t, g, []ai.Middleware{genkithooks.Record(rec)}, ai.WithTools(tool))
		asked := map[string]any{}
		for _, part := range resp.History()[1].Content {
			asked[part.ToolRequest.Ref] = "sun in " + part.ToolRequest.Input.(map[string]any)["city"].(string)
		}
		require.Len(t, asked, len(cities))
		for _, part := range resp.History()[2].Content {
			require.Equal(t, asked[part.ToolResponse.Ref], part.ToolResponse.Output)
		}
	}
	dir := genkittest.Rehearse(t, run)
	for range 8 {
		genkittest.Play(t, dir, "", run)
	}
}

// TestTools_Outputs: an output is replayed as Genkit has it, whatever it looks like.
func TestTools_Outputs(t *testing.T) {
	for _, tc := range []struct {
		name, why string
		output    any
		content   []*ai.Part
		metadata  map[string]any
	}{
		{"text", "as most are", "sun", nil, nil},
		{"nothing", "a tool that only does something", nil, nil, nil},
		{"number", "Genkit has float64s", 3.5, nil, nil},
		{"markup", "nothing is escaped for HTML", "<b>&</b>", nil, nil},
		{"object", "as structs become", map[string]any{"celsius": 14.0, "sky": []any{"clear", nil}}, nil, nil},
		{"lookalike", "it says no more than its members", map[string]any{"$genkit": map[string]any{"interrupt": true}}, nil, nil},
		{"null_lookalike", "the member is there", map[string]any{"$genkit": nil}, nil, nil},
		{"parts", "a tool may answer with media", "a map", []*ai.Part{ai.NewTextPart("the map"), ai.NewMediaPart("image/png", "data:image/png;base64,AAAA")}, nil},
		{"metadata", "it goes into the message", "sun", nil, map[string]any{"source": "satellite"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
				g := install(t, rec, "scripted/model", weather("Oslo"))
				tool := genkit.DefineMultipartTool(g, "weather", "tells the weather", func(*ai.ToolContext, place) (*ai.MultipartToolResponse, error) {
					return &ai.MultipartToolResponse{Output: tc.output, Content: tc.content, Metadata: tc.metadata}, nil
				})
				var got *ai.MultipartToolResponse // not all of which each version of Genkit gives the model
				seen := ai.MiddlewareFunc(func(context.Context) (*ai.Hooks, error) {
					return &ai.Hooks{WrapTool: func(ctx context.Context, params *ai.ToolParams, next ai.ToolNext) (*ai.MultipartToolResponse, error) {
						resp, err := next(ctx, params)
						got = resp
						return resp, err
					}}, nil
				})
				ask(t, g, []ai.Middleware{seen, genkithooks.Record(rec)}, ai.WithTools(tool))
				require.Equal(t, tc.output, got.Output, tc.why)
				require.Equal(t, tc.metadata, got.Metadata, tc.why)
				want, err := json.Marshal(tc.content)
				require.NoError(t, err)
				said, err := json.Marshal(got.Content)
				require.NoError(t, err)
				require.Equal(t, string(want), string(said), tc.why)
			})
		})
	}
}

// TestTools_Failure: a tool that fails fails in replay, with the same text.
func TestTools_Failure(t *testing.T) {
	var want string
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		g := install(t, rec, "scripted/model", weather("Oslo"))
		tool := genkit.DefineTool(g, "weather", "tells the weather", func(*ai.ToolContext, place) (string, error) {
			return "", errors.New("the station is closed")
		})
		_, err := genkit.Generate(t.Context(), g, ai.WithModelName("scripted/model"), ai.WithPrompt("How is the weather?"),
			ai.WithTools(tool), ai.WithUse(genkithooks.Record(rec)))
		require.ErrorContains(t, err, "the station is closed")
		if want == "" {
			want = err.Error()
		}
		require.Equal(t, want, err.Error())
	})
}

// transfer is an application whose tool asks a person before it pays, and what that one says.
func transfer(t *testing.T, rec *traceforgetest.Recorder, approval map[string]any, newInput *place) (string, error) {
	g := install(t, rec, "scripted/model", weather("Oslo", "Rome"))
	tool := genkit.DefineTool(g, "weather", "tells the weather, for money", func(ctx *ai.ToolContext, in place) (string, error) {
		switch {
		case in.City == "Rome":
			return "free sun in Rome", nil
		case ctx.Resumed == nil:
			return "", ctx.Interrupt(&ai.InterruptOptions{Metadata: map[string]any{"price": 3.0}})
		case ctx.Resumed["approved"] != true:
			return "none without money", nil
		}
		return "sun in " + in.City, nil
	})
	resp := ask(t, g, []ai.Middleware{genkithooks.Record(rec)}, ai.WithTools(tool))
	require.Equal(t, ai.FinishReasonInterrupted, resp.FinishReason)
	require.Len(t, resp.Interrupts(), 1)
	require.Equal(t, map[string]any{"price": 3.0}, resp.Interrupts()[0].Metadata["interrupt"])
	opts := []ai.RestartWithOption[place]{ai.WithResumedMetadata[place](approval)}
	if newInput != nil {
		opts = append(opts, ai.WithNewInput(*newInput))
	}
	restart, err := tool.RestartWith(resp.Interrupts()[0], opts...)
	require.NoError(t, err)
	resp, err = genkit.Generate(t.Context(), g, ai.WithModelName("scripted/model"), ai.WithMessages(resp.History()...),
		ai.WithTools(tool), ai.WithToolRestarts(restart), ai.WithUse(genkithooks.Record(rec)))
	if err != nil {
		return "", err
	}
	return resp.Text(), nil
}

// TestTools_Interrupt: an interrupt is no failure, in replay either, and a generation is resumed with its tool.
func TestTools_Interrupt(t *testing.T) {
	yes, no := map[string]any{"approved": true}, map[string]any{"approved": false}
	for _, tc := range []struct {
		name, want string
		approval   map[string]any
		input      *place
	}{
		{"refused", "free sun in Rome, none without money", no, nil},
		{"replaced", "free sun in Rome, sun in Bergen", yes, &place{"Bergen"}},
		{"approved", "free sun in Rome, sun in Oslo", yes, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
				got, err := transfer(t, rec, tc.approval, tc.input)
				require.NoError(t, err)
				require.Equal(t, tc.want, got)
			})
			failure := genkittest.Fails(t, dir, "", func(rec *traceforgetest.Recorder) {
				_, err := transfer(t, rec, map[string]any{"approved": "maybe"}, nil)
				require.Error(t, err, "what it is resumed with has changed")
			})
			require.Contains(t, failure, "maybe")
		})
	}
}

// TestTools_Live: a tool that asks a model itself runs in replay too, or is refused.
func TestTools_Live(t *testing.T) {
	run := func(rec *traceforgetest.Recorder, recording genkithooks.Recording) error {
		g := install(t, rec, "scripted/model", weather("Oslo"))
		genkit.DefineModel(g, "scripted/expert", genkittest.Everything(), genkittest.LiveOnly(rec, greeting))
		tool := genkit.DefineTool(g, "weather", "asks another model", func(ctx *ai.ToolContext, in place) (string, error) {
			said, err := genkit.GenerateText(ctx, g, ai.WithModelName("scripted/expert"), ai.WithPrompt("And in %s?", in.City), ai.WithUse(recording))
			if err != nil { // as the delegation tools of Genkit's Agents do
				said = "Error calling agent: " + err.Error()
			}
			return said, nil
		})
		_, err := genkit.Generate(context.Background(), g, ai.WithModelName("scripted/model"), ai.WithPrompt("How is the weather?"),
			ai.WithTools(tool), ai.WithUse(recording))
		return err
	}
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		require.NoError(t, run(rec, genkithooks.Record(rec).Live("other").Live("weather")))
		require.Len(t, rec.Calls(), 3)
	})
	genkittest.Play(t, t.TempDir(), "1", func(rec *traceforgetest.Recorder) {
		require.ErrorContains(t, run(rec, genkithooks.Record(rec)), `tool "weather" asks a model, and neither happens in replay`)
	})
}

// TestTools_Filesystem: a tool of Genkit's own that also adds a message to the request runs in replay, or the next call
// of the model drifts.
func TestTools_Filesystem(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "oslo.txt"), []byte("sun in Oslo"), 0o600))
	reader := func(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		said := ai.NewToolRequestPart(&ai.ToolRequest{Name: "read_file", Input: map[string]any{"filePath": "oslo.txt"}})
		if len(req.Messages) > 1 {
			said = ai.NewTextPart(req.Messages[len(req.Messages)-1].Text())
		}
		return &ai.ModelResponse{Message: ai.NewModelMessage(said), FinishReason: ai.FinishReasonStop}, nil
	}
	run := func(live ...string) func(*traceforgetest.Recorder) {
		return func(rec *traceforgetest.Recorder) {
			g := install(t, rec, "scripted/model", reader)
			resp, err := genkit.Generate(t.Context(), g, ai.WithModelName("scripted/model"), ai.WithPrompt("How is the weather?"),
				ai.WithUse(&middleware.Filesystem{RootDir: root}, genkithooks.Record(rec).Live(live...)))
			if live == nil && !rec.Recording() {
				require.ErrorContains(t, err, "drifted")
				return
			}
			require.NoError(t, err)
			require.Contains(t, resp.Text(), "sun in Oslo")
		}
	}
	genkittest.Rehearse(t, run("read_file"))
	dir := t.TempDir()
	genkittest.Play(t, dir, "1", run())
	genkittest.Fails(t, dir, "", run())
}
