package genkithooks_test

import (
	"context"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	genkithooks "github.com/traceforge/traceforge-go/adapters/genkit/hooks"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// The model asks for a tool, and then says what it returned. In replay neither runs.
func ExampleRecord() {
	ctx := context.Background()
	g := genkit.Init(ctx)
	model := func(_ context.Context, req *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		said := ai.NewToolRequestPart(&ai.ToolRequest{Name: "weather", Input: "Oslo"})
		if last := req.Messages[len(req.Messages)-1]; last.Role == ai.RoleTool {
			said = ai.NewTextPart(last.Content[0].ToolResponse.Output.(string))
		}
		return &ai.ModelResponse{Message: ai.NewModelMessage(said), FinishReason: ai.FinishReasonStop}, nil
	}
	genkit.DefineModel(g, "my/model", &ai.ModelOptions{Supports: &ai.ModelSupports{Multiturn: true, Tools: true}}, model)
	weather := genkit.DefineTool(g, "weather", "tells the weather", func(_ *ai.ToolContext, city string) (string, error) {
		return "sun in " + city, nil
	})

	tf := traceforgetest.New(t)
	text, err := genkit.GenerateText(ctx, g,
		ai.WithModelName("my/model"),
		ai.WithPrompt("How is the weather?"),
		ai.WithConfig(map[string]any{"temperature": 0}),
		ai.WithTools(weather),
		ai.WithUse(genkithooks.Record(tf)),
	)
	if err != nil || text != "sun in Oslo" {
		t.Error(text, err)
	}
}
