package genkithooks_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	genkithooks "github.com/traceforge/traceforge-go/adapters/genkit/hooks"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/genkittest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func ExampleRecord() {
	test := func(t testing.TB) {
		rec := traceforgetest.New(t)
		ctx := context.Background()
		g := genkit.Init(ctx)
		genkit.DefineModel(g, "my/model", genkittest.Everything(), genkittest.LiveOnly(rec, weather("Oslo")))
		tool := genkit.DefineTool(g, "weather", "tells the weather", func(_ *ai.ToolContext, in place) (string, error) {
			fmt.Println("the tool runs")
			return "sun in " + in.City, nil
		})
		text, err := genkit.GenerateText(ctx, g,
			ai.WithModelName("my/model"),
			ai.WithPrompt("How is the weather?"),
			ai.WithConfig(map[string]any{"temperature": 0}),
			ai.WithTools(tool),
			ai.WithUse(genkithooks.Record(rec)),
		)
		fmt.Println(text, err)
	}
	genkittest.RecordAndReplay(test)
	// Output:
	// the tool runs
	// sun in Oslo <nil>
	// sun in Oslo <nil>
}
