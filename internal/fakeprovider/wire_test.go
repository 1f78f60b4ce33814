package fakeprovider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// A dialect is how a test asks in one format. Its answers are kept under testdata/<name>.
type dialect struct {
	name         string
	path, body   string
	streamedPath string // empty: as path
	streamed     string // the body that asks for a stream; empty: as body
	header       []string
}

var dialects = []dialect{
	{
		name:     "openai.chat",
		path:     chatPath,
		body:     hello,
		streamed: strings.Replace(helloStream, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1),
	},
	{
		name:     "anthropic.messages",
		path:     "/v1/messages",
		body:     `{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"Hello there"}]}`,
		streamed: `{"model":"claude-sonnet-4-5","max_tokens":64,"messages":[{"role":"user","content":"Hello there"}],"stream":true}`,
		header:   []string{"Anthropic-Version", "2023-06-01"},
	},
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

// TestWire shows each format's bytes for the same scripts. The files say what they are; the
// proof that they are right is the providers' own SDKs reading them, in integration/.
func TestWire(t *testing.T) {
	golden := goldie.New(t, goldie.WithFixtureDir("testdata"), goldie.WithNameSuffix(".txt"))
	for _, d := range dialects {
		for _, s := range scripts {
			t.Run(d.name+"/"+s.name, func(t *testing.T) {
				srv := fakeprovider.New(t)
				srv.FixIDs()
				srv.Reply(s.reply, s.reply)
				var b strings.Builder
				got := send(t, srv.URL()+d.path, d.body, d.header...)
				require.NoError(t, got.err)
				fmt.Fprintf(&b, "%d %s\n\n%s\n", got.status, got.header.Get("Content-Type"), got.body)
				got = send(t, srv.URL()+or(d.streamedPath, d.path), or(d.streamed, d.body), d.header...)
				require.NoError(t, got.err)
				fmt.Fprintf(&b, "----\n%d %s\n\n%s", got.status, got.header.Get("Content-Type"), readable(got.body))
				golden.Assert(t, d.name+"/"+s.name, []byte(b.String()))
				require.Equal(t, d.name, srv.Calls()[0].API)
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

// readable shows a body that is no text by its quoted frames.
func readable(body string) string { return body }
