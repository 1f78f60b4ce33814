package fakes_test

import (
	"net/http"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/bedrock"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/vertex"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestAnthropicHosts calls Claude on AWS and on Google with Anthropic's SDK.
func TestAnthropicHosts(t *testing.T) {
	for _, c := range []struct {
		name, api, host, path string
		client                option.RequestOption
	}{
		{
			"bedrock", "bedrock.invoke", "bedrock-runtime.us-east-1.amazonaws.com",
			"/model/claude-sonnet-4-5/invoke-with-response-stream",
			bedrock.WithConfig(aws.Config{
				Region:      "us-east-1",
				Credentials: credentials.NewStaticCredentialsProvider("unused", "unused", ""),
			}),
		},
		{
			"vertex", "anthropic.messages", "us-east5-aiplatform.googleapis.com",
			"/v1/projects/mine/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict",
			vertex.WithCredentials(t.Context(), "us-east5", "mine", &google.Credentials{
				TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "unused"}),
			}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			reply := fakeprovider.Reply{Thinking: "hm", Text: "Grüße", ToolCalls: []fakeprovider.ToolCall{{Name: "weather", Arguments: `{"city":"Bern"}`}}}
			srv.Reply(reply, reply, fakeprovider.Error(400, "invalid_request_error", "that is wrong"))
			client := anthropic.NewClient(
				option.WithHTTPClient(&http.Client{Transport: srv.Transport()}), c.client, option.WithMaxRetries(0),
			)
			params := askClaude("Hi")
			check := func(got anthropic.Message) {
				require.Len(t, got.Content, 3)
				require.Equal(t, "hm", got.Content[0].AsThinking().Thinking)
				require.Equal(t, "Grüße", got.Content[1].AsText().Text)
				require.JSONEq(t, `{"city":"Bern"}`, string(got.Content[2].AsToolUse().Input))
				require.Equal(t, anthropic.StopReasonToolUse, got.StopReason)
			}
			whole, err := client.Messages.New(t.Context(), params)
			require.NoError(t, err)
			check(*whole)
			streamed, err := collectClaude(t, client.Messages.NewStreaming(t.Context(), params))
			require.NoError(t, err)
			check(streamed)
			seen := srv.Calls()[1]
			require.Equal(t, c.api, seen.API)
			require.Equal(t, c.host, seen.Host)
			require.Equal(t, c.path, seen.Path)

			_, err = client.Messages.New(t.Context(), params)
			var api *anthropic.Error
			require.ErrorAs(t, err, &api)
			require.Equal(t, 400, api.StatusCode)
			require.Contains(t, api.RawJSON(), "that is wrong")
		})
	}
}
