package agents

import (
	"context"
	"os"

	"charm.land/fantasy"
	"charm.land/fantasy/providers/openai"
	"github.com/openai/openai-go/v3/option"
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
