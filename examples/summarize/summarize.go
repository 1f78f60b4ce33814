// Package summarize asks an OpenAI model for summaries.
package summarize

import (
	"context"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3"
)

// Summarize returns a one-sentence summary of text.
func Summarize(ctx context.Context, client openai.Client, text string) (string, error) {
	completion, err := client.Chat.Completions.New(ctx, params(text))
	if err != nil {
		return "", err
	}
	if len(completion.Choices) == 0 {
		return "", errors.New("the model gave no answer")
	}
	return completion.Choices[0].Message.Content, nil
}

// Stream passes a summary of text to show as it is written, and returns the complete summary.
func Stream(ctx context.Context, client openai.Client, text string, show func(string)) (string, error) {
	stream := client.Chat.Completions.NewStreaming(ctx, params(text))
	defer stream.Close()
	var whole strings.Builder
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			show(choice.Delta.Content)
			whole.WriteString(choice.Delta.Content)
		}
	}
	return whole.String(), stream.Err()
}

func params(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: openai.ChatModelGPT5_4Mini,
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("You are a precise summarization assistant."),
			openai.UserMessage("Summarize: " + text),
		},
		MaxCompletionTokens: openai.Int(100),
		Temperature:         openai.Float(0),
		Seed:                openai.Int(42),
	}
}
