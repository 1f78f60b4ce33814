package fakes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/bedrock"
	"github.com/tmc/langchaingo/llms/mistral"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// langchain are langchaingo's models. Each has its own client of a provider's format.
var langchain = []struct {
	name  string
	tools bool // the package can call tools with it
	open  func(*fakeprovider.Server) (llms.Model, error)
}{
	{"openai", true, func(srv *fakeprovider.Server) (llms.Model, error) {
		return openai.New(openai.WithBaseURL(srv.URL()+"/v1"), openai.WithToken("unused"), openai.WithModel("gpt-4o"))
	}},
	{"azure", true, func(srv *fakeprovider.Server) (llms.Model, error) {
		return openai.New(openai.WithBaseURL(srv.URL()), openai.WithToken("unused"), openai.WithModel("mine"),
			openai.WithAPIType(openai.APITypeAzure), openai.WithAPIVersion("2024-10-21"), openai.WithEmbeddingModel("mine"))
	}},
	{"anthropic", true, func(srv *fakeprovider.Server) (llms.Model, error) {
		return anthropic.New(anthropic.WithBaseURL(srv.URL()+"/v1"), anthropic.WithToken("unused"), anthropic.WithModel("claude-sonnet-4-5"))
	}},
	{"ollama", false, func(srv *fakeprovider.Server) (llms.Model, error) {
		return ollama.New(ollama.WithServerURL(srv.URL()), ollama.WithModel("qwen3"))
	}},
	{"mistral", true, func(srv *fakeprovider.Server) (llms.Model, error) {
		return mistral.New(mistral.WithEndpoint(srv.URL()+"/mistral"), mistral.WithAPIKey("unused"), mistral.WithModel("mistral-large"), mistral.WithMaxRetries(0))
	}},
	{"bedrock", false, func(srv *fakeprovider.Server) (llms.Model, error) {
		return bedrock.New(bedrock.WithClient(newBedrock(srv)), bedrock.WithModel(claudeOnBedrock))
	}},
}

// eachLangchain runs a test with each of the models.
func eachLangchain(t *testing.T, test func(*testing.T, *fakeprovider.Server, llms.Model)) {
	for _, l := range langchain {
		t.Run(l.name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			model, err := l.open(srv)
			require.NoError(t, err)
			test(t, srv, model)
		})
	}
}

func askLangchain(text string) []llms.MessageContent {
	return []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "be brief"),
		llms.TextParts(llms.ChatMessageTypeHuman, text),
	}
}

func TestLangchainText(t *testing.T) {
	eachLangchain(t, func(t *testing.T, srv *fakeprovider.Server, model llms.Model) {
		srv.Handle(fakeprovider.Echo())
		got, err := model.GenerateContent(t.Context(), askLangchain("Hello there"))
		require.NoError(t, err)
		require.Equal(t, "You said: Hello there", got.Choices[0].Content)
	})
}

func TestLangchainStream(t *testing.T) {
	eachLangchain(t, func(t *testing.T, srv *fakeprovider.Server, model llms.Model) {
		srv.Reply(fakeprovider.Reply{Text: "Grüße aus Zürich", Stream: fakeprovider.Stream{WriteSize: 5}})
		var pieces []string
		got, err := model.GenerateContent(t.Context(), askLangchain("Hi"), llms.WithStreamingFunc(func(_ context.Context, piece []byte) error {
			if len(piece) > 0 {
				pieces = append(pieces, string(piece))
			}
			return nil
		}))
		require.NoError(t, err)
		require.Equal(t, "Grüße aus Zürich", got.Choices[0].Content)
		require.Equal(t, []string{"Grüße", " aus", " Zürich"}, pieces)
		require.True(t, srv.Calls()[0].Stream)
	})
}

func TestLangchainTools(t *testing.T) {
	weather := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: "weather", Parameters: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
	}}
	for _, l := range langchain {
		if !l.tools {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Handle(fakeprovider.Echo(fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`}))
			model, err := l.open(srv)
			require.NoError(t, err)
			got, err := model.GenerateContent(t.Context(), askLangchain("What is the weather?"), llms.WithTools([]llms.Tool{weather}))
			require.NoError(t, err)
			require.NotEmpty(t, got.Choices[0].ToolCalls)
			call := got.Choices[0].ToolCalls[0]
			require.Equal(t, "weather", call.FunctionCall.Name)
			require.JSONEq(t, `{"city":"Bern"}`, call.FunctionCall.Arguments)
		})
	}
}

func TestLangchainErrors(t *testing.T) {
	eachLangchain(t, func(t *testing.T, srv *fakeprovider.Server, model llms.Model) {
		srv.Reply(fakeprovider.Error(400, "invalid_request_error", "that is wrong"))
		_, err := model.GenerateContent(t.Context(), askLangchain("Hi"))
		require.ErrorContains(t, err, "that is wrong")
	})
}

func TestLangchainEmbeddings(t *testing.T) {
	for _, l := range langchain[:2] {
		srv := fakeprovider.New(t)
		srv.Reply(fakeprovider.Reply{Vectors: [][]float64{{0.5, -1}, {0.25, 2}}})
		model, err := l.open(srv)
		require.NoError(t, err)
		got, err := model.(*openai.LLM).CreateEmbedding(t.Context(), []string{"one", "two"})
		require.NoError(t, err)
		require.Equal(t, [][]float32{{0.5, -1}, {0.25, 2}}, got)
	}
}

func TestLangchainStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	model, err := openai.New(openai.WithBaseURL(srv.URL()+"/v1"), openai.WithToken("unused"), openai.WithModel("gpt-4o"),
		openai.WithResponseFormat(&openai.ResponseFormat{Type: "json_schema", JSONSchema: &openai.ResponseFormatJSONSchema{
			Name: "summary",
			Schema: &openai.ResponseFormatJSONSchemaProperty{
				Type:       "object",
				Properties: map[string]*openai.ResponseFormatJSONSchemaProperty{"summary": {Type: "string"}},
			},
		}}))
	require.NoError(t, err)
	got, err := model.GenerateContent(t.Context(), askLangchain("Summarize: two words"))
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Summary: two words"}`, got.Choices[0].Content)
}
