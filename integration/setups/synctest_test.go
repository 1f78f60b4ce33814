package setups

import (
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func question(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "gpt-4o", Temperature: openai.Float(0), Seed: openai.Int(42),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

// TestBubble records and replays in a bubble of testing/synctest: a whole answer, a stream, and an answer that the SDK
// gets at its second try, after a pause in the bubble's time.
func TestBubble(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	provider := fakeprovider.New(t)
	said := map[string]string{"whole": "a whole answer", "stream": "an answer in pieces", "retry": "at last"}
	provider.Handle(func(c fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Text(said[c.LastUser()]) }) // a check calls concurrently
	provider.Reply(fakeprovider.Text("a whole answer"), fakeprovider.Text("an answer in pieces"), busy(), fakeprovider.Text("at last"))
	play := func(t *testing.T, mode string, upstream http.RoundTripper) {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		synctest.Test(t, func(t *testing.T) {
			tf := traceforgetest.New(t, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream),
				traceforgetest.Allow(traceforgetest.RetryableErrors))
			client := openai.NewClient(option.WithHTTPClient(tf.Client()), option.WithAPIKey("unused"))
			began := time.Now()
			whole, err := client.Chat.Completions.New(t.Context(), question("whole"))
			require.NoError(t, err)
			require.Equal(t, "a whole answer", whole.Choices[0].Message.Content)

			stream := client.Chat.Completions.NewStreaming(t.Context(), question("stream"))
			var pieces openai.ChatCompletionAccumulator
			for stream.Next() {
				pieces.AddChunk(stream.Current())
			}
			require.NoError(t, stream.Err())
			require.Equal(t, "an answer in pieces", pieces.Choices[0].Message.Content)
			require.Zero(t, time.Since(began), "nothing waits")

			whole, err = client.Chat.Completions.New(t.Context(), question("retry"))
			require.NoError(t, err)
			require.Equal(t, "at last", whole.Choices[0].Message.Content)
			require.GreaterOrEqual(t, time.Since(began), 20*time.Second, "the pause that the provider asks for")
		})
	}
	began := time.Now()
	// Runs need the same test name, so the bubbles use this test's.
	play(t, "1", closing{provider.Transport()})
	calls := recorded.Calls(t, dir)
	require.Len(t, calls, 4)
	for _, call := range calls {
		require.WithinRange(t, call.Timestamp, began.Add(-time.Hour), time.Now(), "the time of the world, not the bubble's")
	}
	recorded.RequireSound(t, dir)
	play(t, "", nowhere{})
	play(t, "check", closing{provider.Transport()})
}

// A closing closes its connections, since the reader of an open one would stop the bubble's time.
type closing struct{ http.RoundTripper }

func (c closing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Close = true
	return c.RoundTripper.RoundTrip(r)
}

func busy() fakeprovider.Reply {
	reply := fakeprovider.Error(429, "", "slow down")
	reply.Header = http.Header{"Retry-After": {"20"}}
	return reply
}

type nowhere struct{}

func (nowhere) RoundTrip(r *http.Request) (*http.Response, error) {
	panic("a replay called " + r.URL.String())
}
