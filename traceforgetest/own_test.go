package traceforgetest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestOwnStore keeps the store at the root of this module, as a user's test keeps theirs. make update records it again.
func TestOwnStore(t *testing.T) {
	object := func(members ...any) map[string]any {
		o := map[string]any{}
		for i := 0; i < len(members); i += 2 {
			o[members[i].(string)] = members[i+1]
		}
		return o
	}
	look := object("type", "function", "function", object(
		"name", "look", "description", "Look at a place.",
		"parameters", object("type", "object", "properties", object("place", object("type", "string")))))
	claude := object("model", "claude-haiku-4-5", "max_tokens", 100, "temperature", 0,
		"messages", []any{object("role", "user", "content", "What is 6 times 7?")})
	cases := []struct {
		name, why, url string
		body           map[string]any
		reply          fakeprovider.Reply
		want           string
	}{
		{"whole", "an answer in one body", "openai", newChat("Say hello"), fakeprovider.Text("Hello!"), "Hello!"},
		{"stream", "server-sent events", "openai", newChat("Count").with("stream", true), fakeprovider.Fragments("one ", "two"), "two"},
		{"tools", "parallel tool calls", "openai", newChat("Look here and there").with("tools", []any{look}),
			fakeprovider.CallTools(
				fakeprovider.ToolCall{Name: "look", Arguments: `{"place":"here"}`},
				fakeprovider.ToolCall{Name: "look", Arguments: `{"place":"there"}`}), "there"},
		{"error", "an error that stands", "openai", newChat("Say hello").with("model", "gpt-0"),
			fakeprovider.Error(404, "invalid_request_error", "The model `gpt-0` does not exist"), "does not exist"},
		{"claude", "a stream of Anthropic's", "anthropic", with(claude, "stream", true), fakeprovider.Text("It is 42."), "42"},
		{"thinking", "a reasoning trace before the answer", "anthropic", claude,
			fakeprovider.Reply{Thinking: "6 times 7 is 42.", Text: "42"}, "42"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			provider := fakeprovider.New(t)
			provider.Reply(c.reply)
			tf := traceforgetest.New(t, traceforgetest.Upstream(provider.Transport()))
			url := "https://api.openai.com/v1/chat/completions"
			client := tf.Client()
			if c.url == "anthropic" {
				url = "https://api.anthropic.com/v1/messages"
				client.Transport = withVersion{tf}
			}
			answer, err := post(client, url, c.body)
			if err != nil {
				answer = err.Error()
			}
			require.Contains(t, answer, c.want, c.why)
		})
	}
}

// TestSummarize runs the example of New, of which the store has the snapshot.
func TestSummarize(t *testing.T) { testSummarize(t) }

func with(o map[string]any, name string, value any) map[string]any { return chat(o).with(name, value) }

// withVersion sends the header without which Anthropic answers nothing.
type withVersion struct{ http.RoundTripper }

func (t withVersion) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return t.RoundTripper.RoundTrip(r)
}
