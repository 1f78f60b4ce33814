package integration_test

import (
	"cmp"
	"context"
	"net/http"
	"testing"

	cohere "github.com/cohere-ai/cohere-go/v2"
	"github.com/ollama/ollama/api"
	gopenai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/internal/provider"
	readingsof "github.com/traceforge/traceforge-go/internal/reading"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestReadingsOfCapitals checks SDKs that read with encoding/json: they ignore the case of member names, and of two
// spellings they take the last, even for members that are neither text nor call. A reading must report this.
func TestReadingsOfCapitals(t *testing.T) {
	for _, x := range []struct {
		api, contentType, body, member string
		read                           func(context.Context, *http.Client) (string, error)
	}{
		{"openai.chat", "application/json", `{"choices":[{"message":{"content":"","reasoning_content":"Hi","REASONING_CONTENT":"EVIL"}}]}`, "REASONING_CONTENT",
			func(ctx context.Context, c *http.Client) (string, error) {
				got, err := newGoOpenAI(c).CreateChatCompletion(ctx, gopenai.ChatCompletionRequest{Model: "m"})
				if err != nil {
					return "", err
				}
				return got.Choices[0].Message.ReasoningContent, nil
			}},
		{"ollama.chat", "application/x-ndjson", `{"message":{"content":"","Thinking":"EVIL"},"done":true}` + "\n", "Thinking",
			func(ctx context.Context, c *http.Client) (thought string, err error) {
				err = newOllama(c).Chat(ctx, &api.ChatRequest{}, func(piece api.ChatResponse) error {
					thought += piece.Message.Thinking
					return nil
				})
				return thought, err
			}},
		{"google.generate", "application/json", `{"candidates":[{"content":{"parts":[{"executableCode":{"CODE":"EVIL"}}]}}]}`, "CODE",
			func(ctx context.Context, c *http.Client) (string, error) {
				client, err := newGemini(ctx, c)
				if err != nil {
					return "", err
				}
				got, err := client.Models.GenerateContent(ctx, "m", genai.Text("Hi"), nil)
				if err != nil {
					return "", err
				}
				return got.Candidates[0].Content.Parts[0].ExecutableCode.Code, nil
			}},
		{"cohere.chat", "application/json", `{"message":{"role":"assistant","content":[],"tool_plan":"Hi","Tool_Plan":"EVIL"}}`, "Tool_Plan",
			func(ctx context.Context, c *http.Client) (string, error) {
				got, err := newCohere(c).Chat(ctx, &cohere.V2ChatRequest{})
				if err != nil {
					return "", err
				}
				return *cmp.Or(got.Message.ToolPlan, new(string)), nil
			}},
	} {
		t.Run(x.api, func(t *testing.T) {
			resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {x.contentType}}}
			got, err := x.read(t.Context(), &http.Client{Transport: canned{resp, []byte(x.body)}})
			require.NoError(t, err)
			require.Equal(t, "EVIL", got)
			all := readingsof.Of(&provider.Answer{Status: 200, ContentType: x.contentType, Body: []byte(x.body)}, x.api, "", nil)
			said := map[snapshot.Reading]bool{}
			for _, r := range all {
				said[snapshot.Reading{Kind: r.Kind, Says: r.Says}] = true
			}
			require.Contains(t, said, snapshot.Reading{Kind: "spelling", Says: x.member})
		})
	}
}
