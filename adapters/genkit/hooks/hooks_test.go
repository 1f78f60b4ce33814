package genkithooks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	genkithooks "github.com/traceforge/traceforge-go/adapters/genkit/hooks"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// weather is a model that asks for the weather of some cities at once, and tells it.
func weather(cities ...string) ai.ModelFunc {
	return func(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		var content []*ai.Part
		if last := req.Messages[len(req.Messages)-1]; last.Role == ai.RoleTool {
			var results []string // in an order of its own: Genkit's is that in which they were ready
			for _, part := range last.Content {
				results = append(results, fmt.Sprint(part.ToolResponse.Output))
			}
			slices.Sort(results)
			content = append(content, ai.NewTextPart(strings.Join(results, ", ")))
		} else {
			for _, city := range cities {
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
		return &ai.ModelResponse{Message: &ai.Message{Role: ai.RoleModel, Content: content}, FinishReason: ai.FinishReasonStop}, nil
	}
}

type place struct {
	City string `json:"city"`
}

// install defines a model of that name in a Genkit of its own, which is gone in replay.
func install(t *testing.T, rec *traceforgetest.Recorder, name string, model ai.ModelFunc, opts ...genkit.GenkitOption) *genkit.Genkit {
	g := genkit.Init(t.Context(), opts...)
	genkit.DefineModel(g, name, genkittest.Everything(), genkittest.LiveOnly(rec, model))
	return g
}

// ask asks for the weather with tools.
func ask(t *testing.T, g *genkit.Genkit, use []ai.Middleware, more ...ai.GenerateOption) *ai.ModelResponse {
	t.Helper()
	resp, err := genkit.Generate(t.Context(), g, append(more,
		ai.WithModelName("scripted/model"), ai.WithPrompt("How is the weather?"), ai.WithUse(use...))...)
	require.NoError(t, err)
	return resp
}

// TestRecord: an application with tools and streaming gets the same when its model is gone and its tools do not run.
func TestRecord(t *testing.T) {
	var ran atomic.Int32
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		g := install(t, rec, "scripted/model", weather("Oslo", "Rome"))
		tool := genkit.DefineTool(g, "weather", "tells the weather", func(_ *ai.ToolContext, in place) (string, error) {
			ran.Add(1)
			return "sun in " + in.City, nil
		})
		var streamed strings.Builder
		resp := ask(t, g, []ai.Middleware{genkithooks.Record(rec)}, ai.WithTools(tool), ai.WithStreaming(func(_ context.Context, chunk *ai.ModelResponseChunk) error {
			streamed.WriteString(chunk.Text())
			return nil
		}))
		require.Equal(t, "sun in Oslo, sun in Rome", resp.Text())
		require.Equal(t, resp.Text(), streamed.String())
		require.EqualValues(t, 2, ran.Load(), "in the recording alone")
		kinds := map[string]int{}
		for _, call := range rec.Calls() {
			kinds[call.Request.API+" "+call.Request.Model]++
		}
		require.Equal(t, map[string]int{"genkit.generate model": 2, "tool.call weather": 2}, kinds)
	})
}

// hello asks a model, which is nil for the default one, for a greeting.
func hello(ctx context.Context, g *genkit.Genkit, rec *traceforgetest.Recorder, model ...ai.GenerateOption) error {
	text, err := genkit.GenerateText(ctx, g, append(model, ai.WithPrompt("Say hello."), ai.WithUse(genkithooks.Record(rec)))...)
	if err == nil && text != "Hello." {
		err = fmt.Errorf("got %q", text)
	}
	return err
}

func greeting(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	return &ai.ModelResponse{Message: ai.NewModelTextMessage("Hello."), FinishReason: ai.FinishReasonStop}, nil
}

// TestRecord_Names: a model is recorded under the name that Genkit has for it, wherever the application says it.
func TestRecord_Names(t *testing.T) {
	for _, tc := range []struct {
		name, why, model, provider string
		option                     []ai.GenerateOption
		init                       []genkit.GenkitOption
	}{
		{"named", "as most are", "model", "scripted", []ai.GenerateOption{ai.WithModelName("scripted/model")}, nil},
		{"default", "the application names none", "model", "scripted", nil, []genkit.GenkitOption{genkit.WithDefaultModel("scripted/model")}},
		{"deep", "models of gateways", "publisher/model", "scripted", []ai.GenerateOption{ai.WithModelName("scripted/publisher/model")}, nil},
		{"no_provider", "an application's own models need none", "mine", "genkit", []ai.GenerateOption{ai.WithModelName("mine")}, nil},
		{"foreign_provider", "Genkit takes any name", "My_Own/model", "genkit", []ai.GenerateOption{ai.WithModelName("My_Own/model")}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
				installed := tc.model
				if tc.provider != "genkit" {
					installed = tc.provider + "/" + tc.model
				}
				require.NoError(t, hello(t.Context(), install(t, rec, installed, greeting, tc.init...), rec, tc.option...), tc.why)
				calls := rec.Calls()
				require.Len(t, calls, 1)
				require.Equal(t, []string{tc.provider, tc.model}, []string{calls[0].Provider, calls[0].Request.Model}, tc.why)
			})
		})
	}
}

// TestRecord_OtherModel: a program that asks another model than it was recorded with fails, with nothing typed twice.
func TestRecord_OtherModel(t *testing.T) {
	ask := func(model string) func(*traceforgetest.Recorder) {
		return func(rec *traceforgetest.Recorder) {
			err := hello(t.Context(), install(t, rec, model, greeting), rec, ai.WithModelName(model))
			require.Equal(t, model != "scripted/model", err != nil, err)
		}
	}
	dir := genkittest.Rehearse(t, ask("scripted/model"))
	for other, want := range map[string]string{
		"scripted/other": "- model + other changed: model",
		"another/model":  "another",
	} {
		failure := strings.Join(strings.Fields(genkittest.Fails(t, dir, "", ask(other))), " ")
		t.Log(failure)
		require.Contains(t, failure, want)
	}
}

// TestRecord_Fallback: where a middleware behind it asks another model, that one's answer is recorded as one of the first.
func TestRecord_Fallback(t *testing.T) {
	fallback := func(g *genkit.Genkit) ai.Middleware {
		return ai.MiddlewareFunc(func(context.Context) (*ai.Hooks, error) {
			return &ai.Hooks{WrapModel: func(ctx context.Context, params *ai.ModelParams, next ai.ModelNext) (*ai.ModelResponse, error) {
				if resp, err := next(ctx, params); err == nil {
					return resp, nil
				}
				return genkit.LookupModel(g, "scripted/second").Generate(ctx, params.Request, params.Callback)
			}}, nil
		})
	}
	busy := func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		return nil, errors.New("busy")
	}
	genkittest.Rehearse(t, func(rec *traceforgetest.Recorder) {
		g := install(t, rec, "scripted/first", busy)
		genkit.DefineModel(g, "scripted/second", genkittest.Everything(), genkittest.LiveOnly(rec, greeting))
		text, err := genkit.GenerateText(t.Context(), g, ai.WithModelName("scripted/first"), ai.WithPrompt("Say hello."),
			ai.WithUse(genkithooks.Record(rec), fallback(g)))
		require.NoError(t, err)
		require.Equal(t, "Hello.", text)
		require.Len(t, rec.Calls(), 1)
		require.Equal(t, "first", rec.Calls()[0].Request.Model)
	})
}
