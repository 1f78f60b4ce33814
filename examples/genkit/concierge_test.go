package concierge

import (
	"context"
	"testing"

	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go/option"
	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	genkithooks "github.com/traceforge/traceforge-go/adapters/genkit/hooks"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// newApp works for your own tests without the base URL. These examples are recorded from a stand-in for the provider,
// so that anybody can record them again.
func newApp(t testing.TB, replies ...fakeprovider.Reply) *App {
	tf := traceforgetest.New(t)
	g := genkit.Init(context.Background(), genkit.WithPlugins(&openai.OpenAI{
		APIKey: "unused",
		Opts:   []option.RequestOption{option.WithBaseURL(provider(t, tf, replies...)), option.WithMaxRetries(0)},
	}))
	embedder := genkittraceforge.Embedder(tf, genkit.LookupEmbedder(g, "openai/text-embedding-3-small"))
	app, err := New(g, embedder, genkithooks.Record(tf))
	require.NoError(t, err)
	return app
}

// provider returns the base URL of a provider that gives the replies in order. In replay no provider runs there.
func provider(t testing.TB, tf *traceforgetest.Recorder, replies ...fakeprovider.Reply) string {
	if !tf.Recording() {
		return "http://127.0.0.1:1/v1"
	}
	server := fakeprovider.New(t)
	server.Reply(replies...)
	return server.URL() + "/v1"
}

// TestAdvise tests a streamed flow with a tool.
func TestAdvise(t *testing.T) {
	app := newApp(t,
		fakeprovider.CallTools(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Oslo"}`}),
		fakeprovider.Text("It is sunny in Oslo: wear a hat."),
	)
	var streamed string
	for value, err := range app.Advise.Stream(t.Context(), "Oslo") {
		require.NoError(t, err)
		if value.Done {
			require.Contains(t, value.Output, "sunny")
			require.Equal(t, value.Output, streamed)
			return
		}
		streamed += value.Stream
	}
}

// TestPlan tests structured output.
func TestPlan(t *testing.T) {
	app := newApp(t, fakeprovider.Text(`{"city":"Oslo","days":["the opera","the fjord"]}`))
	trip, err := app.Plan.Run(t.Context(), "two days by the sea")
	require.NoError(t, err)
	require.NotEmpty(t, trip.City)
	require.Len(t, trip.Days, 2)
}

// TestDescribe tests a prompt file with a picture.
func TestDescribe(t *testing.T) {
	const photo = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"
	got, err := newApp(t, fakeprovider.Text("Oslo")).Describe(t.Context(), photo)
	require.NoError(t, err)
	require.Equal(t, "Oslo", got)
}

// TestBook tests a tool that interrupts, and a generation that resumes with a person's answer.
func TestBook(t *testing.T) {
	for name, c := range map[string]struct {
		approved bool
		said     string
	}{
		"approved": {true, "The Grand is booked."},
		"refused":  {false, "I have booked nothing, since it is too expensive."},
	} {
		t.Run(name, func(t *testing.T) {
			app := newApp(t,
				fakeprovider.CallTools(fakeprovider.ToolCall{Name: "book", Arguments: `{"name":"the Grand"}`}),
				fakeprovider.Text(c.said),
			)
			var asked int
			got, err := app.Book(t.Context(), "Book the Grand.", func(euro int) bool {
				asked = euro
				return c.approved
			})
			require.NoError(t, err)
			require.Equal(t, 90, asked)
			require.Equal(t, c.said, got)
		})
	}
}

// TestNearest tests an embedder.
func TestNearest(t *testing.T) {
	got, err := newApp(t, fakeprovider.Reply{}).Nearest(t.Context(), "the sea", "the sea", "mountains")
	require.NoError(t, err)
	require.Equal(t, "the sea", got)
}
