package fakes_test

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// newAzure returns a client with a real host name, since the SDK sends keys only over https.
func newAzure(srv *fakeprovider.Server) *openai.Client {
	c := openai.NewClient(
		azure.WithEndpoint("https://mine.openai.azure.com", "2024-10-21"),
		azure.WithAPIKey("unused"),
		option.WithHTTPClient(&http.Client{Transport: srv.Transport()}),
		option.WithMaxRetries(0),
	)
	return &c
}

func TestAzure(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`}))
	client := newAzure(srv)
	whole, err := client.Chat.Completions.New(t.Context(), ask("Hi"))
	require.NoError(t, err)
	require.Equal(t, "You said: Hi", whole.Choices[0].Message.Content)
	require.Contains(t, whole.Choices[0].JSON.ExtraFields, "content_filter_results")
	c := srv.Calls()[0]
	require.Equal(t, "/openai/deployments/gpt-4o/chat/completions", c.Path)
	require.Equal(t, "mine.openai.azure.com", c.Host)
	require.Equal(t, "2024-10-21", c.Query.Get("api-version"))
	require.Equal(t, "gpt-4o", c.Model)

	params := ask("Hi")
	params.Tools = []openai.ChatCompletionToolUnionParam{openAIWeather}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	s := client.Chat.Completions.NewStreaming(t.Context(), params)
	require.True(t, s.Next())
	require.Empty(t, s.Current().Choices)
	require.Contains(t, s.Current().JSON.ExtraFields, "prompt_filter_results")
	streamed, err := collect(t, s)
	require.NoError(t, err)
	require.JSONEq(t, `{"city":"Bern"}`, streamed.Choices[0].Message.ToolCalls[0].Function.Arguments)
	require.NotZero(t, streamed.Usage.TotalTokens)

	vectors, err := client.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
		Model: "mine", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("Hi")},
	})
	require.NoError(t, err)
	require.Len(t, vectors.Data[0].Embedding, 8)
	require.Equal(t, "/openai/deployments/mine/embeddings", srv.Calls()[2].Path)
}

func TestAzureErrors(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.RequireKey("another")
	client := newAzure(srv)
	_, err := client.Chat.Completions.New(t.Context(), ask("Hi"))
	var api *openai.Error
	require.ErrorAs(t, err, &api)
	require.Equal(t, 401, api.StatusCode)
	require.Equal(t, "401", api.Code)
	require.Contains(t, api.Message, "Access denied")

	srv.RequireKey("unused")
	srv.Reply(fakeprovider.Reply{Failure: &fakeprovider.Failure{Status: 429, Code: "429", Message: "slow down"}})
	_, err = client.Chat.Completions.New(t.Context(), ask("Hi"))
	require.ErrorAs(t, err, &api)
	require.Equal(t, "429", api.Code)
	require.Equal(t, "slow down", api.Message)
}
