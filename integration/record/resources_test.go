package record_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	ollama "github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A step makes one call about a resource. made is the resource from earlier steps.
type step func(ctx context.Context, made *string) (text string, value any, err error)

// inOrder returns an asker that takes one step per question.
func inOrder(steps ...step) asker {
	made, n := "", -1
	return func(ctx context.Context, _ question) (*answer, error) {
		n++
		text, value, err := steps[n](ctx, &made)
		if err != nil {
			return nil, err
		}
		return &answer{text: text, value: value}, nil
	}
}

// resourceScenario creates, reads and deletes a resource, with one call each.
func resourceScenario(reply fakeprovider.Reply, says ...string) []scenario {
	replies := make([]fakeprovider.Reply, len(says))
	for i := range replies {
		replies[i] = reply
	}
	return []scenario{{name: "in order", why: "what is made has a new id each time", reply: replies, says: says}}
}

var openAIResources = sdk{
	name: "openai-go resources", api: "openai.resources", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return inOrder(
			func(ctx context.Context, _ *string) (string, any, error) {
				page, err := client.Models.List(ctx)
				if err != nil {
					return "", nil, err
				}
				return fmt.Sprint(len(page.Data), " models"), page.Data, nil
			},
			func(ctx context.Context, _ *string) (string, any, error) {
				got, err := client.Models.Get(ctx, "gpt-4o")
				if err != nil {
					return "", nil, err
				}
				return got.ID, got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				lines := strings.Repeat(`{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{}}`+"\n", 3)
				got, err := client.Files.New(ctx, openai.FileNewParams{
					File: openai.File(strings.NewReader(lines), "requests.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch,
				})
				if err != nil {
					return "", nil, err
				}
				*made = got.ID
				return string(got.Filename), got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Files.Get(ctx, *made)
				if err != nil {
					return "", nil, err
				}
				//lint:ignore SA1019 recorded answers have it
				return string(got.Status), got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Files.Content(ctx, *made)
				if err != nil {
					return "", nil, err
				}
				defer got.Body.Close()
				content, err := io.ReadAll(got.Body)
				return string(content), content, err
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Files.Delete(ctx, *made)
				if err != nil {
					return "", nil, err
				}
				return fmt.Sprint("deleted: ", got.Deleted), got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Batches.New(ctx, openai.BatchNewParams{InputFileID: "file-abc", Endpoint: "/v1/chat/completions", CompletionWindow: "24h"})
				if err != nil {
					return "", nil, err
				}
				*made = got.ID
				return string(got.Status), got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Batches.Get(ctx, *made)
				if err != nil {
					return "", nil, err
				}
				return string(got.Status), got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Batches.Cancel(ctx, *made)
				if err != nil {
					return "", nil, err
				}
				return string(got.Status), got, nil
			},
		), nil
	},
	scenarios: resourceScenario(fakeprovider.Text("{\"custom_id\":\"a\"}\n{\"custom_id\":\"b\"}\n"),
		"2 models", "gpt-4o", "requests.jsonl", "processed", `"custom_id":"b"`, "deleted: true", "validating", "completed", "cancelling"),
}

var claudeResources = sdk{
	name: "anthropic-sdk-go resources", api: "anthropic.resources", provider: "anthropic",
	keys: []string{"ANTHROPIC_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := anthropic.NewClient(anthropicoption.WithHTTPClient(tf.Client()))
		return inOrder(
			func(ctx context.Context, _ *string) (string, any, error) {
				page, err := client.Models.List(ctx, anthropic.ModelListParams{})
				if err != nil {
					return "", nil, err
				}
				return page.Data[0].ID, page.Data, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Messages.Batches.New(ctx, anthropic.MessageBatchNewParams{Requests: []anthropic.MessageBatchNewParamsRequest{{
					CustomID: "a", Params: anthropic.MessageBatchNewParamsRequestParams{
						Model: "claude-sonnet-4-5", MaxTokens: 10, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hi"))},
					},
				}}})
				if err != nil {
					return "", nil, err
				}
				*made = got.ID
				return string(got.ProcessingStatus), got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Messages.Batches.Get(ctx, *made, anthropic.MessageBatchGetParams{})
				if err != nil {
					return "", nil, err
				}
				return string(got.ProcessingStatus), got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				// The SDK's own ResultsStreaming first requests the batch, and then makes this call.
				var got *http.Response
				err := client.Get(ctx, "v1/messages/batches/"+*made+"/results", nil, &got)
				if err != nil {
					return "", nil, err
				}
				defer got.Body.Close()
				lines, err := io.ReadAll(got.Body)
				return string(lines), lines, err
			},
		), nil
	},
	scenarios: resourceScenario(fakeprovider.Text("Hi there"), "claude-sonnet-4-5", "in_progress", "ended", "Hi there"),
}

var geminiResources = sdk{
	name: "genai resources", api: "google.resources", provider: "google",
	keys: []string{"GEMINI_API_KEY"},
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client, err := genai.NewClient(ctx, &genai.ClientConfig{HTTPClient: tf.Client(), Backend: genai.BackendGeminiAPI})
		if err != nil {
			return nil, err
		}
		return inOrder(
			func(ctx context.Context, _ *string) (string, any, error) {
				got, err := client.Models.Get(ctx, "gemini-2.5-flash", nil)
				if err != nil {
					return "", nil, err
				}
				return got.Name, got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Caches.Create(ctx, "gemini-2.5-flash", &genai.CreateCachedContentConfig{
					DisplayName: "facts", Contents: genai.Text("A long text."),
				})
				if err != nil {
					return "", nil, err
				}
				*made = got.Name
				return got.DisplayName, got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				got, err := client.Caches.Get(ctx, *made, nil)
				if err != nil {
					return "", nil, err
				}
				return fmt.Sprint(got.UsageMetadata.TotalTokenCount), got, nil
			},
			func(ctx context.Context, made *string) (string, any, error) {
				_, err := client.Caches.Delete(ctx, *made, nil)
				return "deleted", nil, err
			},
		), nil
	},
	scenarios: resourceScenario(fakeprovider.Reply{}, "models/gemini-2.5-flash", "facts", "2010", "deleted"),
}

var ollamaResources = sdk{
	name: "ollama resources", api: "ollama.resources", provider: "ollama",
	unkeyed: true, lacks: ids,
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := ollama.NewClient(&url.URL{Scheme: "http", Host: "127.0.0.1:11434"}, tf.Client())
		return inOrder(
			func(ctx context.Context, _ *string) (string, any, error) {
				got, err := client.List(ctx)
				if err != nil {
					return "", nil, err
				}
				return got.Models[0].Name, got, nil
			},
			func(ctx context.Context, _ *string) (string, any, error) {
				got, err := client.Show(ctx, &ollama.ShowRequest{Model: "qwen3"})
				if err != nil {
					return "", nil, err
				}
				return got.Details.Family, got, nil
			},
		), nil
	},
	scenarios: resourceScenario(fakeprovider.Reply{}, "qwen3:latest", "qwen3"),
}
