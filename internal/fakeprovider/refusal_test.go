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
		{"chat-path", "/v1/talk", `{}`, nil, 404, "Invalid URL (POST /v1/talk)"},

		{"messages-no-version", "/v1/messages", claude(`[]`), nil, 400, "anthropic-version: header is required"},
		{"messages-not-json", "/v1/messages", `x`, version, 400, "The request body is not valid JSON"},
		{"messages-no-model", "/v1/messages", `{}`, version, 400, "model: Field required"},
		{"messages-no-max-tokens", "/v1/messages", `{"model":"m","messages":[]}`, version, 400, "max_tokens: Field required"},
		{"messages-no-messages", "/v1/messages", `{"model":"m","max_tokens":1}`, version, 400, "messages: Field required"},
		{"messages-model-type", "/v1/messages", `{"model":1,"max_tokens":1,"messages":[]}`, version, 400, "model: Input should be a valid string"},
		{"messages-max-tokens-type", "/v1/messages", `{"model":"m","max_tokens":"1","messages":[]}`, version, 400, "max_tokens: Input should be a valid integer"},
		{"messages-temperature", "/v1/messages", `{"model":"m","max_tokens":1,"temperature":0,"messages":[]}`,
			[]string{"Anthropic-Version", "2026-10-21"}, 400, "temperature: Extra inputs are not permitted"},
		{"messages-type", "/v1/messages", claude(`"x"`), version, 400, "messages: Input should be a valid array"},
		{"messages-empty", "/v1/messages", claude(`[]`), version, 400, "messages: at least one message is required"},
		{"messages-item", "/v1/messages", claude(`["x"]`), version, 400, "messages.0: Input does not match the expected shape."},
		{"messages-system", "/v1/messages", claude(`[{"role":"system","content":"x"}]`), version, 400, `Unexpected role \"system\"`},
		{"messages-role", "/v1/messages", claude(`[{"role":"tool","content":"x"}]`), version, 400, "messages.0.role: Input should be 'user' or 'assistant'"},
		{"messages-no-content", "/v1/messages", claude(`[{"role":"user"}]`), version, 400, "messages.0.content: Field required"},
		{"messages-result-alone", "/v1/messages", claude(`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]`), version, 400, "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a."},
		{"messages-use-open", "/v1/messages", claude(`[{"role":"assistant","content":[{"type":"tool_use","id":"a"}]},{"role":"user","content":"x"}]`), version, 400, "messages.0: `tool_use` ids were found without `tool_result` blocks immediately after: a."},
		{"messages-use-last", "/v1/messages", claude(`[{"role":"assistant","content":[{"type":"tool_use","id":"a"}]}]`), version, 400, "immediately after: a."},
		{"chat-n-type", chatPath, `{"model":"m","n":"1","messages":[{"role":"user","content":"x"}]}`, nil, 400, "Invalid type for 'n': expected an integer, but got a string instead."},
		{"chat-n-zero", chatPath, `{"model":"m","n":0,"messages":[{"role":"user","content":"x"}]}`, nil, 400, "Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead."},
		{"chat-n-many", chatPath, `{"model":"m","n":129,"messages":[{"role":"user","content":"x"}]}`, nil, 400, `"code": "integer_above_max_value"`},

		{"responses-not-json", "/v1/responses", `{`, nil, 400, "We could not parse the JSON body"},
		{"responses-no-model", "/v1/responses", `{"input":"x"}`, nil, 400, "Missing required parameter: 'model'."},
		{"responses-model-type", "/v1/responses", `{"model":1}`, nil, 400, "Invalid type for 'model'"},
		{"responses-no-input", "/v1/responses", `{"model":"m"}`, nil, 400, "One of \\\"input\\\" or \\\"previous_response_id\\\""},
		{"responses-empty-input", "/v1/responses", `{"model":"m","input":[]}`, nil, 400, "must be provided."},
		{"responses-input-type", "/v1/responses", `{"model":"m","input":7}`, nil, 400, "Invalid type for 'input'"},
		{"responses-output-alone", "/v1/responses", `{"model":"m","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`, nil, 400, "No tool call found for function call output with call_id a."},
		{"responses-call-open", "/v1/responses", `{"model":"m","input":[{"type":"function_call","call_id":"a"}]}`, nil, 400, "No tool output found for function call a."},
		{"responses-stored", "/v1/responses", `{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"a","output":"x"}]}`, nil, 200, "The tools say: x"},

		{"completions-no-model", "/v1/completions", `{"prompt":"x"}`, nil, 400, "you must provide a model parameter"},
		{"completions-prompt-type", "/v1/completions", `{"model":"m","prompt":{}}`, nil, 400, "Invalid type for 'prompt'"},
		{"completions-prompt-mixed", "/v1/completions", `{"model":"m","prompt":[[1],"x"]}`, nil, 400, "Invalid type for 'prompt'"},
		{"completions-stream-options", "/v1/completions", `{"model":"m","prompt":"x","stream_options":{}}`, nil, 400, "only allowed when 'stream' is enabled"},
		{"completions-no-prompt", "/v1/completions", `{"model":"m"}`, nil, 200, "<|endoftext|>"},
		{"embeddings-no-model", "/v1/embeddings", `{"input":"x"}`, nil, 400, "you must provide a model parameter"},
		{"embeddings-no-input", "/v1/embeddings", `{"model":"m"}`, nil, 400, "Missing required parameter: 'input'."},
		{"embeddings-input-type", "/v1/embeddings", `{"model":"m","input":{}}`, nil, 400, "'$.input' is invalid."},
		{"embeddings-dimensions", "/v1/embeddings", `{"model":"m","input":"x","dimensions":-1}`, nil, 400, "Invalid 'dimensions': integer below minimum value."},
		{"completions-no-prompts", "/v1/completions", `{"model":"m","prompt":[]}`, nil, 400, "Invalid 'prompt': empty array."},
		{"completions-n", "/v1/completions", `{"model":"m","prompt":"x","n":0}`, nil, 400, "Invalid 'n'"},
		{"mistral-n", "/mistral" + chatPath, `{"model":"m","n":0,"messages":[{"role":"user","content":"x"}]}`, nil, 400, "Invalid 'n'"},
		{"gemini-candidates", "/v1beta/models/m:generateContent", `{"contents":[{}],"generationConfig":{"candidateCount":9}}`, nil, 400, "candidateCount must be from 1 to 8, but is 9"},
		{"azure-no-version", "/openai/deployments/d/chat/completions", `{}`, nil, 404, `{"error":{"code":"404","message":"Resource not found"}}`},
		{"azure-no-messages", "/openai/deployments/d/chat/completions?api-version=1", `{}`, nil, 400, "Missing required parameter: 'messages'."},
		{"mistral-not-json", "/mistral" + chatPath, `{`, nil, 400, `"object":"error"`},
		{"mistral-no-model", "/mistral" + chatPath, `{}`, nil, 400, "model: Field required"},
		{"mistral-no-messages", "/mistral" + chatPath, `{"model":"m"}`, nil, 400, "Missing required parameter: 'messages'."},

		{"vertex-claude-not-json", "/publishers/anthropic/models/m:rawPredict", `{`, nil, 400, "The request body is not valid JSON"},
		{"vertex-claude-top-p", "/publishers/anthropic/models/m:rawPredict", `{"anthropic_version":"2026-10-21","max_tokens":1,"top_p":1,"messages":[]}`,
			nil, 400, "top_p: Extra inputs are not permitted"},
		{"vertex-claude-no-version", "/publishers/anthropic/models/m:rawPredict", `{}`, nil, 400, "anthropic_version: Field required"},
		{"gemini-not-json", "/v1beta/models/m:generateContent", `{`, nil, 400, `"status": "INVALID_ARGUMENT"`},
		{"gemini-no-contents", "/v1beta/models/m:generateContent", `{}`, nil, 400, "contents is not specified"},
		{"gemini-role", "/v1beta/models/m:generateContent", `{"contents":[{"role":"assistant"}]}`, nil, 400, "Please use a valid role: user, model."},
		{"gemini-no-method", "/v1beta/models/m", `{}`, nil, 404, "Invalid URL"},

		{"ollama-no-body", "/api/chat", ``, nil, 400, `{"error":"missing request body"}`},
		{"ollama-not-json", "/api/chat", `{`, nil, 400, `{"error":"the body is no JSON object"}`},
		{"ollama-no-model", "/api/chat", `{}`, nil, 400, `{"error":"model is required"}`},
		{"ollama-messages-type", "/api/chat", `{"model":"m","messages":"x"}`, nil, 400, "a member of the body has another type"},

		{"converse-not-json", "/model/m/converse", `{`, nil, 400, "Unexpected token in the body: the body is no JSON object"},
		{"converse-types", "/model/m/converse", `{"messages":7}`, nil, 400, "a member of the body has another type"},
		{"converse-no-user", "/model/m/converse", `{"messages":[{"role":"assistant","content":[]}]}`, nil, 400, "A conversation must start with a user message."},
		{"invoke-claude-no-version", "/model/anthropic.m/invoke", `{}`, nil, 400, `{"message":"anthropic_version: Field required"}`},
		{"invoke-claude-not-json", "/model/anthropic.m/invoke", `{`, nil, 400, "Unexpected token in the body: the body is no JSON object"},
		{"invoke-claude-no-messages", "/model/anthropic.m/invoke", `{"anthropic_version":"v","max_tokens":1}`, nil, 400, `{"message":"messages: Field required"}`},
		{"bedrock-no-operation", "/model/m", `{}`, nil, 404, "Invalid URL"},

		{"cohere-not-json", "/v2/chat", `{`, nil, 400, "invalid request: the body is no JSON object"},
		{"cohere-no-model", "/v2/chat", `{}`, nil, 400, "invalid request: model is required"},
		{"cohere-no-messages", "/v2/chat", `{"model":"m","messages":[]}`, nil, 400, "messages must be a list of at least one message"},
		{"gemini-embed-no-content", "/v1beta/models/m:embedContent", `{}`, nil, 400, "contents is not specified"},
		{"gemini-embed-no-requests", "/v1beta/models/m:batchEmbedContents", `{}`, nil, 400, "at least one request is required"},
		{"predict-no-instances", "/v1/publishers/google/models/m:predict", `{}`, nil, 400, "instances is required"},
		{"cohere-embed-no-texts", "/v2/embed", `{}`, nil, 400, "valid texts must be specified"},
		{"ollama-embed-no-model", "/api/embed", `{}`, nil, 400, `{"error":"model is required"}`},
		{"ollama-embed-input", "/api/embed", `{"model":"m","input":7}`, nil, 400, `{"error":"invalid input type"}`},
		{"titan-no-text", "/model/amazon.titan-embed-text-v1/invoke", `{}`, nil, 400, "required key [inputText] not found"},
		{"rerank-no-query", "/v1/rerank", `{"documents":[]}`, nil, 400, "query and documents are required"},
		{"rerank-no-sources", "/rerank", `{"queries":[]}`, nil, 400, "queries and sources must have at least one element"},
		{"moderation-no-input", "/v1/moderations", `{}`, nil, 400, "Missing required parameter: 'input'."},
		{"count-max-tokens", "/v1/messages/count_tokens", `{"model":"m","max_tokens":1}`, version, 400, "max_tokens: Extra inputs are not permitted"},
		{"bedrock-count-no-input", "/model/m/count-tokens", `{}`, nil, 400, "input is required"},
		{"tokenize-nothing", "/v1/tokenize", `{}`, nil, 400, "text or tokens are required"},
		{"messages-path", "/v1/messages/nothing", `{}`, version, 404, `"type":"not_found_error"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := send(t, srv.URL()+c.path, c.body, c.header...)
			require.Equal(t, c.status, got.status)
			require.Contains(t, got.body, c.says)
		})
	}
}

// TestEveryFormatRefusesWrongMethodsAndKeys sends each request of TestWire with a wrong method and with a wrong key.
func TestEveryFormatRefusesWrongMethodsAndKeys(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.RequireKey("right")
	says := map[string][2]string{ // the errors for a wrong method and for a wrong key
		"openai.chat":        {"Invalid method for URL (PUT /v1/chat/completions)", "Incorrect API key provided: wr*ng."},
		"openai.responses":   {"Invalid method for URL (PUT /v1/responses)", "Incorrect API key provided"},
		"openai.completions": {"Invalid method for URL (PUT /v1/completions)", "Incorrect API key provided"},
		"openai.embeddings":  {"Invalid method for URL (PUT /v1/embeddings)", "Incorrect API key provided"},
		"azure":              {"Resource not found", "Access denied due to invalid subscription key or wrong API endpoint."},
		"mistral.chat":       {`{"detail":"Method Not Allowed"}`, `{"detail":"Unauthorized"}`},
		"anthropic.messages": {"Method Not Allowed", "invalid x-api-key"},
		"vertex.claude":      {"Method Not Allowed", "invalid x-api-key"},
		"gemini.generate":    {`"status": "NOT_FOUND"`, "API key not valid. Please pass a valid API key."},
		"vertex.gemini":      {`"status": "NOT_FOUND"`, "API key not valid. Please pass a valid API key."},
		"ollama.chat":        {"405 method not allowed", `{"error":"unauthorized"}`},
		"ollama.generate":    {"405 method not allowed", `{"error":"unauthorized"}`},
		"bedrock.converse":   {"Unknown operation", "The security token included in the request is invalid."},
		"bedrock.claude":     {"Unknown operation", "The security token included in the request is invalid."},
		"bedrock.nova":       {"Unknown operation", "The security token included in the request is invalid."},
		"cohere.chat":        {"method not allowed", "invalid api token"},
	}
	for family, names := range map[string][]string{
		"openai.chat": {"openai.moderations", "openai.input_tokens"}, "anthropic.messages": {"anthropic.count_tokens"},
		"gemini.generate": {"gemini.embed", "vertex.predict", "gemini.count_tokens"}, "ollama.chat": {"ollama.embed"},
		"cohere.chat": {"cohere.embed", "cohere.rerank", "cohere.tokenize"}, "mistral.chat": {"mistral.moderations"},
		"bedrock.converse": {"bedrock.embed", "bedrock.rerank", "bedrock.count_tokens"},
	} {
		for _, name := range names {
			says[name] = [2]string{strings.TrimSuffix(says[family][0], " (PUT /v1/chat/completions)"), says[family][1]}
		}
	}
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodPut, srv.URL()+d.path, strings.NewReader(d.body))
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer right")
			resp, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			var b strings.Builder
			require.NoError(t, resp.Write(&b))
			require.GreaterOrEqual(t, resp.StatusCode, 404)
			require.Contains(t, b.String(), says[d.name][0])

			got := send(t, srv.URL()+d.path, d.body, append(d.header, "Authorization", "Bearer wrong")...)
			require.GreaterOrEqual(t, got.status, 400)
			require.Contains(t, got.body, says[d.name][1])
		})
	}
}
