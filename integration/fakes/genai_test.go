package fakes_test

import (
	"io"
	"log"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

const geminiModel = "gemini-2.5-flash"

// genaiClients returns a client for each of Gemini's two hosts.
func genaiClients(t *testing.T, srv *fakeprovider.Server) map[string]*genai.Client {
	t.Helper()
	clients := map[string]*genai.Client{}
	for name, config := range map[string]*genai.ClientConfig{
		"studio": {Backend: genai.BackendGeminiAPI, APIKey: "unused"},
		"vertex": {Backend: genai.BackendVertexAI, Project: "mine", Location: "us-central1"},
	} {
		config.HTTPClient = &http.Client{Transport: srv.Transport()}
		c, err := genai.NewClient(t.Context(), config)
		require.NoError(t, err)
		clients[name] = c
	}
	return clients
}

// collectGemini reads a whole stream. The package has no accumulator.
func collectGemini(t *testing.T, c *genai.Client, contents []*genai.Content, config *genai.GenerateContentConfig) (*genai.GenerateContentResponse, error) {
	t.Helper()
	var got *genai.GenerateContentResponse
	for chunk, err := range c.Models.GenerateContentStream(t.Context(), geminiModel, contents, config) {
		if err != nil {
			return got, err
		}
		if got != nil && len(got.Candidates) > 0 && len(chunk.Candidates) > 0 {
			parts := got.Candidates[0].Content.Parts
			chunk.Candidates[0].Content.Parts = append(parts, chunk.Candidates[0].Content.Parts...)
		}
		got = chunk
	}
	return got, nil
}

// geminiBoth makes the same call whole and streamed, on both hosts.
func geminiBoth(t *testing.T, reply fakeprovider.Reply, check func(*testing.T, *genai.GenerateContentResponse)) {
	t.Helper()
	srv := fakeprovider.New(t)
	srv.Handle(func(fakeprovider.Call) fakeprovider.Reply { return reply })
	for name, client := range genaiClients(t, srv) {
		t.Run(name, func(t *testing.T) {
			whole, err := client.Models.GenerateContent(t.Context(), geminiModel, genai.Text("Hi"), nil)
			require.NoError(t, err)
			check(t, whole)
			streamed, err := collectGemini(t, client, genai.Text("Hi"), nil)
			require.NoError(t, err)
			check(t, streamed)
		})
	}
}

func TestGenAIText(t *testing.T) {
	geminiBoth(t, fakeprovider.Reply{
		Text:  "Grüße <you>",
		Usage: &fakeprovider.Usage{Input: 9, Output: 5, Reasoning: 2, CacheRead: 4},
	}, func(t *testing.T, got *genai.GenerateContentResponse) {
		require.Equal(t, "Grüße <you>", joined(got))
		require.Equal(t, genai.FinishReasonStop, got.Candidates[0].FinishReason)
		require.Equal(t, geminiModel, got.ModelVersion)
		require.NotEmpty(t, got.ResponseID)
		require.EqualValues(t, 9, got.UsageMetadata.PromptTokenCount)
		require.EqualValues(t, 3, got.UsageMetadata.CandidatesTokenCount)
		require.EqualValues(t, 2, got.UsageMetadata.ThoughtsTokenCount)
		require.EqualValues(t, 4, got.UsageMetadata.CachedContentTokenCount)
		require.EqualValues(t, 14, got.UsageMetadata.TotalTokenCount)
	})
}

func joined(r *genai.GenerateContentResponse) (text string) {
	for _, p := range r.Candidates[0].Content.Parts {
		if !p.Thought {
			text += p.Text
		}
	}
	return text
}

func TestGenAIThinking(t *testing.T) {
	geminiBoth(t, fakeprovider.Reply{Thinking: "let me think", Signature: "c2ln", Text: "42"}, func(t *testing.T, got *genai.GenerateContentResponse) {
		var thoughts, signature string
		for _, p := range got.Candidates[0].Content.Parts {
			if p.Thought {
				thoughts += p.Text
			}
			signature += string(p.ThoughtSignature)
		}
		require.Equal(t, "let me think", thoughts)
		require.Equal(t, "sig", signature)
		require.Equal(t, "42", joined(got))
	})
}

func TestGenAIRefusal(t *testing.T) {
	geminiBoth(t, fakeprovider.Reply{Refusal: "I cannot"}, func(t *testing.T, got *genai.GenerateContentResponse) {
		require.Empty(t, got.Candidates)
		require.EqualValues(t, "PROHIBITED_CONTENT", got.PromptFeedback.BlockReason)
	})
	geminiBoth(t, fakeprovider.Reply{Text: "Hel", Finish: "MAX_TOKENS"}, func(t *testing.T, got *genai.GenerateContentResponse) {
		require.Equal(t, genai.FinishReasonMaxTokens, got.Candidates[0].FinishReason)
	})
}

// TestGenAITools plays a whole tool loop, with parallel calls, whole and streamed.
func TestGenAITools(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo(
		fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Zürich"}`},
		fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
	))
	config := &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("be brief", genai.RoleUser),
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name:       "weather",
			Parameters: &genai.Schema{Type: genai.TypeObject, Properties: map[string]*genai.Schema{"city": {Type: genai.TypeString}}},
		}}}},
	}
	for name, client := range genaiClients(t, srv) {
		for _, streamed := range []bool{false, true} {
			call := func(contents []*genai.Content) *genai.GenerateContentResponse {
				if !streamed {
					got, err := client.Models.GenerateContent(t.Context(), geminiModel, contents, config)
					require.NoError(t, err, name)
					return got
				}
				got, err := collectGemini(t, client, contents, config)
				require.NoError(t, err, name)
				return got
			}
			contents := genai.Text("What is the weather?")
			got := call(contents)
			calls := got.FunctionCalls()
			require.Len(t, calls, 2)
			require.Equal(t, map[string]any{"city": "Zürich"}, calls[0].Args)
			require.Equal(t, map[string]any{"city": "Bern"}, calls[1].Args)
			contents = append(contents, got.Candidates[0].Content, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{
				genai.NewPartFromFunctionResponse("weather", map[string]any{"output": "22 degrees"}),
				genai.NewPartFromFunctionResponse("weather", map[string]any{"output": "rain"}),
			}})
			require.Equal(t, "The tools say: 22 degrees; rain", joined(call(contents)))
		}
	}
}

func TestGenAIStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	for _, config := range []*genai.GenerateContentConfig{
		{ResponseMIMEType: "application/json", ResponseSchema: &genai.Schema{
			Type: genai.TypeObject, Properties: map[string]*genai.Schema{"summary": {Type: genai.TypeString}},
		}},
		{ResponseMIMEType: "application/json", ResponseJsonSchema: map[string]any{
			"type": "object", "properties": map[string]any{"summary": map[string]any{"type": "string"}},
		}},
	} {
		got, err := genaiClients(t, srv)["studio"].Models.GenerateContent(t.Context(), geminiModel, genai.Text("Summarize: two words"), config)
		require.NoError(t, err)
		require.JSONEq(t, `{"summary":"Summary: two words"}`, joined(got))
	}
}

func TestGenAICandidates(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Text: "one", Choices: []fakeprovider.Reply{fakeprovider.Text("two")}})
	got, err := genaiClients(t, srv)["studio"].Models.GenerateContent(t.Context(), geminiModel, genai.Text("Hi"), &genai.GenerateContentConfig{CandidateCount: 2})
	require.NoError(t, err)
	require.Len(t, got.Candidates, 2)
	require.Equal(t, "two", got.Candidates[1].Content.Parts[0].Text)
}

func TestGenAIErrors(t *testing.T) {
	srv := fakeprovider.New(t)
	for name, client := range genaiClients(t, srv) {
		srv.Reply(fakeprovider.Error(429, "RESOURCE_EXHAUSTED", "slow down"), fakeprovider.Error(400, "", "no"))
		_, err := client.Models.GenerateContent(t.Context(), geminiModel, genai.Text("Hi"), nil)
		var api genai.APIError
		require.ErrorAs(t, err, &api, name)
		require.Equal(t, 429, api.Code)
		require.Equal(t, "RESOURCE_EXHAUSTED", api.Status)
		require.Equal(t, "slow down", api.Message)
		_, err = collectGemini(t, client, genai.Text("Hi"), nil)
		require.ErrorAs(t, err, &api, name)
		require.Equal(t, "INVALID_ARGUMENT", api.Status)
	}
}

func TestGenAIErrorInStream(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Error(503, "UNAVAILABLE", "overloaded")
	reply.Text, reply.Stream.FailAfter = "one two three", 2
	srv.Reply(reply)
	got, err := collectGemini(t, genaiClients(t, srv)["studio"], genai.Text("Hi"), nil)
	var api genai.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, "UNAVAILABLE", api.Status)
	require.Equal(t, "one two", joined(got))
}

func TestGenAICutStream(t *testing.T) {
	logged := log.Writer() // the SDK logs the errors that it returns
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(logged) })
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Text: "one two three", Cut: fakeprovider.CutDrop, CutAfter: 2})
	got, err := collectGemini(t, genaiClients(t, srv)["studio"], genai.Text("Hi"), nil)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, "one two", joined(got))
	require.Empty(t, got.Candidates[0].FinishReason)
}
