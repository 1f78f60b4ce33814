package fakes_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func askResponses(text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "gpt-4o",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)},
	}
}

// collectResponse reads a whole stream. It returns the last event's response, and the result of the SDK's accumulator
// for the other events. The accumulator checks that they fit together.
func collectResponse(t *testing.T, s *ssestream.Stream[responses.ResponseStreamEventUnion]) (last responses.Response, acc responses.ResponseAccumulator, err error) {
	t.Helper()
	next := int64(0)
	for s.Next() {
		e := s.Current()
		require.Equal(t, next, e.SequenceNumber)
		next++
		var same responses.ResponsesServerEventUnion
		require.NoError(t, json.Unmarshal([]byte(e.RawJSON()), &same))
		require.NoError(t, acc.AddEvent(same), "%s", e.RawJSON())
		switch e.Type {
		case "response.completed", "response.incomplete", "response.failed":
			last = e.Response
		}
	}
	return last, acc, s.Err()
}

// responsesBoth makes the same call whole and streamed.
func responsesBoth(t *testing.T, reply fakeprovider.Reply, check func(*testing.T, responses.Response)) {
	t.Helper()
	srv := fakeprovider.New(t)
	srv.Reply(reply, reply)
	client := newOpenAI(srv)
	whole, err := client.Responses.New(t.Context(), askResponses("Hi"))
	require.NoError(t, err)
	check(t, *whole)
	streamed, acc, err := collectResponse(t, client.Responses.NewStreaming(t.Context(), askResponses("Hi")))
	require.NoError(t, err)
	check(t, streamed)
	rebuilt, err := acc.ReconstructedResponse()
	require.NoError(t, err)
	check(t, *rebuilt)
}

func TestOpenAIResponsesText(t *testing.T) {
	responsesBoth(t, fakeprovider.Reply{
		Text:  "Grüße <you>",
		Usage: &fakeprovider.Usage{Input: 9, Output: 5, Reasoning: 2, CacheRead: 4},
	}, func(t *testing.T, got responses.Response) {
		require.Equal(t, "Grüße <you>", got.OutputText())
		require.EqualValues(t, "completed", got.Status)
		require.Regexp(t, "^resp_", got.ID)
		require.EqualValues(t, 9, got.Usage.InputTokens)
		require.EqualValues(t, 5, got.Usage.OutputTokens)
		require.EqualValues(t, 14, got.Usage.TotalTokens)
		require.EqualValues(t, 2, got.Usage.OutputTokensDetails.ReasoningTokens)
		require.EqualValues(t, 4, got.Usage.InputTokensDetails.CachedTokens)
	})
}

func TestOpenAIResponsesThinking(t *testing.T) {
	responsesBoth(t, fakeprovider.Reply{Thinking: "let me think", Text: "42"}, func(t *testing.T, got responses.Response) {
		require.Len(t, got.Output, 2)
		require.Equal(t, "let me think", got.Output[0].AsReasoning().Summary[0].Text)
		require.Equal(t, "42", got.OutputText())
	})
}

func TestOpenAIResponsesRefusal(t *testing.T) {
	responsesBoth(t, fakeprovider.Reply{Refusal: "I cannot"}, func(t *testing.T, got responses.Response) {
		require.Equal(t, "I cannot", got.Output[0].AsMessage().Content[0].AsRefusal().Refusal)
	})
}

func TestOpenAIResponsesIncomplete(t *testing.T) {
	responsesBoth(t, fakeprovider.Reply{Text: "Hel", Finish: "max_output_tokens"}, func(t *testing.T, got responses.Response) {
		require.EqualValues(t, "incomplete", got.Status)
		require.Equal(t, "max_output_tokens", got.IncompleteDetails.Reason)
		require.Equal(t, "Hel", got.OutputText())
	})
}

// TestOpenAIResponsesTools plays a whole tool loop, with parallel calls, whole and streamed.
func TestOpenAIResponsesTools(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		srv := fakeprovider.New(t)
		srv.Handle(fakeprovider.Echo(
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Zürich"}`},
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
		))
		client := newOpenAI(srv)
		call := func(params responses.ResponseNewParams) responses.Response {
			if !streamed {
				got, err := client.Responses.New(t.Context(), params)
				require.NoError(t, err)
				return *got
			}
			got, _, err := collectResponse(t, client.Responses.NewStreaming(t.Context(), params))
			require.NoError(t, err)
			return got
		}
		params := askResponses("")
		params.Instructions = openai.String("be brief")
		params.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", map[string]any{
			"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}},
		}, false)}
		input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("What is the weather?", responses.EasyInputMessageRoleUser)}
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: input}
		got := call(params)
		require.Len(t, got.Output, 2)
		for i, want := range []string{`{"city":"Zürich"}`, `{"city":"Bern"}`} {
			c := got.Output[i].AsFunctionCall()
			require.Equal(t, "weather", c.Name)
			require.JSONEq(t, want, c.Arguments)
			input = append(input, responses.ResponseInputItemParamOfFunctionCall(c.Arguments, c.CallID, c.Name))
		}
		input = append(input,
			responses.ResponseInputItemParamOfFunctionCallOutput("22 degrees"),
			responses.ResponseInputItemParamOfFunctionCallOutput("rain"))
		for i := range 2 {
			input[3+i].OfFunctionCallOutput.CallID = openai.String(got.Output[i].AsFunctionCall().CallID)
		}
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: input}
		answer := call(params)
		require.Equal(t, "The tools say: 22 degrees; rain", answer.OutputText())
	}
}

func TestOpenAIResponsesStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	params := askResponses("Summarize: two words")
	params.Text = responses.ResponseTextConfigParam{Format: responses.ResponseFormatTextConfigParamOfJSONSchema("summary", map[string]any{
		"type": "object", "properties": map[string]any{"summary": map[string]any{"type": "string"}},
	})}
	got, err := newOpenAI(srv).Responses.New(t.Context(), params)
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Summary: two words"}`, got.OutputText())
}

func TestOpenAIResponsesErrors(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Error(429, "tokens", "slow down"))
	_, err := newOpenAI(srv).Responses.New(t.Context(), askResponses("Hi"))
	var api *openai.Error
	require.ErrorAs(t, err, &api)
	require.Equal(t, 429, api.StatusCode)
	require.Equal(t, "tokens", api.Type)

	_, err = newOpenAI(srv).Responses.New(t.Context(), askResponses(""))
	require.ErrorAs(t, err, &api)
	require.Equal(t, "missing_required_parameter", api.Code)
}

func TestOpenAIResponsesErrorInStream(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Error(500, "server_error", "the server had an error")
	reply.Text, reply.Stream.FailAfter = "one two three", 5
	srv.Reply(reply)
	_, _, err := collectResponse(t, newOpenAI(srv).Responses.NewStreaming(t.Context(), askResponses("Hi")))
	var stream *ssestream.StreamError
	require.ErrorAs(t, err, &stream)
	require.Contains(t, string(stream.Event.Data), "the server had an error")
}

func TestOpenAIResponsesCutStream(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Text: "one two three", Cut: fakeprovider.CutDrop, CutAfter: 6})
	_, acc, err := collectResponse(t, newOpenAI(srv).Responses.NewStreaming(t.Context(), askResponses("Hi")))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, "one two", acc.Snapshot().OutputText())
}

func TestOpenAICompletions(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	client := newOpenAI(srv)
	params := openai.CompletionNewParams{
		Model:  "gpt-3.5-turbo-instruct",
		Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("Hello there")},
	}
	whole, err := client.Completions.New(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, "You said: Hello there", whole.Choices[0].Text)
	require.EqualValues(t, "stop", whole.Choices[0].FinishReason)
	require.EqualValues(t, 9, whole.Usage.TotalTokens)

	params.StreamOptions.IncludeUsage = openai.Bool(true)
	s := client.Completions.NewStreaming(t.Context(), params)
	var text strings.Builder
	var usage int64
	for s.Next() {
		usage = s.Current().Usage.TotalTokens
		for _, c := range s.Current().Choices {
			text.WriteString(c.Text)
		}
	}
	require.NoError(t, s.Err())
	require.Equal(t, "You said: Hello there", text.String())
	require.EqualValues(t, 9, usage)

	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	params.Prompt = openai.CompletionNewParamsPromptUnion{OfArrayOfStrings: []string{"a", "b"}}
	whole, err = client.Completions.New(t.Context(), params)
	require.NoError(t, err)
	require.Len(t, whole.Choices, 2, "one for each prompt")

	srv.Reply(fakeprovider.Error(404, "invalid_request_error", "no such model"))
	_, err = client.Completions.New(t.Context(), params)
	var api *openai.Error
	require.ErrorAs(t, err, &api)
	require.Equal(t, 404, api.StatusCode)
}

func TestOpenAIEmbeddings(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(func(fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Reply{} })
	client := newOpenAI(srv)
	embed := func(params openai.EmbeddingNewParams) [][]float64 {
		params.Model = "text-embedding-3-small"
		got, err := client.Embeddings.New(t.Context(), params)
		require.NoError(t, err)
		var out [][]float64
		for i, d := range got.Data {
			require.EqualValues(t, i, d.Index)
			out = append(out, d.Embedding)
		}
		return out
	}
	two := openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"one", "two"}}
	got := embed(openai.EmbeddingNewParams{Input: two, Dimensions: openai.Int(5)})
	require.Len(t, got, 2)
	require.Len(t, got[0], 5)
	require.NotEqual(t, got[0], got[1])
	require.Equal(t, got, embed(openai.EmbeddingNewParams{Input: two, Dimensions: openai.Int(5)}), "the same text has the same vector")

	srv.Reply(fakeprovider.Reply{Vectors: [][]float64{{0.5, -1}, {0.25, 2}}})
	require.Equal(t, [][]float64{{0.5, -1}, {0.25, 2}}, embed(openai.EmbeddingNewParams{Input: two}))
	srv.Reply(fakeprovider.Reply{Vectors: [][]float64{{0.5, -1}, {0.25, 2}}})
	require.Equal(t, [][]float64{{0.5, -1}, {0.25, 2}}, embed(openai.EmbeddingNewParams{
		Input: two, EncodingFormat: openai.EmbeddingNewParamsEncodingFormatBase64,
	}), "as base64")
}

func TestOpenAIMistral(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`}))
	client := openai.NewClient(option.WithBaseURL(srv.URL()+"/mistral/v1"), option.WithAPIKey("unused"), option.WithMaxRetries(0))
	whole, err := client.Chat.Completions.New(t.Context(), ask("Hi"))
	require.NoError(t, err)
	require.Equal(t, "You said: Hi", whole.Choices[0].Message.Content)

	params := ask("Hi")
	params.Tools = []openai.ChatCompletionToolUnionParam{openAIWeather}
	streamed, err := collect(t, client.Chat.Completions.NewStreaming(t.Context(), params))
	require.NoError(t, err)
	require.JSONEq(t, `{"city":"Bern"}`, streamed.Choices[0].Message.ToolCalls[0].Function.Arguments)
	require.NotZero(t, streamed.Usage.TotalTokens, "Mistral tells the usage of every stream")
}
