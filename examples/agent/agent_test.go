package agent

import (
	"fmt"
	"os"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/examples/internal/standin"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func TestAnswer(t *testing.T) {
	// Your own tests need no Upstream: see the summarize example.
	provider := standin.New(t,
		fakeprovider.CallTools(
			fakeprovider.ToolCall{Name: "get_weather", Arguments: `{"city":"Paris"}`},
			fakeprovider.ToolCall{Name: "get_weather", Arguments: `{"city":"Oslo"}`},
		),
		fakeprovider.CallTools(fakeprovider.ToolCall{Name: "get_weather", Arguments: `{"city":"Rome"}`}),
		fakeprovider.Text("Rome is warmest, with 21 degrees."),
	)
	tf := traceforgetest.New(t, traceforgetest.Upstream(provider))
	client := anthropic.NewClient(option.WithHTTPClient(tf.Client()), option.WithAPIKey(os.Getenv("ANTHROPIC_API_KEY")))

	degrees := map[string]int{"Paris": 15, "Oslo": 4, "Rome": 21}
	got, err := Answer(t.Context(), client, "Which is warmest: Paris, Oslo or Rome?", func(city string) (string, error) {
		return fmt.Sprintf("%d degrees", degrees[city]), nil
	})
	require.NoError(t, err)
	require.Contains(t, got, "Rome")
}
