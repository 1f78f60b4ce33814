package fakeprovider_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// A dialect holds a test's requests in one format. Its answers are kept under testdata/<name>.
type dialect struct {
	name         string
	api          string // the expected Call.API; empty if it equals name
	path, body   string
	streamedPath string // the path of the streamed request; empty if it equals path
	streamed     string // the body of the streamed request; empty if it equals body
	header       []string
	mute         bool // the format has no text, so few of the scripts apply
}

var dialects = []dialect{
	{
		name:     "openai.chat",
		path:     chatPath,
		body:     hello,
		streamed: strings.Replace(helloStream, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1),
	},
	{
		name:     "openai.responses",
		path:     "/v1/responses",
		body:     `{"model":"gpt-4o","input":"Hello there"}`,
		streamed: `{"model":"gpt-4o","input":"Hello there","stream":true}`,
	},
	{
		name:     "openai.completions",
		path:     "/v1/completions",
		body:     `{"model":"gpt-3.5-turbo-instruct","prompt":"Hello there"}`,
		streamed: `{"model":"gpt-3.5-turbo-instruct","prompt":"Hello there","stream":true,"stream_options":{"include_usage":true}}`,
	},
	{
		name:     "openai.embeddings",
		path:     "/v1/embeddings",
		body:     `{"model":"text-embedding-3-small","input":["Hello","there"]}`,
		streamed: `{"model":"text-embedding-3-small","input":[[1,2],[3]],"dimensions":3,"encoding_format":"base64"}`,
		mute:     true,
	},
	{
		name:     "openai.transcriptions",
		path:     "/v1/audio/transcriptions",
		body:     formOf("model", "whisper-1", "response_format", "verbose_json"),
		streamed: formOf("model", "gpt-4o-transcribe", "response_format", "diarized_json", "stream", "true"),
		header:   formHeader,
	},
	{
		name:     "openai.speech",
		path:     "/v1/audio/speech",
		body:     `{"model":"gpt-4o-mini-tts","input":"Hello","voice":"alloy"}`,
		streamed: `{"model":"gpt-4o-mini-tts","input":"Hello","voice":"alloy","stream_format":"sse"}`,
		mute:     true,
	},
	{
		name:     "openai.images",
		path:     "/v1/images/generations",
		body:     `{"model":"gpt-image-1","prompt":"A lion"}`,
		streamed: `{"model":"gpt-image-1","prompt":"A lion","stream":true}`,
		mute:     true,
	},
	{
		name:     "azure",
		api:      "openai.chat",
		path:     "/openai/deployments/mine/chat/completions?api-version=2024-10-21",
		body:     `{"messages":[{"role":"user","content":"Hello there"}]}`,
		streamed: `{"messages":[{"role":"user","content":"Hello there"}],"stream":true}`,
	},
	{
		name:     "mistral.chat",
		path:     "/mistral" + chatPath,
		body:     hello,
		streamed: helloStream,
	},
	{
		name:     "anthropic.messages",
		path:     "/v1/messages",
		body:     `{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"Hello there"}]}`,
		streamed: `{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"Hello there"}],"stream":true}`,
		header:   []string{"Anthropic-Version", "2023-06-01"},
	},
	{
		name:         "vertex.claude",
		api:          "anthropic.messages",
		path:         "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5:rawPredict",
		streamedPath: "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict",
		body:         `{"anthropic_version":"vertex-2023-10-16","max_tokens":64,"messages":[{"role":"user","content":"Hello there"}]}`,
	},
	{
		name:         "gemini.generate",
		path:         "/v1beta/models/gemini-2.5-flash:generateContent",
		streamedPath: "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
		body:         `{"contents":[{"role":"user","parts":[{"text":"Hello there"}]}]}`,
	},
	{
		name:         "vertex.gemini",
		api:          "gemini.generate",
		path:         "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent",
		streamedPath: "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:streamGenerateContent",
		body:         `{"contents":[{"role":"user","parts":[{"text":"Hello there"}]}]}`,
	},
	{
		name:     "ollama.chat",
		path:     "/api/chat",
		body:     `{"model":"qwen3","messages":[{"role":"user","content":"Hello there"}],"stream":false}`,
		streamed: `{"model":"qwen3","messages":[{"role":"user","content":"Hello there"}]}`,
	},
	{
		name:     "ollama.generate",
		path:     "/api/generate",
		body:     `{"model":"qwen3","prompt":"Hello there","stream":false}`,
		streamed: `{"model":"qwen3","prompt":"Hello there"}`,
	},
	{
		name:         "bedrock.converse",
		path:         "/model/anthropic.claude-sonnet-4-5-v1%3A0/converse",
		streamedPath: "/model/anthropic.claude-sonnet-4-5-v1%3A0/converse-stream",
		body:         `{"messages":[{"role":"user","content":[{"text":"Hello there"}]}]}`,
	},
	{
		name:         "bedrock.claude",
		api:          "bedrock.invoke",
		path:         "/model/anthropic.claude-sonnet-4-5-v1%3A0/invoke",
		streamedPath: "/model/anthropic.claude-sonnet-4-5-v1%3A0/invoke-with-response-stream",
		body:         `{"anthropic_version":"bedrock-2023-05-31","max_tokens":64,"messages":[{"role":"user","content":"Hello there"}]}`,
	},
	{
		name:         "bedrock.nova",
		api:          "bedrock.invoke",
		path:         "/model/amazon.nova-micro-v1%3A0/invoke",
		streamedPath: "/model/amazon.nova-micro-v1%3A0/invoke-with-response-stream",
		body:         `{"messages":[{"role":"user","content":[{"text":"Hello there"}]}]}`,
	},
	{
		name:     "cohere.chat",
		path:     "/v2/chat",
		body:     `{"model":"command-a","messages":[{"role":"user","content":"Hello there"}]}`,
		streamed: `{"model":"command-a","messages":[{"role":"user","content":"Hello there"}],"stream":true}`,
	},
	{
		name:     "bedrock.agent",
		path:     "/agents/AGENT1/agentAliases/ALIAS1/sessions/s/text",
		body:     `{"inputText":"Hello there"}`,
		streamed: `{"inputText":"Hello there","enableTrace":true}`,
	},
	{name: "bedrock.retrieve", path: "/knowledgebases/KB1/retrieve", body: `{"retrievalQuery":{"text":"Hello"}}`, mute: true},
	{
		name:         "bedrock.retrieve_and_generate",
		path:         "/retrieveAndGenerate",
		streamedPath: "/retrieveAndGenerateStream",
		body:         `{"input":{"text":"Hello there"}}`,
		mute:         true,
	},
	{
		name:     "gemini.interactions",
		path:     "/v1beta/interactions",
		body:     `{"model":"gemini-2.5-flash","input":"Hello there"}`,
		streamed: `{"model":"gemini-2.5-flash","input":"Hello there","stream":true}`,
	},
	{
		name:     "cohere.chat.v1",
		path:     "/v1/chat",
		body:     `{"model":"command-r","message":"Hello there"}`,
		streamed: `{"model":"command-r","message":"Hello there","stream":true}`,
	},
	{
		name:     "cohere.generate",
		path:     "/v1/generate",
		body:     `{"model":"command","prompt":"Hello there"}`,
		streamed: `{"model":"command","prompt":"Hello there","stream":true}`,
		mute:     true,
	},
	{name: "cohere.summarize", path: "/v1/summarize", body: `{"text":"Hello there"}`, mute: true},
	{name: "cohere.classify", path: "/v1/classify", body: `{"inputs":["Hello there"]}`, mute: true},
	{
		name:     "anthropic.complete",
		path:     "/v1/complete",
		body:     `{"model":"claude-2.1","max_tokens_to_sample":64,"prompt":"Hello there"}`,
		streamed: `{"model":"claude-2.1","max_tokens_to_sample":64,"prompt":"Hello there","stream":true}`,
		header:   []string{"Anthropic-Version", "2023-06-01"},
	},
	{name: "gemini.embed", path: "/v1beta/models/gemini-embedding-001:embedContent", body: `{"content":{"parts":[{"text":"Hello"}]}}`,
		streamedPath: "/v1beta/models/gemini-embedding-001:batchEmbedContents", streamed: `{"requests":[{"content":{"parts":[{"text":"Hello"}]},"outputDimensionality":2}]}`, mute: true},
	{name: "vertex.predict", path: "/v1/projects/p/locations/l/publishers/google/models/text-embedding-005:predict", body: `{"instances":[{"content":"Hello"}]}`,
		streamed: `{"instances":[{"prompt":"a cat"}]}`, mute: true},
	{name: "cohere.embed", path: "/v1/embed", body: `{"texts":["Hello"]}`, streamedPath: "/v2/embed", streamed: `{"texts":["Hello"],"embedding_types":["float","int8","base64"]}`, mute: true},
	{name: "ollama.embed", path: "/api/embed", body: `{"model":"m","input":["Hello"]}`, streamedPath: "/api/embeddings", streamed: `{"model":"m","prompt":"Hello"}`, mute: true},
	{name: "bedrock.embed", path: "/model/amazon.titan-embed-text-v2%3A0/invoke", body: `{"inputText":"Hello"}`, mute: true},
	{name: "cohere.rerank", path: "/v1/rerank", body: `{"query":"x","documents":["abc",{"text":"d"}]}`, mute: true},
	{name: "bedrock.rerank", path: "/rerank", body: `{"queries":[{}],"sources":[{"inlineDocumentSource":{"textDocument":{"text":"abc"}}}]}`,
		streamedPath: "/model/cohere.rerank-v3-5%3A0/invoke", streamed: `{"query":"x","documents":["abc","d"]}`, mute: true},
	{name: "openai.moderations", path: "/v1/moderations", body: `{"input":["Hello","there"]}`, streamed: `{"input":[{"type":"text","text":"Hello"}]}`, mute: true},
	{name: "mistral.moderations", path: "/mistral/v1/moderations", body: `{"input":"Hello"}`,
		streamedPath: "/mistral/v1/chat/moderations", streamed: `{"input":[[{"role":"user","content":"Hello"}]]}`, mute: true},
	{name: "anthropic.count_tokens", path: "/v1/messages/count_tokens", body: `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`,
		streamedPath: "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", mute: true},
	{name: "openai.input_tokens", path: "/v1/responses/input_tokens", body: `{"model":"m","input":"Hello"}`, mute: true},
	{name: "gemini.count_tokens", path: "/v1beta/models/gemini-2.5-flash:countTokens", body: `{"contents":[{"parts":[{"text":"Hello there"}]}]}`,
		streamedPath: "/v1/publishers/google/models/gemini-2.5-flash:computeTokens", mute: true},
	{name: "bedrock.count_tokens", path: "/model/m/count-tokens", body: `{"input":{"converse":{"messages":[{"role":"user","content":[{"text":"Hello"}]}]}}}`,
		streamed: `{"input":{"invokeModel":{"body":"SGVsbG8="}}}`, mute: true},
	{name: "cohere.tokenize", path: "/v1/tokenize", body: `{"text":"Hello there"}`, streamedPath: "/v1/detokenize", streamed: `{"tokens":[7,8]}`, mute: true},
}

var formHeader = []string{"Content-Type", "multipart/form-data; boundary=b"}

// formOf returns a multipart form with a file and fields.
func formOf(fields ...string) string {
	var form strings.Builder
	form.WriteString("--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.mp3\"\r\nContent-Type: audio/mpeg\r\n\r\nID3\r\n")
	for i := 0; i < len(fields); i += 2 {
		form.WriteString("--b\r\nContent-Disposition: form-data; name=\"" + fields[i] + "\"\r\n\r\n" + fields[i+1] + "\r\n")
	}
	return form.String() + "--b--\r\n"
}

var weather = []fakeprovider.ToolCall{
	{Name: "weather", Arguments: `{"city":"Zürich","days":2}`},
	{Name: "time", Arguments: `{}`},
}

var scripts = []struct {
	name, why string
	reply     fakeprovider.Reply
}{
	{"text", "the plain case", fakeprovider.Text("Hello <you> & all")},
	{"tools", "parallel tool calls", fakeprovider.CallTools(weather...)},
	{"tool", "a single call, which OpenAI streams in another shape", fakeprovider.CallTools(weather[0])},
	{"thinking", "reasoning before the text", fakeprovider.Reply{Thinking: "let me think", Text: "42", Usage: &fakeprovider.Usage{Input: 20, Output: 9, Reasoning: 7, CacheRead: 4, CacheWrite: 2}}},
	{"refusal", "no answer", fakeprovider.Reply{Refusal: "I cannot help with that"}},
	{"length", "the provider's own finish reason", fakeprovider.Reply{Text: "Hel", Finish: "length"}},
	{"error", "an error by status", fakeprovider.Error(429, "rate_limit_error", "slow down")},
	{"broken", "an error in mid-stream", fakeprovider.Reply{Text: "Hello you", Failure: &fakeprovider.Failure{Status: 529, Type: "overloaded_error", Message: "Overloaded"}, Stream: fakeprovider.Stream{FailAfter: 2}}},
}

// TestWire compares each format's bytes for the same scripts with its files. The providers' own SDKs read them in
// integration/, which proves that they are right.
func TestWire(t *testing.T) {
	golden := goldie.New(t, goldie.WithFixtureDir("testdata"), goldie.WithNameSuffix(".txt"))
	for _, d := range dialects {
		for _, s := range scripts {
			if d.mute && s.name != "text" && s.name != "error" {
				continue
			}
			t.Run(d.name+"/"+s.name, func(t *testing.T) {
				srv := fakeprovider.New(t)
				srv.FixIDs()
				srv.Reply(s.reply, s.reply)
				var b strings.Builder
				got := send(t, srv.URL()+d.path, d.body, d.header...)
				require.NoError(t, got.err)
				contentType := got.header.Get("Content-Type")
				fmt.Fprintf(&b, "%d %s\n\n%s\n", got.status, contentType, readable(contentType, got.body))
				got = send(t, srv.URL()+or(d.streamedPath, d.path), or(d.streamed, d.body), d.header...)
				require.NoError(t, got.err)
				contentType = got.header.Get("Content-Type")
				fmt.Fprintf(&b, "----\n%d %s\n\n%s", got.status, contentType, readable(contentType, got.body))
				golden.Assert(t, d.name+"/"+s.name, []byte(b.String()))
				require.Equal(t, or(d.api, d.name), srv.Calls()[0].API)
			})
		}
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// readable quotes the messages of AWS's binary event streams, one per line, and sound. Other bodies stay unchanged.
func readable(contentType, body string) string {
	if strings.HasPrefix(contentType, "audio/") {
		return fmt.Sprintf("%q", body)
	}
	if contentType != "application/vnd.amazon.eventstream" {
		return body
	}
	var b strings.Builder
	for len(body) > 0 {
		n := binary.BigEndian.Uint32([]byte(body))
		fmt.Fprintf(&b, "%q\n", body[:n])
		body = body[n:]
	}
	return b.String()
}
