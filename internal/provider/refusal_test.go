package provider

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefuse writes refusals, and reads each one with its API's codec.
func TestRefuse(t *testing.T) {
	const chat = `{"model":"m","messages":[]}`
	for _, c := range []struct{ name, why, url, body, want string }{
		{"openai", "the default", "https://api.openai.com/v1/chat/completions", chat,
			`{"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,"code":"traceforge"}}`},
		{"host", "a host that is not known speaks an API that is", "https://example.com/v1/chat/completions", chat,
			`{"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,"code":"traceforge"}}`},
		{"mistral", "OpenAI's API with other errors", "https://api.mistral.ai/v1/chat/completions", chat,
			`{"object":"error","message":"a \"b\"","type":"invalid_request_error","param":null,"code":"traceforge"}`},
		{"configured", "the repository says whose a host is", "https://gateway.example.com/v1/chat/completions", chat,
			`{"object":"error","message":"a \"b\"","type":"invalid_request_error","param":null,"code":"traceforge"}`},
		{"anthropic", "its own", "https://api.anthropic.com/v1/messages", chat,
			`{"type":"error","error":{"type":"invalid_request_error","message":"a \"b\""}}`},
		{"azure", "the API counts, where the provider has no errors of its own", "https://x.services.ai.azure.com/anthropic/v1/messages", chat,
			`{"type":"error","error":{"type":"invalid_request_error","message":"a \"b\""}}`},
		{"uncoded", "of an API without a codec the provider counts", "https://api.anthropic.com/v1/models", "",
			`{"type":"error","error":{"type":"invalid_request_error","message":"a \"b\""}}`},
		{"google", "its own", "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent", `{"contents":[]}`,
			`{"error":{"code":400,"message":"a \"b\"","status":"INVALID_ARGUMENT"}}`},
		{"google-events", "what was to be a stream of events", "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent?alt=sse",
			`{"contents":[]}`, `{"error":{"code":400,"message":"a \"b\"","status":"INVALID_ARGUMENT"}}`},
		{"google-list", "what was to be a list", "https://generativelanguage.googleapis.com/v1beta/models/g:streamGenerateContent",
			`{"contents":[]}`, `[{"error":{"code":400,"message":"a \"b\"","status":"INVALID_ARGUMENT"}}]`},
		{"bedrock", "its own, with a header", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", `{}`, `{"message":"a \"b\""}`},
		{"cohere", "its own", "https://api.cohere.com/v2/chat", chat, `{"message":"a \"b\""}`},
		{"ollama", "its own", "http://localhost:11434/api/chat", chat, `{"error":"a \"b\""}`},
		{"unknown", "what is no model call", "https://example.com/robots.txt", "",
			`{"error":{"message":"a \"b\"","type":"invalid_request_error","param":null,"code":"traceforge"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := url.Parse(c.url)
			require.NoError(t, err)
			w := &Wire{Method: "POST", URL: u, Header: http.Header{}, ContentType: "application/json", Body: []byte(c.body)}
			r := Refuse(w, map[string]string{"gateway.example.com": "mistral"}, `a "b"`)
			require.Equal(t, c.want, string(r.Body), c.why)
			require.Equal(t, "false", r.Header.Get("X-Should-Retry"))
			require.Equal(t, c.name == "bedrock", r.Header.Get("X-Amzn-Errortype") == "ValidationException")
			codec, _ := Match(w)
			if codec == generic {
				return
			}
			resp, err := codec.DecodeResponse(&Answer{Status: 400, ContentType: r.Header.Get("Content-Type"), Body: r.Body})
			require.NoError(t, err)
			require.NotNil(t, resp.Error)
			require.Equal(t, `a "b"`, resp.Error.Message)
		})
	}
}

// TestRefuseUpload ends a resumable upload. Without an upload status in the answer, genai would retry for seven
// seconds.
func TestRefuseUpload(t *testing.T) {
	u, err := url.Parse("https://generativelanguage.googleapis.com/upload/v1beta/files?upload_id=1")
	require.NoError(t, err)
	w := &Wire{Method: "POST", URL: u, Header: http.Header{"X-Goog-Upload-Command": {"upload, finalize"}}, Body: []byte("x")}
	require.Equal(t, "cancelled", Refuse(w, nil, "no").Header.Get("X-Goog-Upload-Status"))
	w.Header = http.Header{}
	require.Empty(t, Refuse(w, nil, "no").Header.Get("X-Goog-Upload-Status"))
}

// TestAsksForRetry tells errors that another try may better from those that it may not, as APIs send them in streams.
func TestAsksForRetry(t *testing.T) {
	const chat, messages, gemini, converse = "openai.chat", "anthropic.messages", "google.generate", "bedrock.converse"
	chunk := `data: {"id":"1","choices":[{"index":0,"delta":{"content":"On"}}]}` + "\n\n"
	for _, c := range []struct {
		name, api, body string
		want            bool
	}{
		{"anthropic", messages, `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, true},
		{"anthropic, a bad request", messages, `data: {"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, false},
		{"openai", chat, chunk + `data: {"error":{"message":"The server had an error","type":"server_error","code":null}}`, true},
		{"openai, of a limit", chat, chunk + `data: {"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`, true},
		{"openai, of a filter", chat, chunk + `data: {"error":{"message":"no","type":"invalid_request_error","code":"content_filter"}}`, false},
		{"openrouter", chat, `data: {"id":"1","error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, true},
		{"a code that is no status", chat, chunk + `data: {"error":{"code":"1302","message":"no"}}`, false},
		{"responses", "openai.responses", `data: {"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_error","message":"again"},"output":[]}}`, true},
		{"gemini", gemini, `data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, true},
		{"gemini, a bad request", gemini, `data: {"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}`, false},
		{"bedrock", converse, "messageStart {\"role\":\"assistant\"}\n!throttlingException {\"message\":\"slow down\"}\n", true},
		{"bedrock, a bad request", converse, "messageStart {\"role\":\"assistant\"}\n!validationException {\"message\":\"no\"}\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer := &Answer{Status: 200, ContentType: "text/event-stream", Body: []byte(c.body + "\n\n")}
			if c.api == converse {
				answer = &Answer{Status: 200, ContentType: "application/vnd.amazon.eventstream", Body: frames(t, []byte(c.body))}
			}
			resp, err := byName(t, c.api).DecodeResponse(answer)
			require.NoError(t, err)
			require.NotNil(t, resp.Error)
			require.Equal(t, c.want, AsksForRetry(200, resp.Error), "%+v", resp.Error)
			require.False(t, AsksForRetry(400, resp.Error), "the status counts")
		})
	}
	for status, want := range map[int]bool{200: false, 400: false, 408: true, 429: true, 500: true, 529: true} {
		require.Equal(t, want, AsksForRetry(status, nil), status)
	}
}
