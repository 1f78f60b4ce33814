package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	cohere "github.com/cohere-ai/cohere-go/v2"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	cohereoption "github.com/cohere-ai/cohere-go/v2/option"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// claudeCompletions is Anthropic's completions API, which is older than messages.
var claudeCompletions = sdk{
	name: "anthropic-sdk-go completions", api: "anthropic.complete", provider: "anthropic",
	keys: []string{"ANTHROPIC_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := anthropic.NewClient(anthropicoption.WithHTTPClient(tf.Client()))
		return func(ctx context.Context, q question) (*answer, error) {
			params := anthropic.CompletionNewParams{
				Model: "claude-2.1", MaxTokensToSample: 64, Temperature: anthropic.Float(0), Prompt: q.text,
			}
			if !q.stream {
				//lint:ignore SA1019 the older API is what is asked
				got, err := client.Completions.New(ctx, params)
				if err != nil {
					return nil, err
				}
				return &answer{text: got.Completion, value: got}, nil
			}
			//lint:ignore SA1019 the older API is what is asked
			return streamed(client.Completions.NewStreaming(ctx, params), func(e anthropic.Completion) string { return e.Completion })
		}, nil
	},
	lacks: tools | schemas | thinks,
}

func olderCohere(tf *traceforgetest.Recorder) *cohereclient.Client {
	return cohereclient.NewClient(cohereoption.WithHTTPClient(tf.Client()), cohereoption.WithMaxAttempts(1))
}

// received reads a whole stream of Cohere's SDK.
func received[T any](stream interface {
	Recv() (T, error)
	Close() error
}, each func(T)) (events []T, err error) {
	defer stream.Close()
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, event)
		each(event)
	}
}

// cohereV1Chat is version 1 of Cohere's chat API. Its tool calls have no ids.
var cohereV1Chat = sdk{
	name: "cohere-go chat v1", api: "cohere.chat.v1", provider: "cohere",
	keys: []string{"CO_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := olderCohere(tf)
		return func(ctx context.Context, q question) (*answer, error) {
			temperature, seed := 0.0, 42
			req := &cohere.ChatRequest{Model: new("command-r"), Message: q.text, Temperature: &temperature, Seed: &seed}
			if q.tools {
				req.Tools = []*cohere.Tool{{Name: "weather", Description: "Tells the weather", ParameterDefinitions: map[string]*cohere.ToolParameterDefinitionsValue{
					"city": {Type: "str", Required: new(true)},
				}}}
			}
			if q.after != nil {
				req.ChatHistory = []*cohere.Message{
					{Role: "USER", User: &cohere.ChatMessage{Message: q.text}},
					{Role: "CHATBOT", Chatbot: &cohere.ChatMessage{ToolCalls: q.after.turn.([]*cohere.ToolCall)}},
				}
				req.Message = ""
				for i, call := range q.after.turn.([]*cohere.ToolCall) {
					output := map[string]any{"said": q.results[i]}
					req.ToolResults = append(req.ToolResults, &cohere.ToolResult{Call: call, Outputs: []map[string]any{output}})
				}
			}
			if !q.stream {
				got, err := client.Chat(ctx, req)
				if err != nil {
					return nil, err
				}
				return cohereV1Answer(got, got), nil
			}
			stream, err := client.ChatStream(ctx, &cohere.ChatStreamRequest{Model: req.Model, Message: req.Message, Temperature: req.Temperature,
				Seed: req.Seed, Tools: req.Tools, ToolResults: req.ToolResults, ChatHistory: req.ChatHistory})
			if err != nil {
				return nil, err
			}
			a := &answer{}
			events, err := received(stream, func(event cohere.StreamedChatResponse) {
				if event.StreamEnd != nil {
					a = cohereV1Answer(event.StreamEnd.Response, nil)
				}
			})
			a.value = events
			return a, err
		}, nil
	},
	lacks: retries | comments | midError | schemas | thinks,
}

func cohereV1Answer(got *cohere.NonStreamedChatResponse, value any) *answer {
	a := &answer{text: got.Text, value: value, turn: got.ToolCalls}
	for _, call := range got.ToolCalls {
		arguments, _ := json.Marshal(call.Parameters) // it was decoded from JSON
		a.calls = append(a.calls, string(arguments))
	}
	return a
}

// cohereGenerate continues a prompt.
var cohereGenerate = sdk{
	name: "cohere-go generate", api: "cohere.generate", provider: "cohere",
	keys: []string{"CO_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := olderCohere(tf)
		return func(ctx context.Context, q question) (*answer, error) {
			temperature, seed := 0.0, 42
			if !q.stream {
				got, err := client.Generate(ctx, &cohere.GenerateRequest{Prompt: q.text, Temperature: &temperature, Seed: &seed})
				if err != nil {
					return nil, err
				}
				return &answer{text: got.Generations[0].Text, value: got}, nil
			}
			stream, err := client.GenerateStream(ctx, &cohere.GenerateStreamRequest{Prompt: q.text, Temperature: &temperature, Seed: &seed})
			if err != nil {
				return nil, err
			}
			a := &answer{}
			events, err := received(stream, func(event cohere.GenerateStreamedResponse) {
				if event.TextGeneration != nil {
					a.text += event.TextGeneration.Text
				}
			})
			a.value = events
			return a, err
		}, nil
	},
	lacks: retries | comments | midError | tools | schemas | thinks,
}

// cohereSummarize shortens a text.
var cohereSummarize = sdk{
	name: "cohere-go summarize", api: "cohere.summarize", provider: "cohere",
	keys: []string{"CO_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := olderCohere(tf)
		return func(ctx context.Context, q question) (*answer, error) {
			temperature := 0.0
			got, err := client.Summarize(ctx, &cohere.SummarizeRequest{Text: q.text, Temperature: &temperature})
			if err != nil {
				return nil, err
			}
			return &answer{text: *got.Summary, value: got}, nil
		}, nil
	},
	lacks:     streams,
	scenarios: mediaScenarios,
}

// cohereClassify labels texts.
var cohereClassify = sdk{
	name: "cohere-go classify", api: "cohere.classify", provider: "cohere",
	keys: []string{"CO_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := olderCohere(tf)
		return func(ctx context.Context, q question) (*answer, error) {
			got, err := client.Classify(ctx, &cohere.ClassifyRequest{Inputs: []string{q.text, "another text"}})
			if err != nil {
				return nil, err
			}
			return &answer{text: *got.Classifications[1].Prediction, value: got}, nil
		}, nil
	},
	lacks: streams,
	scenarios: []scenario{
		{
			name: "labels", why: "an answer of labels", reply: []fakeprovider.Reply{{}},
			ask: question{text: "some text"}, says: []string{"another"},
		},
		mediaScenarios[2],
	},
}
