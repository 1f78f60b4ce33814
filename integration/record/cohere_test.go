package record_test

import (
	"context"
	"errors"
	"io"

	cohere "github.com/cohere-ai/cohere-go/v2"
	"github.com/cohere-ai/cohere-go/v2/v2"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var cohereChat = sdk{
	name: "cohere-go", api: "cohere.chat", provider: "cohere",
	keys: []string{"CO_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := newCohere(tf).V2
		return func(ctx context.Context, q question) (*answer, error) {
			req := cohereRequest(q)
			if q.stream {
				return streamCohere(ctx, client, req)
			}
			got, err := client.Chat(ctx, req)
			if err != nil {
				return nil, err
			}
			return cohereAnswer(got.Message, got), nil
		}, nil
	},
	lacks: retries | comments | midError,
}

func cohereRequest(q question) *cohere.V2ChatRequest {
	temperature, seed := 0.0, 42
	req := &cohere.V2ChatRequest{
		Model: "command-a", Temperature: &temperature, Seed: &seed,
		Messages: cohere.ChatMessages{{Role: "user", User: &cohere.UserMessageV2{Content: &cohere.UserMessageV2Content{String: q.text}}}},
	}
	if q.tools {
		req.Tools = []*cohere.ToolV2{{Function: &cohere.ToolV2Function{Name: "weather", Parameters: weatherSchema}}}
	}
	if q.schema {
		req.ResponseFormat = &cohere.ResponseFormatV2{Type: "json_object", JsonObject: &cohere.JsonResponseFormatV2{JsonSchema: summarySchema}}
	}
	if q.after != nil {
		asked := q.after.turn.(*cohere.AssistantMessage)
		req.Messages = append(req.Messages, &cohere.ChatMessageV2{Role: "assistant", Assistant: asked})
		for i, text := range q.results {
			req.Messages = append(req.Messages, &cohere.ChatMessageV2{Role: "tool", Tool: &cohere.ToolMessageV2{
				ToolCallId: asked.ToolCalls[i].Id, Content: &cohere.ToolMessageV2Content{String: text},
			}})
		}
	}
	return req
}

func streamCohere(ctx context.Context, client *v2.Client, req *cohere.V2ChatRequest) (*answer, error) {
	stream, err := client.ChatStream(ctx, &cohere.V2ChatStreamRequest{
		Model: req.Model, Messages: req.Messages, Tools: req.Tools, Temperature: req.Temperature, Seed: req.Seed,
	})
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	var events []cohere.V2ChatStreamResponse
	whole := &cohere.AssistantMessage{}
	a := &answer{turn: whole}
	for {
		event, err := stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			a.value = events
			for _, call := range whole.ToolCalls {
				a.calls = append(a.calls, *call.Function.Arguments)
			}
			return a, err
		}
		events = append(events, event)
		switch {
		case event.ContentDelta != nil:
			if text := event.ContentDelta.Delta.Message.Content.Text; text != nil {
				a.text += *text
			}
		case event.ToolCallStart != nil:
			call := *event.ToolCallStart.Delta.Message.ToolCalls
			function := *call.Function
			call.Function = &function
			whole.ToolCalls = append(whole.ToolCalls, &call)
		case event.ToolCallDelta != nil:
			arguments := whole.ToolCalls[*event.ToolCallDelta.Index].Function
			arguments.Arguments = new(*arguments.Arguments + *event.ToolCallDelta.Delta.Message.ToolCalls.Function.Arguments)
		}
	}
}

func cohereAnswer(m *cohere.AssistantMessageResponse, value any) *answer {
	a := &answer{value: value, turn: &cohere.AssistantMessage{ToolCalls: m.ToolCalls}}
	for _, item := range m.Content {
		if item.Text != nil {
			a.text += item.Text.Text
		}
	}
	for _, call := range m.ToolCalls {
		a.calls = append(a.calls, *call.Function.Arguments)
	}
	return a
}
