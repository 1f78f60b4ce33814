package concierge

import (
	"context"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/stretchr/testify/require"

	genkithooks "github.com/traceforge/traceforge-go/adapters/genkit/hooks"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestRegistered tests a prompt file that names the middleware itself; the program passes none.
func TestRegistered(t *testing.T) {
	tf := traceforgetest.New(t)
	g := genkit.Init(context.Background())
	model := func(context.Context, *ai.ModelRequest, map[string]any, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		return &ai.ModelResponse{Message: ai.NewModelTextMessage("Hello Ada."), FinishReason: ai.FinishReasonStop}, nil
	}
	if !tf.Recording() {
		model = nil // replay must not call it
	}
	genkit.DefineModelAction(g, "house/model", nil, model)
	genkit.DefineMiddleware(g, "records what is asked", genkithooks.Record(tf))
	prompt, err := genkit.LoadPromptFromSource(g, `---
model: house/model
config: {temperature: 0}
use: [{name: traceforge/record}]
---
Say hello to {{name}}.`, "hello", "")
	require.NoError(t, err)
	resp, err := prompt.Execute(t.Context(), ai.WithInput(map[string]any{"name": "Ada"}))
	require.NoError(t, err)
	require.Equal(t, "Hello Ada.", resp.Text())
}
