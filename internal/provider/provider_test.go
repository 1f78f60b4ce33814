package provider

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
	"github.com/traceforge/traceforge-go/modelio"
)

func TestMatch(t *testing.T) {
	const chat, claude = `{"messages":[]}`, `{"messages":[],"max_tokens":1}`
	for _, test := range []struct{ name, why, method, url, body, api string }{
		{"openai", "the home of the API", "POST", "https://api.openai.com/v1/chat/completions", chat, chatAPI},
		{"bare", "a base URL without version", "POST", "https://api.deepseek.com/chat/completions", chat, chatAPI},
		{"azure", "deployments are in the path", "POST", "https://r.openai.azure.com/openai/deployments/x/chat/completions?api-version=1", chat, chatAPI},
		{"double_slash", "SDKs join a base URL that ends in a slash so", "POST", "https://r.openai.azure.com//openai/deployments/x/chat/completions", chat, chatAPI},
		{"anthropic", "the home of the API", "POST", "https://api.anthropic.com/v1/messages", claude, messagesAPI},
		{"anthropic_beta", "a query does not matter", "POST", "https://api.anthropic.com/v1/messages?beta=true", claude, messagesAPI},
		{"repeated_member", "the codec shall say what is wrong", "POST", "https://api.openai.com/v1/chat/completions", `{"a":1,"a":2}`, chatAPI},
		{"thread", "the assistants API also has messages, which are none of Anthropic's", "POST", "https://api.openai.com/v1/threads/t/messages", `{"role":"user","content":"x"}`, httpAPI},
		{"get", "a list of stored completions", "GET", "https://api.openai.com/v1/chat/completions", "", httpAPI},
		{"no_body", "nothing to decode", "POST", "https://api.openai.com/v1/chat/completions", "", httpAPI},
		{"not_json", "is no chat", "POST", "https://api.openai.com/v1/chat/completions", "hi", httpAPI},
		{"other_shape", "a batch of them, say", "POST", "https://api.openai.com/v1/chat/completions", `{"request":{}}`, httpAPI},
		{"count_tokens", "another endpoint", "POST", "https://api.anthropic.com/v1/messages/count_tokens", claude, messagesCountAPI},
		{"responses", "the home of the API", "POST", "https://api.openai.com/v1/responses", `{"input":"x"}`, responsesAPI},
		{"stored_response", "to read one is another endpoint", "GET", "https://api.openai.com/v1/responses/resp_1", "", "openai.responses.stored"},
		{"completions", "not of a chat", "POST", "https://api.openai.com/v1/completions", `{"prompt":"x"}`, completionsAPI},
		{"embeddings", "the home of the API", "POST", "https://api.openai.com/v1/embeddings", `{"input":"x"}`, embeddingsAPI},
		{"ollama_embeddings", "the older path of Ollama", "POST", "http://localhost:11434/api/embeddings", `{"prompt":"x"}`, ollamaEmbedAPI},
		{"openai_embeddings", "a gateway, at the same path", "POST", "https://llm.example.com/api/embeddings", `{"input":"x","prompt":"x"}`, embeddingsAPI},
		{"embed", "a model of Bedrock, by its name", "POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.titan-embed-text-v1/invoke", `{"inputText":"x"}`, bedrockEmbedAPI},
		{"embed_stream", "which no such model has", "POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/cohere.embed-v4%3A0/invoke-with-response-stream", `{}`, invokeAPI},
		{"rerank", "the home of the API, whoever serves it", "POST", "http://localhost:8000/rerank", `{"query":"x","documents":[]}`, rerankAPI},
		{"rerank_agent", "of Bedrock, at the same path", "POST", "https://bedrock-agent-runtime.us-east-1.amazonaws.com/rerank", `{"queries":[]}`, bedrockRerankAPI},
		{"gemini", "the method is in the path", "POST", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", `{"contents":[]}`, generateAPI},
		{"count_gemini_tokens", "another method", "POST", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:countTokens", `{"contents":[]}`, googleCountAPI},
		{"ollama", "the home of the API", "POST", "http://localhost:11434/api/chat", chat, ollamaChatAPI},
		{"ollama_prompt", "the home of the API", "POST", "http://localhost:11434/api/generate", `{"prompt":"x"}`, ollamaGenerateAPI},
		{"ollama_pull", "makes a resource", "POST", "http://localhost:11434/api/pull", `{"model":"x"}`, ollamaResourcesAPI},
		{"converse", "the model is in the path", "POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", chat, converseAPI},
		{"invoke", "with any body", "POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke", `{}`, invokeAPI},
		{"agent", "of Bedrock, which is no model", "POST", "https://bedrock-agent-runtime.us-east-1.amazonaws.com/agents/a/text", `{}`, httpAPI},
		{"vertex", "Claude by its publisher", "POST", "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", claude, vertexAnthropicAPI},
		{"vertex_count", "counting is a model by its path only", "POST", "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", claude, messagesCountAPI},
		{"cohere", "version 2", "POST", "https://api.cohere.com/v2/chat", chat, cohereAPI},
		{"cohere_v1", "has another form", "POST", "https://api.cohere.com/v1/chat", `{"message":"x"}`, cohereV1API},
		{"known_host", "whatever the path", "GET", "https://text.pollinations.ai/hello", "", httpAPI},
		{"versioned_path", "looks like an API", "GET", "https://llm.example.com/v1/assistants", "", httpAPI},
		{"models", "on any host", "GET", "https://llm.example.com/v1/models", "", openAIResourcesAPI},
		{"models_of_anthropic", "the host tells whose they are", "GET", "https://api.anthropic.com/v1/models", "", anthropicResourcesAPI},
		{"models_of_google", "the version does", "GET", "http://localhost/v1beta/models", "", googleResourcesAPI},
		{"agents_of_mistral", "which has the path from its API", "POST", "https://api.mistral.ai/v1/agents", `{}`, "mistral.agents"},
		{"agents_of_anthropic", "another API at the same path", "POST", "https://api.anthropic.com/v1/agents", `{}`, "anthropic.agents"},
		{"agents_of_openai", "another API at the same path", "GET", "https://api.openai.com/v1/agents", "", "openai.agents"},
		{"video", "of OpenAI, which xAI's API has a path of", "GET", "https://api.openai.com/v1/videos/video_1", "", "openai.videos"},
		{"video_of_azure", "OpenAI's API, with a prefix", "POST", "https://r.openai.azure.com/openai/v1/videos", `{"prompt":"x"}`, "openai.videos"},
		{"video_of_xai", "at its home", "GET", "https://api.x.ai/v1/videos/1", "", "xai.videos"},
		{"inference", "what is posted to a model is for it", "POST", "https://api-inference.huggingface.co/models/m", `{"inputs":"x"}`, httpAPI},
		{"page", "of a site, not of an API", "GET", "https://example.com/models", "", ""},
		{"batch", "is made of a model", "POST", "https://generativelanguage.googleapis.com/v1beta/models/m:batchGenerateContent", `{}`, "google.batches"},
		{"method_of_a_model", "no resource", "POST", "https://generativelanguage.googleapis.com/v1beta/models/m:explain", `{}`, httpAPI},
		{"writer", "its chats have a path of Cohere's", "POST", "https://api.writer.com/v1/chat", chat, chatAPI},
		{"json_anywhere", "looks like an API", "POST", "https://llm.example.com/ask", `[1]`, httpAPI},
		{"local_server", "llama.cpp, say, which has no other path for it", "GET", "http://127.0.0.1:8080/metrics", "", httpAPI},
		{"web_page", "is no model call", "GET", "https://example.com/robots.txt", "", ""},
		{"form_login", "is no model call", "POST", "https://example.com/token", "grant_type=x", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			u, err := url.Parse(test.url)
			require.NoError(t, err)
			codec, ok := Match(&Wire{Method: test.method, URL: u, Body: []byte(test.body)})
			if test.api == "" {
				require.False(t, ok, test.why)
				return
			}
			require.True(t, ok, test.why)
			require.Equal(t, test.api, codec.API, test.why)
		})
	}
}

func TestCodecsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Codecs() {
		require.False(t, seen[c.API], c.API)
		seen[c.API] = true
		require.DirExists(t, "testdata/"+c.API, "each API has cases")
	}
}

func TestCredentials(t *testing.T) {
	for name, want := range map[string]bool{
		"key": true, "api_key": true, "api-key": true, "apiKey": true, "apikey": true, "X-Goog-Api-Key": true,
		"subscription-key": true, "access_token": true, "token": true, "X-Amz-Signature": true, "ts": true, "upload_id": true, "upload_protocol": false, "tsp": false, "X-Amz-Date": true,
		"X-Amz-Security-Token": true, "sig": true, "client_secret": true, "code": true, "jwt": true, "idToken": true,
		"api-version": false, "alt": false, "pageToken": false, "max_tokens": false, "limit": false, "monkey": false, "beta": false,
		"private_token": true, "bot_token": true, "client_assertion": true, "accesskey": true, "sessiontoken": true, "passphrase": true,
		"password": true, "passwd": true, "pwd": true, "signature": true, "auth": true, "authorization": true, "credential": true, "credentials": true,
		"bearer": true, "secretkey": true, "accesstoken": true, "authtoken": true, "privatetoken": true, "refreshtoken": true, "idtoken": true,
		"sid": true, "nextToken": false, "next_page_token": false, "continuation-token": false, "side": false, "stop_token": false,
		"authorization_endpoint": false,
	} {
		require.Equal(t, want, IsCredential(name), name)
	}
}

func TestParseFailures(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"empty", "", "openai.chat: offset 0: invalid JSON: unexpected end, want a value"},
		{"cut", `{"messages":[`, "openai.chat: /messages/0: offset 13: invalid JSON: unexpected end, want a value"},
		{"trailing", `{"messages":[]} x`, "openai.chat: offset 16: invalid JSON: unexpected \"x\", want the end"},
		{"no_colon", `{"a" 1}`, "openai.chat: offset 5: invalid JSON: unexpected \"1\", want ':'"},
		{"no_name", `{1:2}`, "openai.chat: offset 1: invalid JSON: unexpected \"1\", want a member name"},
		{"no_comma", `{"a":1 "b":2}`, "openai.chat: offset 7: invalid JSON: unexpected \"\\\"\", want ',' or '}'"},
		{"no_comma_in_a_list", `{"a":[1 2]}`, "openai.chat: /a: offset 8: invalid JSON: unexpected \"2\", want ',' or ']'"},
		{"control", "{\"a\":\"\n\"}", "openai.chat: /a: offset 6: invalid JSON: unexpected \"\\n\", want an escape for a control character"},
		{"no_end", `{"a":"`, "openai.chat: /a: offset 6: invalid JSON: unexpected end, want the end of the string"},
		{"not_utf8", "{\"a\":\"\xff\"}", "openai.chat: /a: offset 6: invalid Unicode: byte 0xff is not UTF-8 here"},
		{"escape", `{"a":"\x"}`, "openai.chat: /a: offset 6: invalid JSON: not an escape sequence"},
		{"number", `{"a/b~":1.}`, "openai.chat: /a~1b~0: offset 10: invalid JSON: unexpected \"}\", want a number as JSON spells it"},
		{"list", `[]`, "openai.chat: the body is no JSON object"},
		{"deep", `{"messages":` + strings.Repeat("[", 2000), "openai.chat: " + strings.Repeat("/0", 999)},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := byName(t, chatAPI).DecodeRequest(&Wire{Method: "POST", URL: &url.URL{Path: "/chat/completions"}, Body: []byte(test.body)})
			require.ErrorAs(t, err, new(*WireError))
			if test.name == "deep" {
				require.ErrorContains(t, err, "nested too deep: more than 1000 levels")
				return
			}
			require.EqualError(t, err, test.want)
		})
	}
}

// TestVectors runs the wire vectors of the provider contract (LC) for their APIs.
func TestVectors(t *testing.T) {
	text := vector.Text(t, "aos/provider_wire_vectors.json")
	var vectors []struct {
		Name        string
		ContentType string `json:"content_type"`
		Body        json.RawMessage
		Sequence    []struct{ Body json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(text, &vectors))
	bodies := map[string]*Answer{}
	for _, v := range vectors {
		a := &Answer{Status: 200, ContentType: v.ContentType, Body: v.Body}
		var stream string
		if json.Unmarshal(v.Body, &stream) == nil {
			a.Body = []byte(stream)
		}
		bodies[v.Name] = a
		for i, step := range v.Sequence {
			bodies[fmt.Sprintf("%s/%d", v.Name, i)] = &Answer{Status: 200, Body: step.Body}
		}
	}
	decode := func(codec *Codec, name string) *modelio.Response {
		require.Contains(t, bodies, name)
		resp, err := codec.DecodeResponse(bodies[name])
		require.NoError(t, err, name)
		require.True(t, resp.Complete, name)
		return resp
	}

	resp := decode(byName(t, chatAPI), "openai_chat_completions_text")
	require.Equal(t, "hello from compatible", *resp.Candidates[0].Message.Content[0].Text)
	require.EqualValues(t, 7, *resp.Usage.TotalTokens)

	resp = decode(byName(t, messagesAPI), "anthropic_thinking_tool_use")
	content := resp.Candidates[0].Message.Content
	require.Equal(t, modelio.FinishStop, resp.Candidates[0].FinishReason)
	require.Equal(t, "tool_use", resp.Candidates[0].FinishReasonRaw)
	require.Equal(t, "reason step", *content[0].Reasoning)
	require.Equal(t, "echo_payload", content[1].ToolRequest.Name)
	require.EqualValues(t, 5, *resp.Usage.CacheWriteTokens)
	require.EqualValues(t, 7, *resp.Usage.CachedContentTokens)

	resp = decode(byName(t, messagesAPI), "anthropic_sse_reasoning_tool")
	content = resp.Candidates[0].Message.Content
	require.Equal(t, "analyze more", *content[0].Reasoning)
	require.JSONEq(t, `{"value":"live"}`, string(content[1].ToolRequest.Input))
	require.Equal(t, "tool_use", resp.Candidates[0].FinishReasonRaw)
	require.EqualValues(t, 4, *resp.Usage.OutputTokens)

	resp = decode(byName(t, responsesAPI), "openai_responses_text")
	require.Equal(t, "Hello from mocked integration", *resp.Candidates[0].Message.Content[0].Text)
	require.EqualValues(t, 2, *resp.Usage.ThoughtsTokens)

	resp = decode(byName(t, responsesAPI), "openai_responses_sse")
	require.Equal(t, "Hello", *resp.Candidates[0].Message.Content[0].Text)

	resp = decode(byName(t, responsesAPI), "openai_responses_tool_loop/0")
	require.Equal(t, "calc", resp.Candidates[0].Message.Content[0].ToolRequest.Name)
	resp = decode(byName(t, responsesAPI), "openai_responses_tool_loop/1")
	require.Equal(t, "The sum is 4.", *resp.Candidates[0].Message.Content[0].Text)

	resp = decode(byName(t, responsesAPI), "openai_responses_with_compaction_item")
	content = resp.Candidates[0].Message.Content
	require.Equal(t, "hello", *content[0].Text)
	require.JSONEq(t, `"encrypted-summary"`, string(content[1].Custom["encrypted_content"]))

	resp, err := byName(t, chatAPI).DecodeResponse(&Answer{Status: 200, Body: []byte(`{"choices":[{"message":{"content":"{\"answer\":\"ok\"}"}}],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5}}`)})
	require.NoError(t, err)
	require.Equal(t, `{"answer":"ok"}`, *resp.Candidates[0].Message.Content[0].Text)
}
