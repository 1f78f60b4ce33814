// Package forecast is a small Genkit application. Its flow asks a model about the weather, with a tool that looks it
// up, and streams the answer.
package forecast

import (
	"context"
	"fmt"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core"
	"github.com/firebase/genkit/go/genkit"
)

// A Flow describes the weather in a city and streams its words.
type Flow = core.Flow[string, string, string]

// Define defines the flow in g. It calls the named model, with the middleware around each call.
func Define(g *genkit.Genkit, model string, middleware ...ai.ModelMiddleware) *Flow {
	type place struct {
		City string `json:"city"`
	}
	weather := genkit.DefineTool(g, "weather", "Get the weather for a city",
		func(_ *ai.ToolContext, in place) (string, error) { return "sunny in " + in.City, nil })

	return genkit.DefineStreamingFlow(g, "forecast",
		func(ctx context.Context, city string, send core.StreamCallback[string]) (string, error) {
			resp, err := genkit.Generate(ctx, g,
				ai.WithModelName(model),
				ai.WithSystem("You are a weather forecaster. Use the weather tool."),
				ai.WithPrompt("What is the weather in %s?", city),
				ai.WithConfig(map[string]any{"temperature": 0, "seed": 7}),
				ai.WithTools(weather),
				ai.WithStreaming(func(ctx context.Context, chunk *ai.ModelResponseChunk) error {
					if send == nil || chunk.Text() == "" {
						return nil
					}
					return send(ctx, chunk.Text())
				}),
				ai.WithMiddleware(middleware...),
			)
			if err != nil {
				return "", fmt.Errorf("forecast for %s: %w", city, err)
			}
			return resp.Text(), nil
		})
}
