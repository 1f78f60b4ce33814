package record_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/vertex"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentruntime"
	agent "github.com/aws/aws-sdk-go-v2/service/bedrockagentruntime/types"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go/middleware"
	cohere "github.com/cohere-ai/cohere-go/v2"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	cohereoption "github.com/cohere-ai/cohere-go/v2/option"
	coherev2 "github.com/cohere-ai/cohere-go/v2/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// once returns the asker of an API whose whole answer is one value.
func once[T any](call func(ctx context.Context, text string) (T, error)) asker {
	return func(ctx context.Context, q question) (*answer, error) {
		got, err := call(ctx, q.text)
		if err != nil {
			return nil, err
		}
		return &answer{text: fmt.Sprintf("%+v", got), value: got}, nil
	}
}

// plain returns the scenarios of an API that generates nothing: an answer and an error.
func plain(reply fakeprovider.Reply, says string) []scenario {
	return []scenario{
		{name: "answer", why: "it is not temperature that makes it what it is", reply: []fakeprovider.Reply{reply}, ask: question{text: "one two"}, says: []string{says}},
		{
			name: "error", why: "an answer like others (design R11)",
			reply: []fakeprovider.Reply{fakeprovider.Error(400, "", "that is wrong")},
			ask:   question{text: "one two"}, says: []string{"that is wrong"}, fails: true,
		},
	}
}

// long has vectors that a record does not store as lists.
var long = fakeprovider.Reply{Vectors: [][]float64{{0.5, -1, 0.25, 0, 0.125, 1, 2, 3, 4, 5}, {0.75, 6, 7, 8, 9, 10, 11, 12, 13, 14}}}

// open returns the opener of an SDK whose client needs no context.
func open[C any](client func(*traceforgetest.Recorder) C, ask func(C) asker) func(context.Context, *traceforgetest.Recorder) (asker, error) {
	return func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) { return ask(client(tf)), nil }
}

func newCohere(tf *traceforgetest.Recorder) *cohereclient.Client {
	return cohereclient.NewClient(cohereoption.WithHTTPClient(tf.Client()), cohereoption.WithMaxAttempts(1))
}

func newCohereV2(tf *traceforgetest.Recorder) *coherev2.Client {
	return newCohere(tf).V2
}

func newOpenAI(tf *traceforgetest.Recorder) *openai.Client {
	client := openai.NewClient(option.WithHTTPClient(tf.Client()))
	return &client
}

// genaiCall returns the opener of a call with Google's SDK on one of its two hosts.
func genaiCall[T any](
	backend genai.Backend, call func(ctx context.Context, m *genai.Models, text string) (T, error),
) func(context.Context, *traceforgetest.Recorder) (asker, error) {
	return func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		config := &genai.ClientConfig{Backend: backend, HTTPClient: tf.Client()}
		if backend == genai.BackendVertexAI {
			config.Project, config.Location = "mine", "us-central1"
		}
		client, err := genai.NewClient(ctx, config)
		if err != nil {
			return nil, err
		}
		return once(func(ctx context.Context, text string) (T, error) { return call(ctx, client.Models, text) }), nil
	}
}

var counting = []sdk{
	{
		name: "anthropic-sdk-go count", api: "anthropic.count_tokens", provider: "anthropic", keys: []string{"ANTHROPIC_API_KEY"}, lacks: ids,
		open: open(func(tf *traceforgetest.Recorder) *anthropic.Client {
			client := anthropic.NewClient(anthropicoption.WithHTTPClient(tf.Client()))
			return &client
		}, countClaude),
		scenarios: plain(fakeprovider.Text(""), "5"),
	},
	{
		name: "anthropic-sdk-go count on Vertex AI", api: "anthropic.count_tokens", provider: "vertex", unkeyed: true, lacks: ids,
		open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
			token := &google.Credentials{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "unused"})}
			client := anthropic.NewClient(anthropicoption.WithHTTPClient(tf.Client()), vertex.WithCredentials(ctx, "us-east5", "mine", token))
			return countClaude(&client), nil
		},
		scenarios: plain(fakeprovider.Text(""), "5"),
	},
	{
		name: "openai-go count", api: "openai.input_tokens", provider: "openai", keys: []string{"OPENAI_API_KEY"}, lacks: ids,
		open: open(newOpenAI, func(c *openai.Client) asker {
			return once(func(ctx context.Context, text string) (int64, error) {
				got, err := c.Responses.InputTokens.Count(ctx, responses.InputTokenCountParams{
					Model: openai.String("gpt-5"), Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String(text)},
				})
				if err != nil {
					return 0, err
				}
				return got.InputTokens, nil
			})
		}),
		scenarios: plain(fakeprovider.Text(""), "5"),
	},
	{
		name: "genai count", api: "google.count_tokens", provider: "google", keys: googleKeys, lacks: ids,
		open: genaiCall(genai.BackendGeminiAPI, func(ctx context.Context, m *genai.Models, text string) (int32, error) {
			got, err := m.CountTokens(ctx, "gemini-2.5-flash", genai.Text(text), nil)
			if err != nil {
				return 0, err
			}
			return got.TotalTokens, nil
		}),
		scenarios: plain(fakeprovider.Text(""), "5"),
	},
	{
		name: "genai compute on Vertex AI", api: "google.count_tokens", provider: "vertex", unkeyed: true, lacks: ids,
		open: genaiCall(genai.BackendVertexAI, func(ctx context.Context, m *genai.Models, text string) (string, error) {
			got, err := m.ComputeTokens(ctx, "gemini-2.5-flash", genai.Text(text), nil)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%s %v", got.TokensInfo[0].Tokens, got.TokensInfo[0].TokenIDs), nil
		}),
		scenarios: plain(fakeprovider.Text(""), "[one two] [3 3]"),
	},
	{
		name: "aws-sdk-go-v2 count", api: "bedrock.count_tokens", provider: "bedrock", keys: awsKeys, unkeyed: true, errors: awsErrors, lacks: ids,
		open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
			client, err := newBedrock(ctx, tf)
			return once(func(ctx context.Context, text string) (int32, error) {
				got, err := client.CountTokens(ctx, &bedrockruntime.CountTokensInput{
					ModelId: aws.String(claudeOnBedrock),
					Input: &types.CountTokensInputMemberConverse{Value: types.ConverseTokensRequest{Messages: []types.Message{
						{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}},
					}}},
				})
				if err != nil {
					return 0, err
				}
				return *got.InputTokens, nil
			}), err
		},
		scenarios: plain(fakeprovider.Text(""), "5"),
	},
	{
		name: "cohere-go tokenize", api: "cohere.tokenize", provider: "cohere", keys: []string{"CO_API_KEY"}, lacks: ids,
		open: open(newCohere, func(c *cohereclient.Client) asker {
			return once(func(ctx context.Context, text string) ([]string, error) {
				got, err := c.Tokenize(ctx, &cohere.TokenizeRequest{Text: text, Model: "command-a"})
				if err != nil {
					return nil, err
				}
				return got.TokenStrings, nil
			})
		}),
		scenarios: plain(fakeprovider.Text(""), "[one two]"),
	},
	{
		name: "cohere-go detokenize", api: "cohere.tokenize", provider: "cohere", keys: []string{"CO_API_KEY"}, lacks: ids,
		open: open(newCohere, func(c *cohereclient.Client) asker {
			return once(func(ctx context.Context, _ string) (string, error) {
				got, err := c.Detokenize(ctx, &cohere.DetokenizeRequest{Tokens: []int{7, 8}, Model: "command-a"})
				if err != nil {
					return "", err
				}
				return got.Text, nil
			})
		}),
		scenarios: plain(fakeprovider.Text(""), "<7> <8>"),
	},
}

func countClaude(client *anthropic.Client) asker {
	return once(func(ctx context.Context, text string) (int64, error) {
		got, err := client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
			Model: "claude-sonnet-4-5", Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
		})
		if err != nil {
			return 0, err
		}
		return got.InputTokens, nil
	})
}

var ranking = []sdk{
	{
		name: "cohere-go rerank", api: "cohere.rerank", provider: "cohere", keys: []string{"CO_API_KEY"},
		open: open(newCohereV2, func(c *coherev2.Client) asker {
			return once(func(ctx context.Context, text string) (int, error) {
				got, err := c.Rerank(ctx, &cohere.V2RerankRequest{Model: "rerank-v3.5", Query: text, Documents: []string{"abc", "d"}})
				if err != nil {
					return 0, err
				}
				return got.Results[0].Index, nil
			})
		}),
		scenarios: plain(fakeprovider.Text(""), "1"),
	},
	{
		name: "cohere-go rerank, version 1", api: "cohere.rerank", provider: "cohere", keys: []string{"CO_API_KEY"},
		open: open(newCohere, func(c *cohereclient.Client) asker {
			return once(func(ctx context.Context, text string) (float64, error) {
				got, err := c.Rerank(ctx, &cohere.RerankRequest{Query: text, Documents: []*cohere.RerankRequestDocumentsItem{{String: "abc"}, {String: "d"}}})
				if err != nil {
					return 0, err
				}
				return got.Results[0].RelevanceScore, nil
			})
		}),
		scenarios: plain(fakeprovider.Text(""), "0.5"),
	},
	bedrockKind("bedrock.rerank", "cohere.rerank-v3-5:0", `{"query":%q,"documents":["abc","d"],"api_version":2}`, `"results":[{"index":1,"relevance_score":0.5}`),
	{
		name: "aws-sdk-go-v2 rerank", api: "bedrock.rerank", provider: "bedrock", keys: awsKeys, unkeyed: true, errors: awsErrors, lacks: ids,
		open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
			found, err := config.LoadDefaultConfig(ctx, config.WithRegion("us-west-2"), config.WithHTTPClient(tf.Client()))
			client := bedrockagentruntime.NewFromConfig(found)
			return once(func(ctx context.Context, text string) (*bedrockagentruntime.RerankOutput, error) {
				out, err := client.Rerank(ctx, rerankInput(text, "abc", "d"))
				if err == nil {
					out.ResultMetadata = middleware.Metadata{} // metadata of the call, not of the answer
				}
				return out, err
			}), err
		},
		scenarios: plain(fakeprovider.Text(""), "Results:["),
	},
}

func rerankInput(query string, documents ...string) *bedrockagentruntime.RerankInput {
	in := &bedrockagentruntime.RerankInput{
		Queries: []agent.RerankQuery{{Type: agent.RerankQueryContentTypeText, TextQuery: &agent.RerankTextDocument{Text: &query}}},
		RerankingConfiguration: &agent.RerankingConfiguration{
			Type: agent.RerankingConfigurationTypeBedrockRerankingModel,
			BedrockRerankingConfiguration: &agent.BedrockRerankingConfiguration{ModelConfiguration: &agent.BedrockRerankingModelConfiguration{
				ModelArn: aws.String("arn:aws:bedrock:us-west-2::foundation-model/amazon.rerank-v1:0"),
			}},
		},
	}
	for _, text := range documents {
		in.Sources = append(in.Sources, agent.RerankSource{Type: agent.RerankSourceTypeInline, InlineDocumentSource: &agent.RerankDocument{
			Type: agent.RerankDocumentTypeText, TextDocument: &agent.RerankTextDocument{Text: &text},
		}})
	}
	return in
}

var (
	judged     = plain(fakeprovider.Reply{Refusal: "violence"}, "true 0.9")
	moderating = []sdk{
		moderator("openai-go moderations", "openai", judged),
		// openai-go does not show the text of Mistral's errors.
		moderator("openai-go moderations of Mistral", "mistral", judged[:1], option.WithBaseURL("https://api.mistral.ai/v1")),
	}
)

func moderator(name, provider string, scenarios []scenario, more ...option.RequestOption) sdk {
	return sdk{
		name: name, api: "openai.moderations", provider: provider, keys: []string{"OPENAI_API_KEY"},
		open: open(func(tf *traceforgetest.Recorder) *openai.Client {
			client := openai.NewClient(append(more, option.WithHTTPClient(tf.Client()))...)
			return &client
		}, func(c *openai.Client) asker {
			return once(func(ctx context.Context, text string) (string, error) {
				got, err := c.Moderations.New(ctx, openai.ModerationNewParams{Input: openai.ModerationNewParamsInputUnion{OfModerationMultiModalArray: []openai.ModerationMultiModalInputUnionParam{
					openai.ModerationMultiModalInputParamOfText(text),
				}}})
				if err != nil {
					return "", err
				}
				return fmt.Sprint(got.Results[0].Categories.Violence, got.Results[0].CategoryScores.Violence), nil
			})
		}),
		scenarios: scenarios,
	}
}

// generateNothing are the SDKs of APIs that generate no text.
var generateNothing = slices.Concat(embedding, counting, ranking, moderating)
