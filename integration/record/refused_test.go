package record_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	claudeoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	"github.com/cohere-ai/cohere-go/v2/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	gptoption "github.com/openai/openai-go/v3/option"
	gopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	chained "github.com/tmc/langchaingo/llms/openai"
	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A counter counts how often a client tries.
type counter struct {
	http.RoundTripper
	tries int
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.tries++
	return c.RoundTripper.RoundTrip(r)
}

// TestRefusedOnce sends a drifted request with each SDK and its default retries. The SDK must make one request and
// return the cause.
func TestRefusedOnce(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "CO_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "unused")
	}
	t.Setenv("AWS_CA_BUNDLE", "") // restores the variable after the test
	os.Unsetenv("AWS_CA_BUNDLE")
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, os.DevNull)
	}
	for _, sdk := range []struct {
		name string
		ask  func(ctx context.Context, client *http.Client, q question) error
	}{
		{"openai-go", func(ctx context.Context, client *http.Client, q question) error {
			made := openai.NewClient(gptoption.WithHTTPClient(client))
			_, err := openAIChatAsker(&made)(ctx, q)
			return err
		}},
		{"anthropic-sdk-go", func(ctx context.Context, client *http.Client, q question) error {
			made := anthropic.NewClient(claudeoption.WithHTTPClient(client))
			_, err := claudeAsker(&made)(ctx, q)
			return err
		}},
		{"genai", func(ctx context.Context, client *http.Client, q question) error {
			ask, err := genaiAsker(ctx, &genai.ClientConfig{Backend: genai.BackendGeminiAPI, HTTPClient: client})
			if err == nil {
				_, err = ask(ctx, q)
			}
			return err
		}},
		{"go-openai", func(ctx context.Context, client *http.Client, q question) error {
			settings := gopenai.DefaultConfig("unused")
			settings.HTTPClient = client
			made := gopenai.NewClientWithConfig(settings)
			if q.stream {
				_, err := streamGoOpenAI(ctx, made, q)
				return err
			}
			_, err := made.CreateChatCompletion(ctx, goOpenAIRequest(q))
			return err
		}},
		{"aws-sdk-go-v2", func(ctx context.Context, client *http.Client, q question) error {
			found, err := config.LoadDefaultConfig(ctx, config.WithRegion("us-east-1"), config.WithHTTPClient(client))
			if err != nil {
				return err
			}
			made := bedrockruntime.NewFromConfig(found)
			if q.stream {
				_, err = streamConverse(ctx, made, converseInput(q))
				return err
			}
			_, err = made.Converse(ctx, converseInput(q))
			return err
		}},
		{"cohere-go", func(ctx context.Context, client *http.Client, q question) error {
			made := cohereclient.NewClient(option.WithHTTPClient(client)).V2
			if q.stream {
				_, err := streamCohere(ctx, made, cohereRequest(q))
				return err
			}
			_, err := made.Chat(ctx, cohereRequest(q))
			return err
		}},
		{"ollama", func(ctx context.Context, client *http.Client, q question) error {
			made := api.NewClient(&url.URL{Scheme: "http", Host: "localhost:11434"}, client)
			req, err := ollamaRequest(q)
			if err != nil {
				return err
			}
			return made.Chat(ctx, req, func(api.ChatResponse) error { return nil })
		}},
		{"langchaingo", func(ctx context.Context, client *http.Client, q question) error {
			made, err := chained.New(chained.WithHTTPClient(client), chained.WithModel("gpt-4o"))
			if err == nil {
				_, err = llms.GenerateFromSinglePrompt(ctx, made, q.text, llms.WithTemperature(0), llms.WithSeed(1))
			}
			return err
		}},
	} {
		for name, stream := range map[string]bool{"whole": false, "stream": true} {
			t.Run(sdk.name+"/"+name, func(t *testing.T) {
				options := []traceforgetest.Option{traceforgetest.Dir(t.TempDir()), traceforgetest.Nondeterministic("the SDKs are the test's subject")}
				run := func(q question, more ...traceforgetest.Option) (tries int, tb *tbtest.TB, err error) {
					tb = tbtest.Run("TestIt", func(tb *tbtest.TB) {
						counted := &counter{RoundTripper: traceforgetest.New(tb, append(options, more...)...)}
						err = sdk.ask(t.Context(), &http.Client{Transport: counted}, q)
						tries = counted.tries
					})
					return tries, tb, err
				}
				provider := fakeprovider.New(t)
				provider.Handle(fakeprovider.Echo())
				t.Setenv("TRACEFORGE_UPDATE", "1")
				_, tb, err := run(question{text: "Say hello to Ann", stream: stream}, traceforgetest.Upstream(provider.Transport()))
				require.NoError(t, err)
				require.False(t, tb.Failed(), tb.Logged())
				t.Setenv("TRACEFORGE_UPDATE", "")
				tries, tb, err := run(question{text: "Say hello to Bob", stream: stream}, traceforgetest.Upstream(unreachable{}))
				require.True(t, tb.Failed())
				var apiError *openai.Error
				if errors.As(err, &apiError) { // the error's text has only the status
					err = errors.New(apiError.Message)
				}
				require.ErrorContains(t, err, "request drifted from")
				require.Contains(t, tb.Logged(), "+ Say hello to Bob")
				require.Equal(t, 1, tries, "%v", err)
			})
		}
	}
}
