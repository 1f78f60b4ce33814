package foreign_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/foreign"
)

func cassette(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/cassettes/openai/" + name)
	require.NoError(t, err)
	return string(data)
}

// TestCassette: a cassette becomes a record as if its call had been recorded, with the bytes that the proxy served.
func TestCassette(t *testing.T) {
	for _, tt := range []struct{ name, reason, user, answer, time string }{
		{"7c1f.json", "as the proxy writes it", "Say hello", "Hello there", "2026-01-09T10:30:00.25Z"},
		{"e7a9.json", "as TraceForge's starter has it", "Say goodbye", "Goodbye", "2026-01-09T10:31:00Z"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := foreign.ReadCassette([]byte(cassette(t, tt.name)))
			require.NoError(t, err)
			call, err := c.Call("cassettes/openai/"+tt.name, t.TempDir())
			require.NoError(t, err)
			s := call.Snapshot
			require.Equal(t, "openai", s.Provider)
			require.Equal(t, "openai.chat", s.Request.API)
			require.Equal(t, "gpt-4o-mini", s.Request.Model)
			require.Equal(t, tt.user, *s.Request.Messages[0].Content[0].Text)
			require.Equal(t, tt.answer, *s.Response.Candidates[0].Message.Content[0].Text)
			require.Equal(t, "migrated from cassettes/openai/"+tt.name, s.Source.Origin)
			require.Equal(t, tt.time, s.Timestamp.Format("2006-01-02T15:04:05.999Z07:00"))
			require.Contains(t, string(call.Beside[s.Response.RawOutputRef]), `{"id":"chatcmpl-`)
			require.Equal(t, []string{"application/json"}, s.Response.Headers["content-type"])

			documents := foreign.Documents([]foreign.Call{call})
			require.Len(t, documents, 1)
			require.NoError(t, documents[0].Document.Seal())
		})
	}
}

// TestReadCassette: what cannot be read says why.
func TestReadCassette(t *testing.T) {
	right := cassette(t, "7c1f.json")
	for _, tt := range []struct{ name, reason, text, want string }{
		{"newer", "the next version", strings.Replace(right, `"1.0"`, `"2.0"`, 1), `is a cassette of version "2.0", and this traceforge reads 1.0: upgrade`},
		{"other", "another program's", `{"interactions": []}`, "is no cassette of TraceForge"},
		{"provider", "the proxy records no other", strings.Replace(right, `"openai"`, `"anthropic"`, 1), `is of the provider "anthropic"`},
		{"cut", "no JSON", right[:100], "offset 100"},
		{"time", "it says when it was recorded", strings.Replace(right, "2026-01-09T", "", 1), "/recorded_at: is no time"},
		{"status", "a status is a number", strings.Replace(right, "200", `"ok"`, 1), "/response/status"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := foreign.ReadCassette([]byte(tt.text))
			require.ErrorContains(t, err, tt.want, tt.reason)
		})
	}
}

// TestCassetteThatCannotBeKept: the rules of recordings hold.
func TestCassetteThatCannotBeKept(t *testing.T) {
	right := cassette(t, "7c1f.json")
	for _, tt := range []struct{ name, reason, text, want string }{
		{"overloaded", "it asks to try again", strings.Replace(right, `"status": 200`, `"status": 503`, 1), "openai answered 503"},
		{"secret", "an answer holds a key", strings.Replace(right, "Hello there", "sk-proj-"+strings.Repeat("aB3dE6gH9j", 6), 1), "OpenAI"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := foreign.ReadCassette([]byte(tt.text))
			require.NoError(t, err)
			_, err = c.Call("openai/7c1f.json", t.TempDir())
			require.ErrorContains(t, err, tt.want, tt.reason)
			require.NotContains(t, err.Error(), "aB3dE6gH9j")
		})
	}
}
