package agents

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func newFantasy(tf asked) (fantasy.Provider, error) {
	provider, err := openai.New(openai.WithAPIKey(os.Getenv("OPENAI_API_KEY")), openai.WithHTTPClient(tf.Client()),
		openai.WithSDKOptions(option.WithJSONSet("seed", 42)))
	return provider, err
}

func askFantasy(ctx context.Context, tf asked, instruction, question string) (string, error) {
	provider, err := newFantasy(tf)
	if err != nil {
		return "", err
	}
	model, err := provider.LanguageModel(ctx, "gpt-4o")
	if err != nil {
		return "", err
	}
	tell := fantasy.NewAgentTool("weather", weather, func(context.Context, place, fantasy.ToolCall) (fantasy.ToolResponse, error) {
		return fantasy.NewTextResponse("22 degrees"), nil
	})
	agent := fantasy.NewAgent(model, fantasy.WithSystemPrompt(instruction), fantasy.WithTools(tell), fantasy.WithTemperature(0))
	result, err := agent.Generate(ctx, fantasy.AgentCall{Prompt: question})
	if err != nil {
		return "", err
	}
	return result.Response.Content.Text(), nil
}

// TestFantasyParallel replays an agent whose tools run at once: fantasy appends their results in the order in which the
// tools end.
func TestFantasyParallel(t *testing.T) {
	provider := fakeprovider.New(t)
	provider.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
		fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Rome"}`}))
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	run := func(mode, last string, upstream http.RoundTripper) *tbtest.TB {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		return tbtest.Run("TestIt", func(tb *tbtest.TB) {
			fantasyProvider, err := newFantasy(traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream)))
			require.NoError(t, err)
			model, err := fantasyProvider.LanguageModel(t.Context(), "gpt-4o")
			require.NoError(t, err)
			other := make(chan struct{})
			tell := func(_ context.Context, in place, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
				if in.City == last {
					<-other
					time.Sleep(10 * time.Millisecond)
				} else {
					close(other)
				}
				return fantasy.NewTextResponse("fine in " + in.City), nil
			}
			agent := fantasy.NewAgent(model, fantasy.WithTools(fantasy.NewParallelAgentTool("weather", weather, tell)),
				fantasy.WithTemperature(0))
			if _, err = agent.Stream(t.Context(), fantasy.AgentStreamCall{Prompt: "How is the weather?"}); err != nil {
				tb.Errorf("the agent failed: %v", err)
			}
		})
	}
	t.Setenv("OPENAI_API_KEY", "a key of the recording")
	tb := run("1", "Bern", provider.Transport())
	require.False(t, tb.Failed(), tb.Logged())
	for _, last := range []string{"Bern", "Rome"} {
		tb = run("", last, nowhere{})
		require.False(t, tb.Failed(), tb.Logged())
	}
}
