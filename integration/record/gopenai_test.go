package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	gopenai "github.com/sashabaranov/go-openai"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var goOpenAI = sdk{
	name: "go-openai", api: "openai.chat", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		config := gopenai.DefaultConfig(os.Getenv("OPENAI_API_KEY")) // the SDK reads no variable
		config.HTTPClient = tf.Client()
		client := gopenai.NewClientWithConfig(config)
		return func(ctx context.Context, q question) (*answer, error) {
			if q.stream {
				return streamGoOpenAI(ctx, client, q)
			}
			got, err := client.CreateChatCompletion(ctx, goOpenAIRequest(q))
			if err != nil {
				return nil, err
			}
			got.SetHeader(nil) // the provider's headers while recording, the stored ones in replay
			return goOpenAIAnswer(got.Choices[0].Message, got), nil
		}, nil
	},
	lacks:            retries | thinks,
	nondeterministic: "go-openai leaves out a temperature of 0",
}

func goOpenAIRequest(q question) gopenai.ChatCompletionRequest {
	seed := 42
	req := gopenai.ChatCompletionRequest{
		Model: "gpt-4o", Seed: &seed,
		Messages: []gopenai.ChatCompletionMessage{{Role: "user", Content: q.text}},
	}
	if q.tools {
		req.Tools = []gopenai.Tool{{Type: gopenai.ToolTypeFunction, Function: &gopenai.FunctionDefinition{Name: "weather", Parameters: weatherSchema}}}
	}
	if q.schema {
		schema, _ := json.Marshal(summarySchema) // encoding a constant never fails
		req.ResponseFormat = &gopenai.ChatCompletionResponseFormat{
			Type:       gopenai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &gopenai.ChatCompletionResponseFormatJSONSchema{Name: "summary", Schema: json.RawMessage(schema)},
		}
	}
	if q.after != nil {
		asked := q.after.turn.(gopenai.ChatCompletionMessage)
		req.Messages = append(req.Messages, asked)
		for i, text := range q.results {
			req.Messages = append(req.Messages, gopenai.ChatCompletionMessage{Role: "tool", ToolCallID: asked.ToolCalls[i].ID, Content: text})
		}
	}
	return req
}

// streamGoOpenAI joins a stream. The package has no accumulator.
func streamGoOpenAI(ctx context.Context, client *gopenai.Client, q question) (*answer, error) {
	req := goOpenAIRequest(q)
	req.Stream = true
	stream, err := client.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var chunks []gopenai.ChatCompletionStreamResponse
	whole := gopenai.ChatCompletionMessage{Role: "assistant"}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return goOpenAIAnswer(whole, chunks), nil
		}
		if err != nil {
			return goOpenAIAnswer(whole, chunks), err
		}
		chunks = append(chunks, chunk)
		for _, c := range chunk.Choices {
			whole.Content += c.Delta.Content
			for _, call := range c.Delta.ToolCalls {
				if *call.Index == len(whole.ToolCalls) {
					whole.ToolCalls = append(whole.ToolCalls, gopenai.ToolCall{ID: call.ID, Type: call.Type, Function: gopenai.FunctionCall{Name: call.Function.Name}})
				}
				whole.ToolCalls[*call.Index].Function.Arguments += call.Function.Arguments
			}
		}
	}
}

func goOpenAIAnswer(m gopenai.ChatCompletionMessage, value any) *answer {
	a := &answer{text: m.Content, value: value, turn: m}
	for _, call := range m.ToolCalls {
		a.calls = append(a.calls, call.Function.Arguments)
	}
	return a
}
