package record_test

import (
	"context"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var azureChat = sdk{
	name: "openai-go on Azure", api: "openai.chat", provider: "azure",
	keys: []string{"AZURE_OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(
			option.WithHTTPClient(tf.Client()),
			azure.WithEndpoint("https://mine.openai.azure.com", "2024-10-21"),
			azure.WithAPIKey(os.Getenv("AZURE_OPENAI_API_KEY")),
		)
		return openAIChatAsker(&client), nil
	},
	lacks: thinks,
}

var openAICompletions = sdk{
	name: "openai-go completions", api: "openai.completions", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return func(ctx context.Context, q question) (*answer, error) {
			params := openai.CompletionNewParams{
				Model: "gpt-3.5-turbo-instruct", Temperature: openai.Float(0), Seed: openai.Int(42),
				Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String(q.text)},
			}
			if !q.stream {
				got, err := client.Completions.New(ctx, params)
				if err != nil {
					return nil, err
				}
				return &answer{text: got.Choices[0].Text, value: got}, nil
			}
			stream := client.Completions.NewStreaming(ctx, params)
			defer stream.Close()
			a := &answer{}
			var chunks []openai.Completion
			for stream.Next() {
				chunks = append(chunks, stream.Current())
				for _, c := range stream.Current().Choices {
					a.text += c.Text
				}
			}
			a.value = chunks
			return a, stream.Err()
		}, nil
	},
	lacks: tools | schemas | thinks,
}
