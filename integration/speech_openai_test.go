package integration_test

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

func newOpenAI(c *http.Client) openai.Client {
	return openai.NewClient(option.WithHTTPClient(c), option.WithAPIKey("unused"), option.WithMaxRetries(0))
}

func openAIChatWhole(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newOpenAI(c)
	got, err := client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{})
	if err != nil {
		return nil, speech{}, err
	}
	var said speech
	if len(got.Choices) > 0 {
		m := got.Choices[0].Message
		said.text = m.Content + m.Refusal
		for _, call := range m.ToolCalls {
			said.call(cmp.Or(call.Function.Name, call.Custom.Name), cmp.Or(call.Function.Arguments, call.Custom.Input))
		}
		//lint:ignore SA1019 recorded answers have it
		if legacy := m.FunctionCall; legacy.Name != "" {
			said.call(legacy.Name, legacy.Arguments)
		}
	}
	return got, said, nil
}

func openAIChatStream(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newOpenAI(c)
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{})
	var chunks []openai.ChatCompletionChunk
	var said speech
	calls := map[int64]*openai.ChatCompletionChunkChoiceDeltaToolCallFunction{} // some servers number them from -1
	for stream.Next() {
		chunks = append(chunks, stream.Current())
		for _, choice := range stream.Current().Choices {
			if choice.Index != 0 {
				continue
			}
			said.text += choice.Delta.Content + choice.Delta.Refusal
			for _, call := range choice.Delta.ToolCalls {
				if calls[call.Index] == nil {
					calls[call.Index] = &openai.ChatCompletionChunkChoiceDeltaToolCallFunction{}
				}
				calls[call.Index].Name += call.Function.Name
				calls[call.Index].Arguments += call.Function.Arguments
			}
		}
	}
	for _, index := range slices.Sorted(maps.Keys(calls)) {
		said.call(calls[index].Name, calls[index].Arguments)
	}
	return chunks, said, stream.Err()
}

func openAIResponsesWhole(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newOpenAI(c)
	got, err := client.Responses.New(ctx, responses.ResponseNewParams{})
	if err != nil {
		return nil, speech{}, err
	}
	return got, responseSpeech(got), nil
}

func openAIResponsesStream(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newOpenAI(c)
	stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{})
	var events []responses.ResponseStreamEventUnion
	var said speech
	for stream.Next() {
		e := stream.Current()
		events = append(events, e)
		switch e.Type {
		case "response.output_text.delta", "response.refusal.delta":
			said.text += e.Delta
		case "response.output_item.done":
			said.item(&e.Item)
		}
	}
	return events, said, stream.Err()
}

func responseSpeech(r *responses.Response) (said speech) {
	for _, item := range r.Output {
		if item.Type == "message" {
			for _, content := range item.Content {
				said.text += content.Text + content.Refusal
			}
		}
		said.item(&item)
	}
	return said
}

// item adds a tool call item of a response.
func (s *speech) item(item *responses.ResponseOutputItemUnion) {
	switch item.Type {
	case "function_call":
		s.call(item.Name, item.Arguments.OfString)
	case "custom_tool_call":
		s.call(item.Name, item.Input)
	}
}

func openAICompletionsWhole(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newOpenAI(c)
	got, err := client.Completions.New(ctx, openai.CompletionNewParams{})
	if err != nil || len(got.Choices) == 0 {
		return nil, speech{}, err
	}
	return got, speech{text: got.Choices[0].Text}, nil
}

func openAICompletionsStream(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newOpenAI(c)
	stream := client.Completions.NewStreaming(ctx, openai.CompletionNewParams{})
	var chunks []openai.Completion
	var said speech
	for stream.Next() {
		chunks = append(chunks, stream.Current())
		for _, choice := range stream.Current().Choices {
			if choice.Index == 0 {
				said.text += choice.Text
			}
		}
	}
	return chunks, said, stream.Err()
}

// openAIEmbeddings returns no speech, since vectors are not text.
func openAIEmbeddings(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newOpenAI(c)
	got, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{})
	return got, speech{}, err
}
