package genkittraceforge_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/internal/tbtest"
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
	recordAndReplay(test)
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
	recordAndReplay(test)
	// Output:
	// Say hello <nil>
	// Say hello <nil>
}

func ExampleFromModel() {
	g := genkit.Init(context.Background())
	model := genkit.DefineModel(g, "my/model", &ai.ModelOptions{Label: "Mine"}, echo)
	fmt.Println(traceforgetest.TestModel(genkittraceforge.FromModel(model)))
	// Output: <nil>
}

// recordAndReplay runs a test as go test -update does, and then as go test does.
func recordAndReplay(test func(testing.TB)) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	defer os.Unsetenv("TRACEFORGE_DIR")
	os.Setenv("TRACEFORGE_DIR", dir)
	for _, update := range []string{"1", ""} {
		os.Setenv("TRACEFORGE_UPDATE", update)
		if t := tbtest.Run("TestHello", func(t *tbtest.TB) { test(t) }); t.Failed() {
			fmt.Println(t.Logged())
		}
	}
}
