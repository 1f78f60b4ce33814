package forecast_test

import (
	"testing"

	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/example/forecast"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

const model = "openai/gpt-4o"

// newFlow is what a test of your own needs, without the base URL: this example is recorded from
// a stand-in for the provider, so that anybody can record it again.
func newFlow(t *testing.T) *forecast.Flow {
	rec := traceforgetest.New(t)
	url := "http://127.0.0.1:1" // in replay there is no provider
	if rec.Recording() {
		srv := fakeprovider.New(t)
		srv.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Oslo"}`}))
		url = srv.URL()
	}
	g := genkit.Init(t.Context(), genkit.WithPlugins(&openai.OpenAI{
		APIKey: "unused",
		Opts:   []option.RequestOption{option.WithBaseURL(url + "/v1")},
	}))
	return forecast.Define(g, model, genkittraceforge.Middleware(rec, model))
}

func TestForecast(t *testing.T) {
	got, err := newFlow(t).Run(t.Context(), "Oslo")
	require.NoError(t, err)
	require.Contains(t, got, "sunny in Oslo")
}

func TestForecast_Streamed(t *testing.T) {
	var shown string
	for value, err := range newFlow(t).Stream(t.Context(), "Oslo") {
		require.NoError(t, err)
		if value.Done {
			require.Equal(t, value.Output, shown)
			return
		}
		shown += value.Stream
	}
}
