package concierge

import (
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/traceforgetest/script"
)

// TestScripted tests a Genkit agent without a key and without a snapshot.
func TestScripted(t *testing.T) {
	answers := script.New(script.Call("degrees", `{"City":"Oslo"}`), script.Say("It is 4 degrees in Oslo.")).Check(t)
	g := genkit.Init(t.Context(), genkit.WithPlugins(&openai.OpenAI{
		APIKey: "none", Opts: []option.RequestOption{option.WithHTTPClient(answers.Client())},
	}))
	degrees := genkit.DefineTool(g, "degrees", "Tells how warm it is.", func(_ *ai.ToolContext, in struct{ City string }) (int, error) {
		return map[string]int{"Oslo": 4}[in.City], nil
	})
	said, err := genkit.GenerateText(t.Context(), g, ai.WithModelName("openai/gpt-4o"), ai.WithPrompt("How warm is Oslo?"), ai.WithTools(degrees))
	require.NoError(t, err)
	require.Equal(t, "It is 4 degrees in Oslo.", said)
	require.Len(t, answers.Requests(), 2)
}
