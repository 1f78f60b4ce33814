package moving_test

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// ask is the program under test. It asks OpenAI and Anthropic, whole and streamed, and asks one question twice. It sets
// no temperature, like most programs.
func ask(ctx context.Context, client *http.Client) (said []string, err error) {
	for _, question := range []func(context.Context, *http.Client) (string, error){chat, chatStream, message, messageStream, chat} {
		text, err := question(ctx, client)
		if err != nil {
			return said, err
		}
		said = append(said, text)
	}
	return said, nil
}

var chatParams = openai.ChatCompletionNewParams{
	Model: "gpt-4o", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Grüße aus Köln")},
}

func chat(ctx context.Context, client *http.Client) (string, error) {
	c := openai.NewClient(option.WithHTTPClient(client), option.WithMaxRetries(0))
	got, err := c.Chat.Completions.New(ctx, chatParams)
	if err != nil {
		return "", err
	}
	return got.Choices[0].Message.Content, nil
}

func chatStream(ctx context.Context, client *http.Client) (string, error) {
	c := openai.NewClient(option.WithHTTPClient(client), option.WithMaxRetries(0))
	stream := c.Chat.Completions.NewStreaming(ctx, chatParams)
	defer stream.Close()
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		whole.AddChunk(stream.Current())
	}
	if err := stream.Err(); err != nil {
		return "", err
	}
	return whole.Choices[0].Message.Content, nil
}

var messageParams = anthropic.MessageNewParams{
	Model: "claude-sonnet-4-5", MaxTokens: 64,
	Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Salut"))},
}

func message(ctx context.Context, client *http.Client) (string, error) {
	c := anthropic.NewClient(anthropicoption.WithHTTPClient(client), anthropicoption.WithMaxRetries(0))
	got, err := c.Messages.New(ctx, messageParams)
	if err != nil {
		return "", err
	}
	return got.Content[0].Text, nil
}

func messageStream(ctx context.Context, client *http.Client) (string, error) {
	c := anthropic.NewClient(anthropicoption.WithHTTPClient(client), anthropicoption.WithMaxRetries(0))
	stream := c.Messages.NewStreaming(ctx, messageParams)
	defer stream.Close()
	var whole anthropic.Message
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			return "", err
		}
	}
	if err := stream.Err(); err != nil {
		return "", err
	}
	return whole.Content[0].Text, nil
}
