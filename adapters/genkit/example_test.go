package genkittraceforge_test

import (
	"context"
	"slices"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func ExampleMiddleware() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	hello := func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		return &ai.ModelResponse{Message: ai.NewModelTextMessage("Hello"), FinishReason: ai.FinishReasonStop}, nil
	}
	genkit.DefineModel(g, "my/model", nil, hello)

	rec := traceforgetest.New(t)
	text, err := genkit.GenerateText(ctx, g,
		ai.WithModelName("my/model"),
		ai.WithPrompt("Say hello"),
		ai.WithConfig(map[string]any{"temperature": 0}),
		ai.WithMiddleware(genkittraceforge.Middleware(rec, "my/model")),
	)
	if err != nil || text != "Hello" {
		t.Error(text, err)
	}
}

// Genkit gives tools in an order of chance. A recorder over HTTP, as with rec.Client(), needs the same one in each run.
func ExampleSorted() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	var tools []string
	model := func(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		for _, tool := range req.Tools {
			tools = append(tools, tool.Name)
		}
		return &ai.ModelResponse{Message: ai.NewModelTextMessage("Hello"), FinishReason: ai.FinishReasonStop}, nil
	}
	genkit.DefineModel(g, "my/model", &ai.ModelOptions{Supports: &ai.ModelSupports{Tools: true}}, model)
	tool := func(name string) ai.ToolRef {
		return genkit.DefineTool(g, name, "", func(*ai.ToolContext, any) (string, error) { return "", nil })
	}
	_, err := genkit.GenerateText(ctx, g,
		ai.WithModelName("my/model"),
		ai.WithPrompt("Say hello"),
		ai.WithTools(tool("weather"), tool("clock"), tool("news")),
		ai.WithMiddleware(genkittraceforge.Sorted),
	)
	if err != nil || !slices.Equal(tools, []string{"clock", "news", "weather"}) {
		t.Error(tools, err)
	}
}

func ExampleModel() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	rec := traceforgetest.New(t)
	var live ai.Model // of a plugin that need not be there in replay
	if rec.Recording() {
		hello := func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			return &ai.ModelResponse{Message: ai.NewModelTextMessage("Hello"), FinishReason: ai.FinishReasonStop}, nil
		}
		live = genkit.DefineModel(g, "my/model", nil, hello)
	}
	text, err := genkit.GenerateText(ctx, g,
		ai.WithModel(genkittraceforge.Model(rec, g, "traceforge/model", live, nil)),
		ai.WithPrompt("Say hello"),
		ai.WithConfig(map[string]any{"temperature": 0}),
	)
	if err != nil || text != "Hello" {
		t.Error(text, err)
	}
}

func ExampleEmbedder() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	embedder := genkit.DefineEmbedder(g, "my/embedder", nil, func(context.Context, *ai.EmbedRequest) (*ai.EmbedResponse, error) {
		return &ai.EmbedResponse{Embeddings: []*ai.Embedding{{Embedding: []float32{7, 0.1}}}}, nil
	})

	rec := traceforgetest.New(t)
	resp, err := genkit.Embed(ctx, g,
		ai.WithEmbedder(genkittraceforge.Embedder(rec, embedder)),
		ai.WithTextDocs("the sea"),
	)
	if err != nil || !slices.Equal(resp.Embeddings[0].Embedding, []float32{7, 0.1}) {
		t.Error(resp, err)
	}
}

func ExampleRetriever() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	index := genkit.DefineRetriever(g, "my/index", nil, func(context.Context, *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
		return &ai.RetrieverResponse{Documents: []*ai.Document{ai.DocumentFromText("The sea is salty.", nil)}}, nil
	})

	rec := traceforgetest.New(t)
	resp, err := genkit.Retrieve(ctx, g,
		ai.WithRetriever(genkittraceforge.Retriever(rec, index)),
		ai.WithTextDocs("the sea"),
	)
	if err != nil || resp.Documents[0].Content[0].Text != "The sea is salty." {
		t.Error(resp, err)
	}
}

// A model of a plugin of yours is held to the model contract.
func ExampleFromModel() {
	g := genkit.Init(context.Background())
	hello := func(ctx context.Context, _ *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		answer := ai.NewModelTextMessage("Hello")
		if stream != nil {
			if err := stream(ctx, &ai.ModelResponseChunk{Content: answer.Content}); err != nil {
				return nil, err
			}
		}
		return &ai.ModelResponse{Message: answer, FinishReason: ai.FinishReasonStop}, nil
	}
	model := genkit.DefineModel(g, "my/model", &ai.ModelOptions{Label: "Mine"}, hello)
	if err := modeltest.TestModel(genkittraceforge.FromModel(model)); err != nil {
		t.Error(err)
	}
}
