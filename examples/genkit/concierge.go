// Package concierge is a complete Genkit application: it recognizes cities in pictures, plans trips, and books hotels
// after asking for approval.
package concierge

import (
	"context"
	_ "embed" // describe.prompt
	"errors"
	"fmt"
	"math"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core"
	"github.com/firebase/genkit/go/genkit"
)

const model = "openai/gpt-4o"

//go:embed describe.prompt
var describe string

// An App is the application. Its functions are safe for concurrent use.
type App struct {
	Advise *core.Flow[string, string, string] // describes the weather in a city and streams its words
	Plan   *core.Flow[string, *Trip, struct{}]

	g        *genkit.Genkit
	describe ai.Prompt
	book     *ai.ToolAction[hotel, string]
	embedder ai.EmbedderArg
	use      []ai.Middleware
}

// A Trip is the model's plan.
type Trip struct {
	City string   `json:"city"`
	Days []string `json:"days"`
}

// New makes the application in g. The middleware is used for all of its generations.
func New(g *genkit.Genkit, embedder ai.EmbedderArg, use ...ai.Middleware) (*App, error) {
	prompt, err := genkit.LoadPromptFromSource(g, describe, "describe", "")
	if err != nil {
		return nil, err
	}
	a := &App{g: g, describe: prompt, embedder: embedder, use: use}

	type place struct {
		City string `json:"city"`
	}
	weather := genkit.DefineTool(g, "weather", "Get the weather for a city",
		func(_ *ai.ToolContext, in place) (string, error) { return "sunny in " + in.City, nil })
	a.book = genkit.DefineTool(g, "book", "Book a hotel", book)

	a.Advise = genkit.DefineStreamingFlow(g, "advise", func(ctx context.Context, city string, send core.StreamCallback[string]) (string, error) {
		return genkit.GenerateText(ctx, g, a.with(
			ai.WithSystem("You advise travellers in one sentence. Use the weather tool."),
			ai.WithPrompt("What do I wear in %s?", city),
			ai.WithTools(weather),
			ai.WithStreaming(func(ctx context.Context, chunk *ai.ModelResponseChunk) error {
				if send == nil || chunk.Text() == "" {
					return nil
				}
				return send(ctx, chunk.Text())
			}),
		)...)
	})
	a.Plan = genkit.DefineFlow(g, "plan", func(ctx context.Context, wish string) (*Trip, error) {
		trip, _, err := genkit.GenerateData[Trip](ctx, g, a.with(ai.WithPrompt("Plan a trip: %s", wish))...)
		return trip, err
	})
	return a, nil
}

// with adds the options of all generations.
func (a *App) with(options ...ai.GenerateOption) []ai.GenerateOption {
	return append(options,
		ai.WithModelName(model),
		ai.WithConfig(map[string]any{"temperature": 0, "seed": 7}),
		ai.WithUse(a.use...),
	)
}

// Describe names the city in a picture. Its prompt is in describe.prompt.
func (a *App) Describe(ctx context.Context, photo string) (string, error) {
	resp, err := a.describe.Execute(ctx, ai.WithInput(map[string]any{"photo": photo}), ai.WithUse(a.use...))
	if err != nil {
		return "", err
	}
	return resp.Text(), nil
}

type hotel struct {
	Name string `json:"name"`
}

// book asks for approval before it pays.
func book(ctx *ai.ToolContext, in hotel) (string, error) {
	switch {
	case ctx.Resumed == nil:
		return "", ai.InterruptWith(ctx, price{Euro: 90})
	case ctx.Resumed["approved"] != true:
		return "not booked: too expensive", nil
	}
	return "booked " + in.Name, nil
}

type price struct {
	Euro int `json:"euro"`
}

// Book books a hotel if approve accepts the price.
func (a *App) Book(ctx context.Context, wish string, approve func(euro int) bool) (string, error) {
	resp, err := genkit.Generate(ctx, a.g, a.with(ai.WithPrompt("%s", wish), ai.WithTools(a.book))...)
	if err != nil {
		return "", err
	}
	var restarts []*ai.Part
	for _, part := range resp.Interrupts() {
		cost, ok := ai.InterruptAs[price](part)
		if !ok {
			return "", errors.New("a tool asks for something that is no price")
		}
		restart, err := a.book.RestartWith(part, ai.WithResumedMetadata[hotel](map[string]any{"approved": approve(cost.Euro)}))
		if err != nil {
			return "", err
		}
		restarts = append(restarts, restart)
	}
	if len(restarts) == 0 {
		return resp.Text(), nil
	}
	return genkit.GenerateText(ctx, a.g, a.with(
		ai.WithMessages(resp.History()...), ai.WithTools(a.book), ai.WithToolRestarts(restarts...),
	)...)
}

// Nearest returns the place that is most similar to a wish.
func (a *App) Nearest(ctx context.Context, wish string, places ...string) (string, error) {
	resp, err := genkit.Embed(ctx, a.g, ai.WithEmbedder(a.embedder), ai.WithTextDocs(append([]string{wish}, places...)...))
	if err != nil {
		return "", err
	}
	if len(resp.Embeddings) != len(places)+1 {
		return "", fmt.Errorf("%d embeddings of %d texts", len(resp.Embeddings), len(places)+1)
	}
	nearest, most := "", math.Inf(-1)
	for i, place := range places {
		if like := dot(resp.Embeddings[0].Embedding, resp.Embeddings[i+1].Embedding); like > most {
			nearest, most = place, like
		}
	}
	return nearest, nil
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
