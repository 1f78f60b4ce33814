package fakes_test

import (
	"errors"
	"io"
	"testing"

	cohere "github.com/cohere-ai/cohere-go/v2"
	"github.com/cohere-ai/cohere-go/v2/client"
	"github.com/cohere-ai/cohere-go/v2/option"
	"github.com/cohere-ai/cohere-go/v2/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func newCohere(srv *fakeprovider.Server) *v2.Client {
	return client.NewClient(option.WithBaseURL(srv.URL()), option.WithToken("unused"), option.WithMaxAttempts(1)).V2
}

func askCohere(text string) *cohere.V2ChatRequest {
	return &cohere.V2ChatRequest{
		Model:    "command-a",
		Messages: cohere.ChatMessages{{Role: "user", User: &cohere.UserMessageV2{Content: &cohere.UserMessageV2Content{String: text}}}},
	}
}

// A cohereAnswer is the part of a response that tests compare, whole or joined from a stream.
type cohereAnswer struct {
	text, thinking string
	calls          []*cohere.ToolCallV2
	finish         cohere.ChatFinishReason
	usage          *cohere.Usage
	broken         string
}

func cohereWhole(t *testing.T, c *v2.Client, req *cohere.V2ChatRequest) (got cohereAnswer, err error) {
	t.Helper()
	r, err := c.Chat(t.Context(), req)
	if err != nil {
		return got, err
	}
	for _, item := range r.Message.Content {
		if item.Text != nil {
			got.text += item.Text.Text
		}
		if item.Thinking != nil {
			got.thinking += item.Thinking.Thinking
		}
	}
	got.calls, got.finish, got.usage = r.Message.ToolCalls, r.FinishReason, r.Usage
	return got, nil
}

func cohereStream(t *testing.T, c *v2.Client, req *cohere.V2ChatRequest) (got cohereAnswer, err error) {
	t.Helper()
	s, err := c.ChatStream(t.Context(), &cohere.V2ChatStreamRequest{Model: req.Model, Messages: req.Messages, Tools: req.Tools})
	if err != nil {
		return got, err
	}
	defer s.Close()
	for {
		e, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		switch {
		case e.ContentDelta != nil:
			piece := e.ContentDelta.Delta.Message.Content
			if piece.Text != nil {
				got.text += *piece.Text
			}
			if piece.Thinking != nil {
				got.thinking += *piece.Thinking
			}
		case e.ToolCallStart != nil:
			got.calls = append(got.calls, e.ToolCallStart.Delta.Message.ToolCalls)
		case e.ToolCallDelta != nil:
			*got.calls[*e.ToolCallDelta.Index].Function.Arguments += *e.ToolCallDelta.Delta.Message.ToolCalls.Function.Arguments
		case e.MessageEnd != nil:
			got.finish, got.usage = *e.MessageEnd.Delta.FinishReason, e.MessageEnd.Delta.Usage
			if e.MessageEnd.Delta.Error != nil {
				got.broken = *e.MessageEnd.Delta.Error
			}
		}
	}
}

var cohereCalls = map[string]func(*testing.T, *v2.Client, *cohere.V2ChatRequest) (cohereAnswer, error){
	"whole": cohereWhole, "streamed": cohereStream,
}

func TestCohereText(t *testing.T) {
	for name, call := range cohereCalls {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Reply(fakeprovider.Reply{Thinking: "let me think", Text: "Grüße <you>", Usage: &fakeprovider.Usage{Input: 9, Output: 5}})
			got, err := call(t, newCohere(srv), askCohere("Hi"))
			require.NoError(t, err)
			require.Equal(t, "let me think", got.thinking)
			require.Equal(t, "Grüße <you>", got.text)
			require.EqualValues(t, "COMPLETE", got.finish)
			require.EqualValues(t, 9, *got.usage.Tokens.InputTokens)
			require.EqualValues(t, 5, *got.usage.Tokens.OutputTokens)
		})
	}
}

// TestCohereTools plays a whole tool loop, with parallel calls, whole and streamed.
func TestCohereTools(t *testing.T) {
	for name, call := range cohereCalls {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Handle(fakeprovider.Echo(
				fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Zürich"}`},
				fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
			))
			client := newCohere(srv)
			req := askCohere("What is the weather?")
			req.Tools = []*cohere.ToolV2{{Function: &cohere.ToolV2Function{
				Name: "weather", Parameters: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
			}}}
			got, err := call(t, client, req)
			require.NoError(t, err)
			require.EqualValues(t, "TOOL_CALL", got.finish)
			require.Len(t, got.calls, 2)
			require.Equal(t, "weather", *got.calls[0].Function.Name)
			require.JSONEq(t, `{"city":"Zürich"}`, *got.calls[0].Function.Arguments)
			require.JSONEq(t, `{"city":"Bern"}`, *got.calls[1].Function.Arguments)

			req.Messages = append(req.Messages, &cohere.ChatMessageV2{Role: "assistant", Assistant: &cohere.AssistantMessage{ToolCalls: got.calls}})
			for i, said := range []string{"22 degrees", "rain"} {
				req.Messages = append(req.Messages, &cohere.ChatMessageV2{Role: "tool", Tool: &cohere.ToolMessageV2{
					ToolCallId: got.calls[i].Id, Content: &cohere.ToolMessageV2Content{String: said},
				}})
			}
			got, err = call(t, client, req)
			require.NoError(t, err)
			require.Equal(t, "The tools say: 22 degrees; rain", got.text)
		})
	}
}

func TestCohereStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	req := askCohere("Summarize: two words")
	req.ResponseFormat = &cohere.ResponseFormatV2{Type: "json_object", JsonObject: &cohere.JsonResponseFormatV2{JsonSchema: map[string]any{
		"type": "object", "properties": map[string]any{"summary": map[string]any{"type": "string"}},
	}}}
	got, err := cohereWhole(t, newCohere(srv), req)
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Summary: two words"}`, got.text)
}

func TestCohereErrors(t *testing.T) {
	for name, call := range cohereCalls {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Reply(fakeprovider.Error(429, "", "slow down"))
			_, err := call(t, newCohere(srv), askCohere("Hi"))
			var limited *cohere.TooManyRequestsError
			require.ErrorAs(t, err, &limited)
			require.ErrorContains(t, err, "slow down")
		})
	}
}

func TestCohereErrorInStream(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Error(500, "", "broken")
	reply.Text, reply.Stream.FailAfter = "one two three", 4
	srv.Reply(reply)
	got, err := cohereStream(t, newCohere(srv), askCohere("Hi"))
	require.NoError(t, err)
	require.Equal(t, "broken", got.broken)
	require.EqualValues(t, "ERROR", got.finish)
	require.Equal(t, "one two", got.text)
}
