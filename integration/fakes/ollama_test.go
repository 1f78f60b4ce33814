package fakes_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func newOllama(t *testing.T, srv *fakeprovider.Server) *api.Client {
	t.Helper()
	base, err := url.Parse(srv.URL())
	require.NoError(t, err)
	return api.NewClient(base, http.DefaultClient)
}

// chatOllama makes a chat call and joins the pieces of the answer. A whole answer is one piece.
func chatOllama(t *testing.T, c *api.Client, req api.ChatRequest, streamed bool) (got api.ChatResponse, pieces int, err error) {
	t.Helper()
	req.Model, req.Stream = "qwen3", &streamed
	var m api.Message
	err = c.Chat(t.Context(), &req, func(r api.ChatResponse) error {
		pieces++
		m.Role = r.Message.Role
		m.Content += r.Message.Content
		m.Thinking += r.Message.Thinking
		m.ToolCalls = append(m.ToolCalls, r.Message.ToolCalls...)
		got = r
		return nil
	})
	got.Message = m
	return got, pieces, err
}

func askOllama(text string) api.ChatRequest {
	return api.ChatRequest{Messages: []api.Message{{Role: "user", Content: text}}}
}

func TestOllamaChat(t *testing.T) {
	reply := fakeprovider.Reply{Thinking: "let me think", Text: "Grüße <you>", Usage: &fakeprovider.Usage{Input: 9, Output: 5}}
	for _, streamed := range []bool{false, true} {
		srv := fakeprovider.New(t)
		reply.Stream.WriteSize = 3
		srv.Reply(reply)
		got, pieces, err := chatOllama(t, newOllama(t, srv), askOllama("Hi"), streamed)
		require.NoError(t, err)
		require.Equal(t, streamed, pieces > 1)
		require.Equal(t, "assistant", got.Message.Role)
		require.Equal(t, "let me think", got.Message.Thinking)
		require.Equal(t, "Grüße <you>", got.Message.Content)
		require.Equal(t, "qwen3", got.Model)
		require.True(t, got.Done)
		require.Equal(t, "stop", got.DoneReason)
		require.Equal(t, 9, got.PromptEvalCount)
		require.Equal(t, 5, got.EvalCount)
		require.NotZero(t, got.TotalDuration)
		require.False(t, got.CreatedAt.IsZero())
	}
}

func TestOllamaGenerate(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	client := newOllama(t, srv)
	for _, streamed := range []bool{false, true} {
		var text string
		var last api.GenerateResponse
		err := client.Generate(t.Context(), &api.GenerateRequest{Model: "qwen3", Prompt: "Hello there", System: "be brief", Stream: &streamed}, func(r api.GenerateResponse) error {
			text += r.Response
			last = r
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, "You said: Hello there", text)
		require.True(t, last.Done)
		require.NotEmpty(t, last.Context)
		require.Equal(t, 4, last.EvalCount)
	}
	require.Equal(t, "ollama.generate", srv.Calls()[0].API)
}

// TestOllamaTools plays a whole tool loop, with parallel calls, whole and streamed.
func TestOllamaTools(t *testing.T) {
	var tools api.Tools
	require.NoError(t, json.Unmarshal([]byte(`[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`), &tools))
	for _, streamed := range []bool{false, true} {
		srv := fakeprovider.New(t)
		srv.Handle(fakeprovider.Echo(
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Zürich"}`},
			fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
		))
		client := newOllama(t, srv)
		req := askOllama("What is the weather?")
		req.Tools = tools
		got, _, err := chatOllama(t, client, req, streamed)
		require.NoError(t, err)
		calls := got.Message.ToolCalls
		require.Len(t, calls, 2)
		require.Equal(t, "weather", calls[0].Function.Name)
		require.Equal(t, map[string]any{"city": "Zürich"}, calls[0].Function.Arguments.ToMap())
		require.Equal(t, map[string]any{"city": "Bern"}, calls[1].Function.Arguments.ToMap())
		require.NotEqual(t, calls[0].ID, calls[1].ID)
		req.Messages = append(req.Messages, got.Message,
			api.Message{Role: "tool", ToolName: "weather", ToolCallID: calls[0].ID, Content: "22 degrees"},
			api.Message{Role: "tool", ToolName: "weather", ToolCallID: calls[1].ID, Content: "rain"})
		got, _, err = chatOllama(t, client, req, streamed)
		require.NoError(t, err)
		require.Equal(t, "The tools say: 22 degrees; rain", got.Message.Content)
	}
}

func TestOllamaStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	req := askOllama("Summarize: two words")
	req.Format = json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}}}`)
	got, _, err := chatOllama(t, newOllama(t, srv), req, false)
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Summary: two words"}`, got.Message.Content)
}

func TestOllamaErrors(t *testing.T) {
	srv := fakeprovider.New(t)
	client := newOllama(t, srv)
	for _, streamed := range []bool{false, true} {
		srv.Reply(fakeprovider.Error(404, "", "model 'qwen3' not found"))
		_, _, err := chatOllama(t, client, askOllama("Hi"), streamed)
		var status api.StatusError
		require.ErrorAs(t, err, &status)
		require.Equal(t, 404, status.StatusCode)
		require.Equal(t, "model 'qwen3' not found", status.ErrorMessage)
	}
}

func TestOllamaErrorInStream(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Error(500, "", "out of memory")
	reply.Text, reply.Stream.FailAfter = "one two three", 2
	srv.Reply(reply)
	got, _, err := chatOllama(t, newOllama(t, srv), askOllama("Hi"), true)
	require.EqualError(t, err, "out of memory")
	require.Equal(t, "one two", got.Message.Content)
}

func TestOllamaCutStream(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Text: "one two three", Cut: fakeprovider.CutDrop, CutAfter: 2})
	got, _, err := chatOllama(t, newOllama(t, srv), askOllama("Hi"), true)
	require.NoError(t, err, "the package does not report what its scanner met")
	require.Equal(t, "one two", got.Message.Content)
	require.False(t, got.Done)
}
