package record_test

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/bedrock"
	"github.com/tmc/langchaingo/llms/mistral"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// langchain are langchaingo's models. Each has its own client of a provider's format.
var langchain = []sdk{
	{
		name: "langchaingo openai", api: "openai.chat", provider: "openai",
		keys: []string{"OPENAI_API_KEY"},
		open: langchainAsker(func(tf *traceforgetest.Recorder) (llms.Model, error) {
			return openai.New(openai.WithHTTPClient(tf.Client()), openai.WithModel("gpt-4o"))
		}),
		lacks: retries | thinks | schemas | midError,
	},
	{
		name: "langchaingo anthropic", api: "anthropic.messages", provider: "anthropic",
		keys: []string{"ANTHROPIC_API_KEY"},
		open: langchainAsker(func(tf *traceforgetest.Recorder) (llms.Model, error) {
			return anthropic.New(anthropic.WithHTTPClient(tf.Client()), anthropic.WithModel("claude-sonnet-4-5"))
		}),
		lacks: retries | thinks | schemas | parallel,
	},
	{
		name: "langchaingo ollama", api: "ollama.chat", provider: "ollama",
		unkeyed: true,
		open: langchainAsker(func(tf *traceforgetest.Recorder) (llms.Model, error) {
			return ollama.New(ollama.WithHTTPClient(tf.Client()), ollama.WithModel("qwen3"))
		}),
		lacks: retries | thinks | schemas | tools,
	},
	{
		name: "langchaingo mistral", api: "openai.chat", provider: "mistral",
		keys: []string{"MISTRAL_API_KEY"},
		// This client takes a URL, not an HTTP client.
		open: langchainAsker(func(tf *traceforgetest.Recorder) (llms.Model, error) {
			return mistral.New(mistral.WithEndpoint(tf.URL("mistral")), mistral.WithModel("mistral-large"), mistral.WithMaxRetries(1))
		}),
		// This client sends tool results without the ids of their calls.
		lacks: retries | thinks | schemas | loops | midError,
	},
	{
		name: "langchaingo bedrock", api: "bedrock.invoke", provider: "bedrock",
		keys: awsKeys, unkeyed: true, errors: awsErrors,
		open: langchainAsker(func(tf *traceforgetest.Recorder) (llms.Model, error) {
			client, err := newBedrock(context.Background(), tf)
			if err != nil {
				return nil, err
			}
			return bedrock.New(bedrock.WithClient(client), bedrock.WithModel(claudeOnBedrock))
		}),
		// The part of a stream that this client reads before an error depends on timing.
		lacks:            retries | thinks | schemas | tools | midError,
		nondeterministic: "langchaingo leaves out a temperature of 0",
	},
}

func langchainAsker(open func(*traceforgetest.Recorder) (llms.Model, error)) func(context.Context, *traceforgetest.Recorder) (asker, error) {
	return func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		model, err := open(tf)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, q question) (*answer, error) {
			var pieces []string
			options := []llms.CallOption{llms.WithTemperature(0), llms.WithSeed(42), llms.WithMaxTokens(100)}
			if q.stream {
				options = append(options, llms.WithStreamingFunc(func(_ context.Context, piece []byte) error {
					pieces = append(pieces, string(piece))
					return nil
				}))
			}
			if q.tools {
				options = append(options, llms.WithTools([]llms.Tool{{
					Type: "function", Function: &llms.FunctionDefinition{Name: "weather", Parameters: weatherSchema},
				}}))
			}
			got, err := model.GenerateContent(ctx, langchainMessages(q), options...)
			if err != nil {
				return &answer{value: pieces}, err
			}
			return langchainAnswer(got, pieces), nil
		}, nil
	}
}

func langchainMessages(q question) []llms.MessageContent {
	messages := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "be brief"),
		llms.TextParts(llms.ChatMessageTypeHuman, q.text),
	}
	if q.after == nil {
		return messages
	}
	asked := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	var answered []llms.MessageContent
	for i, call := range q.after.turn.([]llms.ToolCall) {
		asked.Parts = append(asked.Parts, call)
		answered = append(answered, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: call.ID, Name: "weather", Content: q.results[i]},
		}})
	}
	return append(append(messages, asked), answered...)
}

// langchainAnswer joins the choices of an answer. langchaingo makes a choice of each block.
func langchainAnswer(got *llms.ContentResponse, pieces []string) *answer {
	a := &answer{value: []any{got, pieces}}
	var calls []llms.ToolCall
	for _, choice := range got.Choices {
		a.text += choice.Content
		calls = append(calls, choice.ToolCalls...)
	}
	for _, call := range calls {
		a.calls = append(a.calls, call.FunctionCall.Arguments)
	}
	a.turn = calls
	return a
}
