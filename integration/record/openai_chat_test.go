package record_test

import (
	"context"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var openAIChat = sdk{
	name: "openai-go chat", api: "openai.chat", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return openAIChatAsker(&client), nil
	},
	lacks: thinks,
}

func openAIChatAsker(client *openai.Client) asker {
	return func(ctx context.Context, q question) (*answer, error) {
		if q.stream {
			return streamOpenAIChat(ctx, client, q)
		}
		got, err := client.Chat.Completions.New(ctx, openAIChatParams(q))
		if err != nil {
			return nil, err
		}
		return openAIChatAnswer(got, got), nil
	}
}

func openAIChatParams(q question) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{
		Model:       "gpt-4o",
		Temperature: openai.Float(0),
		Seed:        openai.Int(42),
		Messages:    []openai.ChatCompletionMessageParamUnion{openai.UserMessage(q.text)},
	}
	if q.tools {
		params.Tools = []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "weather", Parameters: weatherSchema}),
		}
	}
	if q.schema {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "summary", Schema: summarySchema},
		}
	}
	if q.after != nil {
		asked := q.after.turn.(openai.ChatCompletionMessage)
		params.Messages = append(params.Messages, asked.ToParam())
		for i, text := range q.results {
			params.Messages = append(params.Messages, openai.ToolMessage(text, asked.ToolCalls[i].ID))
		}
	}
	return params
}

func streamOpenAIChat(ctx context.Context, client *openai.Client, q question) (*answer, error) {
	params := openAIChatParams(q)
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	var chunks []openai.ChatCompletionChunk
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		chunks = append(chunks, stream.Current())
		whole.AddChunk(stream.Current())
	}
	return openAIChatAnswer(&whole.ChatCompletion, chunks), stream.Err()
}

func openAIChatAnswer(got *openai.ChatCompletion, value any) *answer {
	a := &answer{value: value}
	if len(got.Choices) == 0 {
		return a
	}
	m := got.Choices[0].Message
	a.text, a.turn = m.Content, m
	for _, call := range m.ToolCalls {
		a.calls = append(a.calls, call.Function.Arguments)
	}
	return a
}
