package record_test

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	cohere "github.com/cohere-ai/cohere-go/v2"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	coherev2 "github.com/cohere-ai/cohere-go/v2/v2"
	"github.com/ollama/ollama/api"
	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func embedWith(model string, texts ...string) func(context.Context, *genai.Models, string) ([]*genai.ContentEmbedding, error) {
	return func(ctx context.Context, m *genai.Models, text string) ([]*genai.ContentEmbedding, error) {
		var contents []*genai.Content
		for _, text := range append([]string{text}, texts...) {
			contents = append(contents, genai.NewContentFromText(text, genai.RoleUser))
		}
		got, err := m.EmbedContent(ctx, model, contents, &genai.EmbedContentConfig{TaskType: "RETRIEVAL_DOCUMENT"})
		if err != nil {
			return nil, err
		}
		return got.Embeddings, nil
	}
}

var googleKeys = []string{"GEMINI_API_KEY"}

var embedding = []sdk{
	{
		name: "genai embed", api: "google.embed", provider: "google", keys: googleKeys, lacks: ids,
		open: genaiCall(genai.BackendGeminiAPI, func(ctx context.Context, m *genai.Models, text string) ([]float32, error) {
			got, err := embedWith("gemini-embedding-001", "other")(ctx, m, text)
			if err != nil {
				return nil, err
			}
			return got[1].Values, nil
		}),
		scenarios: plain(long, "[0.75 6 7"),
	},
	{
		name: "genai embed on Vertex AI", api: "google.embed", provider: "vertex", unkeyed: true, lacks: ids,
		open: genaiCall(genai.BackendVertexAI, func(ctx context.Context, m *genai.Models, text string) ([]float32, error) {
			got, err := embedWith("gemini-embedding-2-preview")(ctx, m, text)
			if err != nil {
				return nil, err
			}
			return got[0].Values, nil
		}),
		scenarios: plain(long, "[0.5 -1 0.25"),
	},
	{
		name: "genai predict on Vertex AI", api: "vertex.predict", provider: "vertex", unkeyed: true, lacks: ids,
		open: genaiCall(genai.BackendVertexAI, func(ctx context.Context, m *genai.Models, text string) ([]float32, error) {
			got, err := embedWith("text-embedding-005")(ctx, m, text)
			if err != nil {
				return nil, err
			}
			return append(got[0].Values, got[0].Statistics.TokenCount), nil
		}),
		scenarios: plain(long, "4 5 3]"),
	},
	{
		name: "genai images on Vertex AI", api: "vertex.predict", provider: "vertex", unkeyed: true, lacks: ids,
		open: genaiCall(genai.BackendVertexAI, func(ctx context.Context, m *genai.Models, text string) ([]byte, error) {
			got, err := m.GenerateImages(ctx, "imagen-4.0-generate-001", text, nil)
			if err != nil {
				return nil, err
			}
			return got.GeneratedImages[0].Image.ImageBytes, nil
		}),
		scenarios: plain(fakeprovider.Reply{Vectors: [][]float64{{0.5}}}, "[0 0 0 63]"), // a float32
	},
	{
		name: "cohere-go embed", api: "cohere.embed", provider: "cohere", keys: []string{"CO_API_KEY"},
		open: open(newCohereV2, func(c *coherev2.Client) asker {
			return once(func(ctx context.Context, text string) (*cohere.EmbedByTypeResponseEmbeddings, error) {
				got, err := c.Embed(ctx, &cohere.V2EmbedRequest{
					Model: "embed-v4.0", InputType: "search_document", Texts: []string{text},
					EmbeddingTypes: []cohere.EmbeddingType{"float", "int8", "base64"},
				})
				if err != nil {
					return nil, err
				}
				return got.Embeddings, nil
			})
		}),
		scenarios: plain(long, "0.5"),
	},
	{
		name: "cohere-go embed, version 1", api: "cohere.embed", provider: "cohere", keys: []string{"CO_API_KEY"},
		open: open(newCohere, func(c *cohereclient.Client) asker {
			return once(func(ctx context.Context, text string) ([][]float64, error) {
				kind := cohere.EmbedInputTypeSearchQuery
				got, err := c.Embed(ctx, &cohere.EmbedRequest{Model: new("embed-english-v3.0"), InputType: &kind, Texts: []string{text}})
				if err != nil {
					return nil, err
				}
				return got.EmbeddingsFloats.Embeddings, nil
			})
		}),
		scenarios: plain(long, "[[0.5 -1 0.25"),
	},
	{
		name: "ollama embed", api: "ollama.embed", provider: "ollama", unkeyed: true,
		open: open(newOllama, func(c *api.Client) asker {
			return once(func(ctx context.Context, text string) (*api.EmbedResponse, error) {
				return c.Embed(ctx, &api.EmbedRequest{Model: "mxbai-embed-large", Input: []string{text, "other"}})
			})
		}),
		scenarios: plain(long, "[0.75 6 7"),
	},
	{
		name: "ollama embeddings", api: "ollama.embed", provider: "ollama", unkeyed: true, lacks: ids,
		open: open(newOllama, func(c *api.Client) asker {
			return once(func(ctx context.Context, text string) (*api.EmbeddingResponse, error) {
				return c.Embeddings(ctx, &api.EmbeddingRequest{Model: "mxbai-embed-large", Prompt: text})
			})
		}),
		scenarios: plain(long, "[0.5 -1 0.25"),
	},
	bedrockKind("bedrock.embed", "amazon.titan-embed-text-v2:0", `{"inputText":%q}`, `"embedding":[0.5,-1,0.25`),
}

// bedrockKind returns an SDK for InvokeModel with a model that generates no text.
func bedrockKind(api, model, body, says string) sdk {
	return sdk{
		name: "aws-sdk-go-v2 invoke " + model, api: api, provider: "bedrock", keys: awsKeys, unkeyed: true, errors: awsErrors, lacks: ids,
		open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
			client, err := newBedrock(ctx, tf)
			return once(func(ctx context.Context, text string) (string, error) {
				out, err := client.InvokeModel(ctx, &bedrockruntime.InvokeModelInput{
					ModelId: &model, Body: fmt.Appendf(nil, body, text), ContentType: aws.String("application/json"),
				})
				if err != nil {
					return "", err
				}
				return string(out.Body), nil
			}), err
		},
		scenarios: plain(long, says),
	}
}
