package moving_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/vertex"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/cassette"
)

// credentials finds Google's credentials while recording, and returns unused ones in replay.
func credentials(ctx context.Context, tf *traceforgetest.Recorder) (*google.Credentials, error) {
	if tf.Recording() {
		return google.FindDefaultCredentials(ctx, "https://www.googleapis.com/auth/cloud-platform")
	}
	return &google.Credentials{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "unused"})}, nil
}

// onVertex asks Claude on Vertex AI.
func onVertex(ctx context.Context, client *http.Client, found *google.Credentials) (string, error) {
	return messageOf(ctx, option.WithHTTPClient(client), vertex.WithCredentials(ctx, "us-east5", "mine", found))
}

// onBedrock asks Claude on Bedrock, with credentials from the environment.
func onBedrock(ctx context.Context, client *http.Client, _ *google.Credentials) (string, error) {
	return messageOf(ctx, option.WithHTTPClient(client), bedrock.WithLoadDefaultConfig(ctx, config.WithRegion("us-east-1")))
}

func messageOf(ctx context.Context, opts ...option.RequestOption) (string, error) {
	c := anthropic.NewClient(append(opts, option.WithMaxRetries(0))...)
	got, err := c.Messages.New(ctx, messageParams)
	if err != nil {
		return "", err
	}
	return got.Content[0].Text, nil
}

// TestMovingWithoutCredentials checks that SDKs find placeholder credentials in the environment while a cassette
// answers. SDKs that look elsewhere too get unused ones.
func TestMovingWithoutCredentials(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *http.Client, *google.Credentials) (string, error){
		"vertex": onVertex, "bedrock": onBedrock,
	} {
		t.Run(name, func(t *testing.T) {
			old := filepath.Join(t.TempDir(), "chat.yaml")
			t.Setenv("AWS_ACCESS_KEY_ID", "real")
			t.Setenv("AWS_SECRET_ACCESS_KEY", "real")
			recorded := record(t, tools[2], old, false, func(ctx context.Context, client *http.Client) ([]string, error) {
				said, err := ask(ctx, client, &google.Credentials{
					TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "real"}),
				})
				return []string{said}, err
			})
			withoutCredentials(t)
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			program := func(ctx context.Context, tf *traceforgetest.Recorder) ([]string, error) {
				found, err := credentials(ctx, tf)
				if err != nil {
					return nil, err
				}
				said, err := ask(ctx, tf.Client(), found)
				return []string{said}, err
			}
			upstream, err := cassette.Open(old)
			require.NoError(t, err)
			require.Equal(t, recorded, run(t, "1", dir, upstream, program))
			require.Equal(t, recorded, run(t, "", dir, unreachable{}, program))
		})
	}
}

// withoutCredentials hides the credentials of the user who runs the tests.
func withoutCredentials(t *testing.T) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "GOOGLE_") {
			t.Setenv(name, "") // restores the variable after the test
			os.Unsetenv(name)
		}
	}
	for _, file := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(file, os.DevNull)
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}
