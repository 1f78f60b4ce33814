package fakes_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	gopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func newGoOpenAI(srv *fakeprovider.Server) *gopenai.Client {
	config := gopenai.DefaultConfig("unused")
	config.BaseURL = srv.URL() + "/v1"
	return gopenai.NewClientWithConfig(config)
}

func askGoOpenAI(text string) gopenai.ChatCompletionRequest {
	return gopenai.ChatCompletionRequest{
		Model:    "gpt-4o",
		Messages: []gopenai.ChatCompletionMessage{{Role: "user", Content: text}},
	}
}

// collectGoOpenAI reads a whole stream. The package has no accumulator.
func collectGoOpenAI(t *testing.T, client *gopenai.Client, req gopenai.ChatCompletionRequest) (m gopenai.ChatCompletionMessage, usage *gopenai.Usage, err error) {
	t.Helper()
	s, err := client.CreateChatCompletionStream(t.Context(), req)
	if err != nil {
		return m, nil, err
	}
	defer s.Close()
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return m, usage, nil
		}
		if err != nil {
			return m, usage, err
		}
		if chunk.Usage != nil {
			usage = chunk.Usage
		}
		for _, c := range chunk.Choices {
			m.Role += c.Delta.Role
			m.Content += c.Delta.Content
			m.ReasoningContent += c.Delta.ReasoningContent
			m.Refusal += c.Delta.Refusal
			for _, call := range c.Delta.ToolCalls {
				if *call.Index == len(m.ToolCalls) {
					m.ToolCalls = append(m.ToolCalls, gopenai.ToolCall{ID: call.ID, Type: call.Type, Function: gopenai.FunctionCall{Name: call.Function.Name}})
				}
				m.ToolCalls[*call.Index].Function.Arguments += call.Function.Arguments
			}
		}
	}
}

func TestGoOpenAIText(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Text: "Grüße", Thinking: "hm", Usage: &fakeprovider.Usage{Input: 3, Output: 4}})
	got, err := newGoOpenAI(srv).CreateChatCompletion(t.Context(), askGoOpenAI("Hi"))
	require.NoError(t, err)
	require.Equal(t, "Grüße", got.Choices[0].Message.Content)
	require.Equal(t, "hm", got.Choices[0].Message.ReasoningContent)
	require.Equal(t, gopenai.FinishReasonStop, got.Choices[0].FinishReason)
	require.Equal(t, 7, got.Usage.TotalTokens)
}

func TestGoOpenAIStream(t *testing.T) {
	for name, s := range map[string]fakeprovider.Stream{
		"plain": {}, "split": {WriteSize: 2}, "crlf": {CRLF: true}, "comments": {Comment: "waiting"}, "no-done": {NoDone: true},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Reply(fakeprovider.Reply{Text: "Grüße aus Zürich", Thinking: "hm, well", Stream: s})
			req := askGoOpenAI("Hi")
			req.StreamOptions = &gopenai.StreamOptions{IncludeUsage: true}
			got, usage, err := collectGoOpenAI(t, newGoOpenAI(srv), req)
			require.NoError(t, err)
			require.Equal(t, "assistant", got.Role)
			require.Equal(t, "Grüße aus Zürich", got.Content)
			require.Equal(t, "hm, well", got.ReasoningContent)
			require.Equal(t, 5, usage.CompletionTokens)
		})
	}
}

func TestGoOpenAITools(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		srv := fakeprovider.New(t)
		srv.Handle(fakeprovider.Echo(
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Zürich"}`},
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
		))
		client := newGoOpenAI(srv)
		call := func(req gopenai.ChatCompletionRequest) gopenai.ChatCompletionMessage {
			if !streamed {
				got, err := client.CreateChatCompletion(t.Context(), req)
				require.NoError(t, err)
				return got.Choices[0].Message
			}
			got, _, err := collectGoOpenAI(t, client, req)
			require.NoError(t, err)
			return got
		}
		req := askGoOpenAI("What is the weather?")
		req.Tools = []gopenai.Tool{{Type: gopenai.ToolTypeFunction, Function: &gopenai.FunctionDefinition{
			Name: "weather", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`),
		}}}
		got := call(req)
		require.Len(t, got.ToolCalls, 2)
		require.JSONEq(t, `{"city":"Bern"}`, got.ToolCalls[1].Function.Arguments)
		req.Messages = append(req.Messages, got,
			gopenai.ChatCompletionMessage{Role: "tool", ToolCallID: got.ToolCalls[0].ID, Content: "22 degrees"},
			gopenai.ChatCompletionMessage{Role: "tool", ToolCallID: got.ToolCalls[1].ID, Content: "rain"})
		require.Equal(t, "The tools say: 22 degrees; rain", call(req).Content)
	}
}

func TestGoOpenAIStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	req := askGoOpenAI("Summarize: two words")
	req.ResponseFormat = &gopenai.ChatCompletionResponseFormat{
		Type: gopenai.ChatCompletionResponseFormatTypeJSONSchema,
		JSONSchema: &gopenai.ChatCompletionResponseFormatJSONSchema{
			Name: "summary", Schema: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}}}`),
		},
	}
	got, err := newGoOpenAI(srv).CreateChatCompletion(t.Context(), req)
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Summary: two words"}`, got.Choices[0].Message.Content)
}

func TestGoOpenAIRefusal(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Refusal: "I cannot"}, fakeprovider.Reply{Refusal: "I cannot"})
	whole, err := newGoOpenAI(srv).CreateChatCompletion(t.Context(), askGoOpenAI("Hi"))
	require.NoError(t, err)
	require.Equal(t, "I cannot", whole.Choices[0].Message.Refusal)
	streamed, _, err := collectGoOpenAI(t, newGoOpenAI(srv), askGoOpenAI("Hi"))
	require.NoError(t, err)
	require.Equal(t, "I cannot", streamed.Refusal)
}

func TestGoOpenAIErrors(t *testing.T) {
	srv := fakeprovider.New(t)
	limited := fakeprovider.Error(429, "requests", "slow down")
	limited.Failure.Code = "rate_limit_exceeded"
	srv.Reply(limited, limited)
	var api *gopenai.APIError
	_, err := newGoOpenAI(srv).CreateChatCompletion(t.Context(), askGoOpenAI("Hi"))
	require.ErrorAs(t, err, &api)
	require.Equal(t, 429, api.HTTPStatusCode)
	require.Equal(t, "rate_limit_exceeded", api.Code)
	require.Equal(t, "slow down", api.Message)
	_, _, err = collectGoOpenAI(t, newGoOpenAI(srv), askGoOpenAI("Hi"))
	require.ErrorAs(t, err, &api)
	require.Equal(t, 429, api.HTTPStatusCode)
}

func TestGoOpenAIErrorInStream(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Error(500, "server_error", "broken")
	reply.Text, reply.Stream.FailAfter = "one two three", 3
	srv.Reply(reply)
	got, _, err := collectGoOpenAI(t, newGoOpenAI(srv), askGoOpenAI("Hi"))
	var api *gopenai.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, "server_error", api.Type)
	require.Equal(t, "one two", got.Content)
}

func TestGoOpenAICutStream(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Text: "one two three", Cut: fakeprovider.CutDrop, CutAfter: 3})
	got, _, err := collectGoOpenAI(t, newGoOpenAI(srv), askGoOpenAI("Hi"))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.True(t, strings.HasPrefix("one two", got.Content))
}
