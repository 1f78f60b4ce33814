package summarize

import (
	"os"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/examples/internal/standin"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// newClient works for your own tests without the Upstream. These examples are recorded from a stand-in for the
// provider, so that anybody can record them again.
func newClient(t *testing.T) openai.Client {
	tf := traceforgetest.New(t, traceforgetest.Upstream(standin.New(t)))
	return openai.NewClient(option.WithHTTPClient(tf.Client()), option.WithAPIKey(os.Getenv("OPENAI_API_KEY")))
}

func TestSummarize(t *testing.T) {
	got, err := Summarize(t.Context(), newClient(t), "AI is transforming software development")
	require.NoError(t, err)
	require.Contains(t, got, "software")
}

func TestStream(t *testing.T) {
	var shown string
	got, err := Stream(t.Context(), newClient(t), "Go is a language for simple software", func(text string) { shown += text })
	require.NoError(t, err)
	require.Contains(t, got, "Go")
	require.Equal(t, got, shown)
}
