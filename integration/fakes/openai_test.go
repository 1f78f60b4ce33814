package fakes_test

import (
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func newOpenAI(srv *fakeprovider.Server) *openai.Client {
	c := openai.NewClient(
		option.WithBaseURL(srv.URL()+"/v1"),
		option.WithAPIKey("unused"),
		option.WithMaxRetries(0),
	)
	return &c
}

func ask(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    "gpt-4o",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

var openAIWeather = openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
	Name: "weather",
	Parameters: shared.FunctionParameters{
		"type":       "object",
		"properties": map[string]any{"city": map[string]any{"type": "string"}},
	},
})

// collect reads a whole stream.
func collect(t *testing.T, s *ssestream.Stream[openai.ChatCompletionChunk]) (acc openai.ChatCompletionAccumulator, err error) {
	t.Helper()
	for s.Next() {
		require.True(t, acc.AddChunk(s.Current()), "the SDK's accumulator takes every chunk")
	}
	return acc, s.Err()
}

func TestOpenAIText(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{
		Text:  "Hello <you>",
		Usage: &fakeprovider.Usage{Input: 9, Output: 5, Reasoning: 2, CacheRead: 4},
		Model: "gpt-4o-2024-08-06",
	})
	got, err := newOpenAI(srv).Chat.Completions.New(t.Context(), ask("Hi"))
	require.NoError(t, err)
	require.Equal(t, "Hello <you>", got.Choices[0].Message.Content)
	require.Equal(t, "stop", got.Choices[0].FinishReason)
	require.Equal(t, "gpt-4o-2024-08-06", got.Model)
	require.Regexp(t, "^chatcmpl-", got.ID)
	require.EqualValues(t, 9, got.Usage.PromptTokens)
	require.EqualValues(t, 5, got.Usage.CompletionTokens)
	require.EqualValues(t, 14, got.Usage.TotalTokens)
	require.EqualValues(t, 2, got.Usage.CompletionTokensDetails.ReasoningTokens)
	require.EqualValues(t, 4, got.Usage.PromptTokensDetails.CachedTokens)
}

func TestOpenAIChoices(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Text("first answer")
	reply.Choices = []fakeprovider.Reply{fakeprovider.Text("second one")}
	srv.Reply(reply, reply)
	params := ask("Hi")
	params.N = openai.Int(3)
	client := newOpenAI(srv)
	whole, err := client.Chat.Completions.New(t.Context(), params)
	require.NoError(t, err)
	streamed, err := collect(t, client.Chat.Completions.NewStreaming(t.Context(), params))
	require.NoError(t, err)
	for _, got := range []openai.ChatCompletion{*whole, streamed.ChatCompletion} {
		require.Len(t, got.Choices, 3)
		for i, want := range []string{"first answer", "second one", "second one"} {
			require.EqualValues(t, i, got.Choices[i].Index)
			require.Equal(t, want, got.Choices[i].Message.Content)
		}
	}
}

func TestOpenAIStream(t *testing.T) {
	for name, s := range map[string]fakeprovider.Stream{
		"plain":     {},
		"split":     {WriteSize: 3},
		"crlf":      {CRLF: true},
		"comments":  {Comment: "OPENROUTER PROCESSING"},
		"no-done":   {NoDone: true},
		"by-letter": {Sizes: []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Reply(fakeprovider.Reply{Text: "Grüße aus Zürich", Stream: s, Gzip: name == "plain"})
			params := ask("Hi")
			params.StreamOptions.IncludeUsage = openai.Bool(true)
			got, err := collect(t, newOpenAI(srv).Chat.Completions.NewStreaming(t.Context(), params))
			require.NoError(t, err)
			require.Equal(t, "Grüße aus Zürich", got.Choices[0].Message.Content)
			require.Equal(t, "stop", got.Choices[0].FinishReason)
			require.EqualValues(t, 4, got.Usage.PromptTokens)
			require.EqualValues(t, 3, got.Usage.CompletionTokens)
		})
	}
}

func TestOpenAIStreamWithoutUsage(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Text("Hello"))
	got, err := collect(t, newOpenAI(srv).Chat.Completions.NewStreaming(t.Context(), ask("Hi")))
	require.NoError(t, err)
	require.Zero(t, got.Usage.TotalTokens, "usage comes only where it is asked for")
}

// TestOpenAITools plays a whole tool loop, with parallel calls, whole and streamed.
func TestOpenAITools(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		srv := fakeprovider.New(t)
		srv.Handle(fakeprovider.Echo(
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Zürich"}`},
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
		))
		client := newOpenAI(srv)
		call := func(params openai.ChatCompletionNewParams) openai.ChatCompletion {
			if !streamed {
				got, err := client.Chat.Completions.New(t.Context(), params)
				require.NoError(t, err)
				return *got
			}
			got, err := collect(t, client.Chat.Completions.NewStreaming(t.Context(), params))
			require.NoError(t, err)
			return got.ChatCompletion
		}
		params := ask("What is the weather?")
		params.Tools = []openai.ChatCompletionToolUnionParam{openAIWeather}
		got := call(params)
		require.Equal(t, "tool_calls", got.Choices[0].FinishReason)
		calls := got.Choices[0].Message.ToolCalls
		require.Len(t, calls, 2)
		require.Equal(t, "weather", calls[0].Function.Name)
		require.JSONEq(t, `{"city":"Zürich"}`, calls[0].Function.Arguments)
		require.JSONEq(t, `{"city":"Bern"}`, calls[1].Function.Arguments)
		require.NotEqual(t, calls[0].ID, calls[1].ID)

		params.Messages = append(params.Messages, got.Choices[0].Message.ToParam(),
			openai.ToolMessage("22 degrees", calls[0].ID), openai.ToolMessage("rain", calls[1].ID))
		require.Equal(t, "The tools say: 22 degrees; rain", call(params).Choices[0].Message.Content)
	}
}

func TestOpenAISingleToolCallStreamed(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.CallTools(fakeprovider.ToolCall{ID: "call_1", Name: "weather", Arguments: `{"city":"Bern"}`}))
	got, err := collect(t, newOpenAI(srv).Chat.Completions.NewStreaming(t.Context(), ask("Hi")))
	require.NoError(t, err)
	calls := got.Choices[0].Message.ToolCalls
	require.Len(t, calls, 1)
	require.Equal(t, "call_1", calls[0].ID)
	require.Equal(t, "weather", calls[0].Function.Name)
	require.JSONEq(t, `{"city":"Bern"}`, calls[0].Function.Arguments)
}

func TestOpenAIStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	params := ask("Summarize: two words")
	params.ResponseFormat = openai.ChatCompletionNewParamsResponseFormatUnion{
		OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "summary",
			Schema: map[string]any{"type": "object", "properties": map[string]any{
				"summary": map[string]any{"type": "string"}, "length": map[string]any{"type": "integer"},
			}},
		}},
	}
	got, err := newOpenAI(srv).Chat.Completions.New(t.Context(), params)
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Summary: two words","length":1}`, got.Choices[0].Message.Content)
}

func TestOpenAIRefusal(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Refusal: "I cannot"}, fakeprovider.Reply{Refusal: "I cannot"})
	client := newOpenAI(srv)
	whole, err := client.Chat.Completions.New(t.Context(), ask("Hi"))
	require.NoError(t, err)
	require.Equal(t, "I cannot", whole.Choices[0].Message.Refusal)
	require.Empty(t, whole.Choices[0].Message.Content)
	streamed, err := collect(t, client.Chat.Completions.NewStreaming(t.Context(), ask("Hi")))
	require.NoError(t, err)
	require.Equal(t, "I cannot", streamed.Choices[0].Message.Refusal)
}

func TestOpenAIThinking(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Thinking: "hm", Text: "42"})
	got, err := newOpenAI(srv).Chat.Completions.New(t.Context(), ask("Hi"))
	require.NoError(t, err)
	require.Equal(t, "42", got.Choices[0].Message.Content)
	require.Equal(t, `"hm"`, got.Choices[0].Message.JSON.ExtraFields["reasoning_content"].Raw())
	require.EqualValues(t, 1, got.Usage.CompletionTokensDetails.ReasoningTokens)
}

func TestOpenAIErrors(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{
		Failure: &fakeprovider.Failure{Status: 429, Type: "tokens", Code: "rate_limit_exceeded", Message: "slow down"},
		Header:  http.Header{"Retry-After": {"1"}},
	})
	client := newOpenAI(srv)
	_, err := client.Chat.Completions.New(t.Context(), ask("Hi"))
	var api *openai.Error
	require.ErrorAs(t, err, &api)
	require.Equal(t, 429, api.StatusCode)
	require.Equal(t, "tokens", api.Type)
	require.Equal(t, "rate_limit_exceeded", api.Code)
	require.Equal(t, "slow down", api.Message)

	_, err = client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "gpt-4o"})
	require.ErrorAs(t, err, &api)
	require.Equal(t, 400, api.StatusCode)
	require.Equal(t, "messages", api.Param)

	_, err = client.FineTuning.Jobs.List(t.Context(), openai.FineTuningJobListParams{})
	require.ErrorAs(t, err, &api)
	require.Equal(t, 404, api.StatusCode)
	require.Equal(t, "Invalid URL (GET /v1/fine_tuning/jobs)", api.Message)
}

func TestOpenAIRetries(t *testing.T) {
	srv := fakeprovider.New(t)
	again := fakeprovider.Error(503, "server_error", "later")
	again.Header = http.Header{"Retry-After-Ms": {"1"}}
	srv.Reply(again, again, fakeprovider.Text("there"))
	client := openai.NewClient(option.WithBaseURL(srv.URL()+"/v1"), option.WithAPIKey("unused"))
	got, err := client.Chat.Completions.New(t.Context(), ask("Hi"))
	require.NoError(t, err)
	require.Equal(t, "there", got.Choices[0].Message.Content)
	require.Len(t, srv.Calls(), 3)
}

func TestOpenAIErrorInStream(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Error(500, "server_error", "the server had an error")
	reply.Text, reply.Stream.FailAfter = "one two three", 3
	srv.Reply(reply)
	got, err := collect(t, newOpenAI(srv).Chat.Completions.NewStreaming(t.Context(), ask("Hi")))
	var stream *ssestream.StreamError
	require.ErrorAs(t, err, &stream)
	require.Contains(t, string(stream.Event.Data), "the server had an error")
	require.Equal(t, "one two", got.Choices[0].Message.Content)
}

func TestOpenAICutStream(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  fakeprovider.Cut
		want error
	}{
		{"reset", fakeprovider.CutReset, syscall.ECONNRESET},
		{"drop", fakeprovider.CutDrop, io.ErrUnexpectedEOF},
		{"end", fakeprovider.CutEnd, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Reply(fakeprovider.Reply{Text: "one two three", Cut: c.cut, CutAfter: 3})
			got, err := collect(t, newOpenAI(srv).Chat.Completions.NewStreaming(t.Context(), ask("Hi")))
			require.True(t, errors.Is(err, c.want), "%v", err)
			if c.cut != fakeprovider.CutReset {
				require.Equal(t, "one two", got.Choices[0].Message.Content)
			}
			if len(got.Choices) > 0 {
				require.Empty(t, got.Choices[0].FinishReason)
			}
		})
	}
}
