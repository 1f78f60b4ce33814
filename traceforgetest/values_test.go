package traceforgetest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestOpaqueValuesAreNumbered proves that what a provider makes random and gets back (ids of
// responses and of items, signatures) leaves no trace: a second recording with other values
// changes no file, and the replay of either works.
func TestOpaqueValuesAreNumbered(t *testing.T) {
	respond := map[string]any{"model": "gpt-5", "temperature": 0, "input": "Think of a number"}
	claude := map[string]any{"model": "claude-sonnet-4-5", "max_tokens": 2000, "temperature": 0, "thinking": map[string]any{"type": "enabled", "budget_tokens": 1024},
		"messages": []any{map[string]any{"role": "user", "content": "Think of a number"}}}
	conversation := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		var first struct {
			ID     string
			Output []any
		}
		ask := func(url string, body any, into any) {
			client := tf.Client()
			client.Transport = withVersion{tf}
			answer, err := post(client, url, body)
			if err == nil && into != nil {
				err = json.Unmarshal([]byte(answer), into)
			}
			if err != nil {
				t.Fatalf("%v", err)
			}
		}
		const responses = "https://api.openai.com/v1/responses"
		ask(responses, respond, &first)
		ask(responses, with(with(respond, "previous_response_id", first.ID), "input", "Double it"), nil)
		ask(responses, with(respond, "input", append(first.Output, map[string]any{"role": "user", "content": "Double it"})), nil)

		const messages = "https://api.anthropic.com/v1/messages"
		var reply struct{ Content []any }
		ask(messages, claude, &reply)
		ask(messages, with(claude, "messages", append(claude["messages"].([]any),
			map[string]any{"role": "assistant", "content": reply.Content},
			map[string]any{"role": "user", "content": "Double it"})), nil)
	}
	replies := func() []fakeprovider.Reply {
		thought := fakeprovider.Reply{Thinking: "7 is nice", Text: "7"}
		return []fakeprovider.Reply{thought, fakeprovider.Text("14"), fakeprovider.Text("14"), thought, fakeprovider.Text("14")}
	}
	s := newScene(t)
	s.provider.Reply(replies()...)
	s.record("TestIt", conversation, traceforgetest.Nondeterministic("reasoning"))
	before := s.files()
	requirePass(t, s.replay("TestIt", conversation))
	s.provider.Reply(replies()...)
	s.record("TestIt", conversation, traceforgetest.Nondeterministic("reasoning"))
	s.requireFiles(before)

	numbered := false
	for _, record := range s.records("openai") {
		numbered = numbered || string(record.Request.Options["previous_response_id"]) == `"response_1"`
	}
	require.True(t, numbered)
	s.requireWhole()
}
