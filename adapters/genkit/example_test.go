package genkittraceforge_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func ExampleMiddleware() {
	test := func(t testing.TB) {
		rec := traceforgetest.New(t)
		ctx := context.Background()
		g := genkit.Init(ctx)
		genkit.DefineModel(g, "my/model", genkittest.Everything(), genkittest.LiveOnly(rec, echo))
		text, err := genkit.GenerateText(ctx, g,
			ai.WithModelName("my/model"),
			ai.WithPrompt("Say hello"),
			ai.WithConfig(map[string]any{"temperature": 0}),
			ai.WithMiddleware(genkittraceforge.Middleware(rec, "my/model")),
		)
		fmt.Println(text, err)
	}
	genkittest.RecordAndReplay(test)
	// Output:
	// Say hello <nil>
	// Say hello <nil>
}

func ExampleSorted() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	genkit.DefineModel(g, "my/model", genkittest.Everything(), func(ctx context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		for _, tool := range req.Tools {
			fmt.Println(tool.Name)
		}
		return echo(ctx, req, nil)
	})
	tool := func(name string) ai.ToolRef {
		return genkit.DefineTool(g, name, "", func(*ai.ToolContext, any) (string, error) { return "", nil })
	}
	text, err := genkit.GenerateText(ctx, g,
		ai.WithModelName("my/model"),
		ai.WithPrompt("Say hello"),
		ai.WithTools(tool("weather"), tool("clock"), tool("news")),
		ai.WithMiddleware(genkittraceforge.Sorted),
	)
	fmt.Println(text, err)
	// Output:
	// clock
	// news
	// weather
	// Say hello <nil>
}

func ExampleModel() {
	test := func(t testing.TB) {
		rec := traceforgetest.New(t)
		ctx := context.Background()
		g := genkit.Init(ctx)
		var live ai.Model // of a plugin that need not be there in replay
		if rec.Recording() {
			live = genkit.DefineModel(g, "my/model", genkittest.Everything(), echo)
		}
		model := genkittraceforge.Model(rec, g, "traceforge/model", live, nil)
		text, err := genkit.GenerateText(ctx, g,
			ai.WithModel(model),
			ai.WithPrompt("Say hello"),
			ai.WithConfig(map[string]any{"temperature": 0}),
		)
		fmt.Println(text, err)
	}
	genkittest.RecordAndReplay(test)
	// Output:
	// Say hello <nil>
	// Say hello <nil>
}

func ExampleEmbedder() {
	test := func(t testing.TB) {
		rec := traceforgetest.New(t)
		ctx := context.Background()
		g := genkit.Init(ctx)
		embedder := genkit.DefineEmbedder(g, "my/embedder", nil, lengths)
		resp, err := genkit.Embed(ctx, g,
			ai.WithEmbedder(genkittraceforge.Embedder(rec, embedder)),
			ai.WithTextDocs("the sea"),
		)
		fmt.Println(resp.Embeddings[0].Embedding[:2], err)
	}
	genkittest.RecordAndReplay(test)
	// Output:
	// [7 0.1] <nil>
	// [7 0.1] <nil>
}

func ExampleRetriever() {
	test := func(t testing.TB) {
		rec := traceforgetest.New(t)
		ctx := context.Background()
		g := genkit.Init(ctx)
		index := genkit.DefineRetriever(g, "my/index", nil, func(context.Context, *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
			fmt.Println("the index is asked")
			return &ai.RetrieverResponse{Documents: []*ai.Document{ai.DocumentFromText("The sea is salty.", nil)}}, nil
		})
		resp, err := genkit.Retrieve(ctx, g,
			ai.WithRetriever(genkittraceforge.Retriever(rec, index)),
			ai.WithTextDocs("the sea"),
		)
		fmt.Println(resp.Documents[0].Content[0].Text, err)
	}
	genkittest.RecordAndReplay(test)
	// Output:
	// the index is asked
	// The sea is salty. <nil>
	// The sea is salty. <nil>
}

func ExampleFromModel() {
	g := genkit.Init(context.Background())
	model := genkit.DefineModel(g, "my/model", &ai.ModelOptions{Label: "Mine"}, echo)
	fmt.Println(traceforgetest.TestModel(genkittraceforge.FromModel(model)))
	// Output: <nil>
}
