package record_test

import (
	"context"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
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

var openAIEmbeddings = sdk{
	name: "openai-go embeddings", api: "openai.embeddings", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return func(ctx context.Context, q question) (*answer, error) {
			got, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{
				Model: "text-embedding-3-small",
				Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{q.text, "another"}},
			})
			if err != nil {
				return nil, err
			}
			return &answer{text: fmt.Sprint(got.Data[1].Embedding), value: got}, nil
		}, nil
	},
	lacks: ids,
	scenarios: []scenario{
		{
			name: "vectors", why: "an answer of numbers",
			reply: []fakeprovider.Reply{{Vectors: [][]float64{{0.5, -1}, {0.25, -0.017456}}}},
			ask:   question{text: "one"}, says: []string{"[0.25 -0.017456]"},
		},
		{
			name: "error", why: "an answer like others (design R11)",
			reply: []fakeprovider.Reply{fakeprovider.Error(400, "", "that is wrong")},
			ask:   question{text: "one"}, says: []string{"that is wrong"}, fails: true,
		},
	},
}
