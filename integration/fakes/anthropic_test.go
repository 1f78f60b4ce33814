package fakes_test

import (
	"errors"
	"io"
	"net/http"
	"syscall"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func newAnthropic(srv *fakeprovider.Server) *anthropic.Client {
	c := anthropic.NewClient(
		option.WithBaseURL(srv.URL()),
		option.WithAPIKey("unused"),
		option.WithMaxRetries(0),
	)
	return &c
}

func askClaude(text string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     "claude-sonnet-4-5",
		MaxTokens: 100,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
}

func collectClaude(t *testing.T, s *ssestream.Stream[anthropic.MessageStreamEventUnion]) (got anthropic.Message, err error) {
	t.Helper()
	for s.Next() {
		require.NoError(t, got.Accumulate(s.Current()))
	}
	return got, s.Err()
}

// anthropicBoth makes the same call whole and streamed.
func anthropicBoth(t *testing.T, reply fakeprovider.Reply, check func(*testing.T, anthropic.Message)) {
	t.Helper()
	srv := fakeprovider.New(t)
	srv.Reply(reply, reply)
	client := newAnthropic(srv)
	whole, err := client.Messages.New(t.Context(), askClaude("Hi"))
	require.NoError(t, err)
	check(t, *whole)
	streamed, err := collectClaude(t, client.Messages.NewStreaming(t.Context(), askClaude("Hi")))
	require.NoError(t, err)
	check(t, streamed)
}

func TestAnthropicText(t *testing.T) {
	anthropicBoth(t, fakeprovider.Reply{
		Text:  "Grüße <you>",
		Usage: &fakeprovider.Usage{Input: 20, Output: 5, CacheRead: 4, CacheWrite: 3},
	}, func(t *testing.T, got anthropic.Message) {
		require.Len(t, got.Content, 1)
		require.Equal(t, "Grüße <you>", got.Content[0].AsText().Text)
		require.Equal(t, anthropic.StopReasonEndTurn, got.StopReason)
		require.EqualValues(t, "claude-sonnet-4-5", got.Model)
		require.Regexp(t, "^msg_01", got.ID)
		require.EqualValues(t, 13, got.Usage.InputTokens)
		require.EqualValues(t, 5, got.Usage.OutputTokens)
		require.EqualValues(t, 4, got.Usage.CacheReadInputTokens)
		require.EqualValues(t, 3, got.Usage.CacheCreationInputTokens)
	})
}

func TestAnthropicStreamVariants(t *testing.T) {
	for name, s := range map[string]fakeprovider.Stream{
		"split":     {WriteSize: 3},
		"crlf":      {CRLF: true},
		"comments":  {Comment: "waiting"},
		"pings":     {PingEvery: 1},
		"by-letter": {Sizes: []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Reply(fakeprovider.Reply{Text: "Grüße aus Zürich", Stream: s, Gzip: name == "split"})
			got, err := collectClaude(t, newAnthropic(srv).Messages.NewStreaming(t.Context(), askClaude("Hi")))
			require.NoError(t, err)
			require.Equal(t, "Grüße aus Zürich", got.Content[0].Text)
		})
	}
}

func TestAnthropicThinking(t *testing.T) {
	anthropicBoth(t, fakeprovider.Reply{Thinking: "let me think", Signature: "sig", Text: "42"},
		func(t *testing.T, got anthropic.Message) {
			require.Len(t, got.Content, 2)
			require.Equal(t, "let me think", got.Content[0].AsThinking().Thinking)
			require.Equal(t, "sig", got.Content[0].AsThinking().Signature)
			require.Equal(t, "42", got.Content[1].AsText().Text)
		})
}

func TestAnthropicRefusal(t *testing.T) {
	anthropicBoth(t, fakeprovider.Reply{Refusal: "I cannot"}, func(t *testing.T, got anthropic.Message) {
		require.Empty(t, got.Content)
		require.Equal(t, anthropic.StopReasonRefusal, got.StopReason)
		require.Equal(t, "I cannot", got.StopDetails.Explanation)
	})
}

func TestAnthropicFinish(t *testing.T) {
	anthropicBoth(t, fakeprovider.Reply{Text: "Hel", Finish: "max_tokens"}, func(t *testing.T, got anthropic.Message) {
		require.Equal(t, anthropic.StopReasonMaxTokens, got.StopReason)
	})
}

// TestAnthropicTools plays a whole tool loop, with parallel calls, whole and streamed.
func TestAnthropicTools(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		srv := fakeprovider.New(t)
		srv.Handle(fakeprovider.Echo(
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Zürich"}`},
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
		))
		client := newAnthropic(srv)
		call := func(params anthropic.MessageNewParams) anthropic.Message {
			if !streamed {
				got, err := client.Messages.New(t.Context(), params)
				require.NoError(t, err)
				return *got
			}
			got, err := collectClaude(t, client.Messages.NewStreaming(t.Context(), params))
			require.NoError(t, err)
			return got
		}
		params := askClaude("What is the weather?")
		params.System = []anthropic.TextBlockParam{{Text: "be brief"}}
		params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name:        "weather",
			InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{"city": map[string]any{"type": "string"}}},
		}}}
		got := call(params)
		require.Equal(t, anthropic.StopReasonToolUse, got.StopReason)
		require.Len(t, got.Content, 2)
		first, second := got.Content[0].AsToolUse(), got.Content[1].AsToolUse()
		require.Equal(t, "weather", first.Name)
		require.JSONEq(t, `{"city":"Zürich"}`, string(first.Input))
		require.JSONEq(t, `{"city":"Bern"}`, string(second.Input))
		require.NotEqual(t, first.ID, second.ID)

		params.Messages = append(params.Messages, got.ToParam(), anthropic.NewUserMessage(
			anthropic.NewToolResultBlock(first.ID, "22 degrees", false),
			anthropic.NewToolResultBlock(second.ID, "rain", false),
		))
		require.Equal(t, "The tools say: 22 degrees; rain", call(params).Content[0].Text)
	}
}

func TestAnthropicStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	params := askClaude("Summarize: two words")
	params.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: map[string]any{
		"type": "object", "properties": map[string]any{"summary": map[string]any{"type": "string"}},
	}}}
	got, err := newAnthropic(srv).Messages.New(t.Context(), params)
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Summary: two words"}`, got.Content[0].Text)
}

func TestAnthropicErrors(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Error(429, "rate_limit_error", "slow down"))
	client := newAnthropic(srv)
	_, err := client.Messages.New(t.Context(), askClaude("Hi"))
	var api *anthropic.Error
	require.ErrorAs(t, err, &api)
	require.Equal(t, 429, api.StatusCode)
	require.EqualValues(t, "rate_limit_error", api.Type())
	require.Regexp(t, "^req_01", api.RequestID)
	require.Contains(t, api.RawJSON(), api.RequestID, "the same id in header and body")

	_, err = client.Messages.New(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 1, Messages: []anthropic.MessageParam{}})
	require.ErrorAs(t, err, &api)
	require.EqualValues(t, "invalid_request_error", api.Type())

	err = client.Get(t.Context(), "/v1/nothing", nil, nil)
	require.ErrorAs(t, err, &api)
	require.Equal(t, 404, api.StatusCode)
	require.EqualValues(t, "not_found_error", api.Type())
}

func TestAnthropicRetries(t *testing.T) {
	srv := fakeprovider.New(t)
	again := fakeprovider.Error(529, "overloaded_error", "Overloaded")
	again.Header = http.Header{"Retry-After-Ms": {"1"}}
	srv.Reply(again, again, fakeprovider.Text("there"))
	client := anthropic.NewClient(option.WithBaseURL(srv.URL()), option.WithAPIKey("unused"))
	got, err := client.Messages.New(t.Context(), askClaude("Hi"))
	require.NoError(t, err)
	require.Equal(t, "there", got.Content[0].Text)
	require.Len(t, srv.Calls(), 3)
}

func TestAnthropicErrorInStream(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Error(529, "overloaded_error", "Overloaded")
	reply.Text, reply.Stream.FailAfter = "one two three", 4
	srv.Reply(reply)
	got, err := collectClaude(t, newAnthropic(srv).Messages.NewStreaming(t.Context(), askClaude("Hi")))
	var api *anthropic.Error
	require.ErrorAs(t, err, &api)
	require.EqualValues(t, "overloaded_error", api.Type())
	require.Equal(t, "one", got.Content[0].Text)
}

func TestAnthropicCutStream(t *testing.T) {
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
			srv.Reply(fakeprovider.Reply{Text: "one two three", Cut: c.cut, CutAfter: 5})
			got, err := collectClaude(t, newAnthropic(srv).Messages.NewStreaming(t.Context(), askClaude("Hi")))
			require.True(t, errors.Is(err, c.want), "%v", err)
			if c.cut != fakeprovider.CutReset {
				require.Equal(t, "one two", got.Content[0].Text)
			}
			require.Empty(t, got.StopReason)
		})
	}
}
