package fakeprovider_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestRefusals provokes each error that the real provider gives to a wrong request.
func TestRefusals(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	version := []string{"Anthropic-Version", "2023-06-01"}
	claude := func(messages string) string {
		return `{"model":"m","max_tokens":1,"messages":` + messages + `}`
	}
	gpt := func(messages string) string { return `{"model":"m","messages":` + messages + `}` }
	for _, c := range []struct {
		name, path, body string
		header           []string
		status           int
		says             string
	}{
		{"chat-not-json", chatPath, `{`, nil, 400, "We could not parse the JSON body of your request."},
		{"chat-null", chatPath, `null`, nil, 400, "We could not parse the JSON body of your request."},
		{"chat-no-model", chatPath, `{"messages":[]}`, nil, 400, `"message": "you must provide a model parameter"`},
		{"chat-model-type", chatPath, `{"model":1}`, nil, 400, "Invalid type for 'model': expected a string, but got an integer instead."},
		{"chat-no-messages", chatPath, `{"model":"m"}`, nil, 400, `"code": "missing_required_parameter"`},
		{"chat-messages-string", chatPath, gpt(`"x"`), nil, 400, "Invalid type for 'messages': expected an array of objects, but got a string instead."},
		{"chat-messages-object", chatPath, gpt(`{}`), nil, 400, "but got an object instead."},
		{"chat-messages-decimal", chatPath, gpt(`1.5`), nil, 400, "but got a decimal instead."},
		{"chat-messages-boolean", chatPath, gpt(`true`), nil, 400, "but got a boolean instead."},
		{"chat-messages-empty", chatPath, gpt(`[]`), nil, 400, `"code": "empty_array"`},
		{"chat-message-array", chatPath, gpt(`[[]]`), nil, 400, "Invalid type for 'messages[0]': expected an object, but got an array instead."},
		{"chat-message-null", chatPath, gpt(`[null]`), nil, 400, "Invalid type for 'messages[0]': expected an object, but got null instead."},
		{"chat-no-role", chatPath, gpt(`[{"content":"x"}]`), nil, 400, "Missing required parameter: 'messages[0].role'."},
		{"chat-role", chatPath, gpt(`[{"role":"model"}]`), nil, 400, "Invalid value: 'model'. Supported values are:"},
		{"chat-stream-options", chatPath, `{"model":"m","messages":[{"role":"user","content":"x"}],"stream_options":{"include_usage":true}}`, nil, 400, "only allowed when 'stream' is enabled"},
		{"chat-tool-message-alone", chatPath, gpt(`[{"role":"tool","tool_call_id":"a","content":"x"}]`), nil, 400, "must be a response to a preceeding message with 'tool_calls'"},
		{"chat-tool-call-open", chatPath, gpt(`[{"role":"assistant","tool_calls":[{"id":"a"},{"id":"b"}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"x"}]`), nil, 400, "did not have response messages: b"},
		{"chat-tool-call-last", chatPath, gpt(`[{"role":"assistant","tool_calls":[{"id":"a"}]}]`), nil, 400, "did not have response messages: a"},
		{"chat-path", "/v1/chat", `{}`, nil, 404, "Invalid URL (POST /v1/chat)"},

		{"messages-no-version", "/v1/messages", claude(`[]`), nil, 400, "anthropic-version: header is required"},
		{"messages-not-json", "/v1/messages", `x`, version, 400, "The request body is not valid JSON"},
		{"messages-no-model", "/v1/messages", `{}`, version, 400, "model: Field required"},
		{"messages-no-max-tokens", "/v1/messages", `{"model":"m","messages":[]}`, version, 400, "max_tokens: Field required"},
		{"messages-no-messages", "/v1/messages", `{"model":"m","max_tokens":1}`, version, 400, "messages: Field required"},
		{"messages-model-type", "/v1/messages", `{"model":1,"max_tokens":1,"messages":[]}`, version, 400, "model: Input should be a valid string"},
		{"messages-max-tokens-type", "/v1/messages", `{"model":"m","max_tokens":"1","messages":[]}`, version, 400, "max_tokens: Input should be a valid integer"},
		{"messages-type", "/v1/messages", claude(`"x"`), version, 400, "messages: Input should be a valid array"},
		{"messages-empty", "/v1/messages", claude(`[]`), version, 400, "messages: at least one message is required"},
		{"messages-item", "/v1/messages", claude(`["x"]`), version, 400, "messages.0: Input does not match the expected shape."},
		{"messages-system", "/v1/messages", claude(`[{"role":"system","content":"x"}]`), version, 400, `Unexpected role \"system\"`},
		{"messages-role", "/v1/messages", claude(`[{"role":"tool","content":"x"}]`), version, 400, "messages.0.role: Input should be 'user' or 'assistant'"},
		{"messages-no-content", "/v1/messages", claude(`[{"role":"user"}]`), version, 400, "messages.0.content: Field required"},
		{"messages-result-alone", "/v1/messages", claude(`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`), version, 400, "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a."},
		{"messages-use-open", "/v1/messages", claude(`[{"role":"assistant","content":[{"type":"tool_use","id":"a"}]},{"role":"user","content":"x"}]`), version, 400, "messages.0: `tool_use` ids were found without `tool_result` blocks immediately after: a."},
		{"messages-use-last", "/v1/messages", claude(`[{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}]`), version, 400, "immediately after: a."},
		{"messages-path", "/v1/complete", `{}`, version, 404, `"type":"not_found_error"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := send(t, srv.URL()+c.path, c.body, c.header...)
			require.Equal(t, c.status, got.status)
			require.Contains(t, got.body, c.says)
		})
	}
}

func TestWrongMethod(t *testing.T) {
	srv := fakeprovider.New(t)
	for path, says := range map[string]string{
		chatPath:       "Invalid method for URL (GET /v1/chat/completions)",
		"/v1/messages": "Method Not Allowed",
	} {
		resp, err := http.Get(srv.URL() + path)
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, resp.Write(&b))
		require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
		require.Contains(t, b.String(), says)
	}
}
