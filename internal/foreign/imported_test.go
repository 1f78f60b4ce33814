package foreign_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	recorded "github.com/traceforge/traceforge-go/internal/cassette"
	"github.com/traceforge/traceforge-go/internal/foreign"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestEqualCallsThatFailed: equal calls that all failed for now are left out at once, each by itself. To find one in each pass took
// minutes.
func TestEqualCallsThatFailed(t *testing.T) {
	const call = `- id: 0
  request: {body: '{"model":"m","messages":[]}', headers: {Content-Type: [application/json]}, url: "https://api.openai.com/v1/chat/completions", method: POST}
  response: {body: '{"error":{"message":"no"}}', headers: {Content-Type: [application/json]}, code: 500}
`
	recording, err := recorded.ReadCalls("f.yaml", []byte("version: 2\ninteractions:\n"+strings.Repeat(call, 3)))
	require.NoError(t, err)
	im := &foreign.Import{Scratch: t.TempDir(), Shown: "STORE"}
	made, err := im.Test(recording, snapshot.Source{Package: "example.com/m", Test: "TestX", File: "x_test.go", Line: 1, Function: "TestX"})
	require.NoError(t, err)
	require.Len(t, made.Unkept, 3)
	for i, u := range made.Unkept {
		require.Equal(t, i+1, u.Number)
		require.Contains(t, u.Why, "answered 500 Internal Server Error")
	}
	passes, err := os.ReadDir(im.Scratch)
	require.NoError(t, err)
	require.LessOrEqual(t, len(passes), 2)
}

// TestKeyOfTheRequest: a call whose prompt or answer holds the key that the cassette has of its request is left out, as a recording
// refuses it. What a tool has put in the place of a key is none.
func TestKeyOfTheRequest(t *testing.T) {
	const key = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c"
	for _, tt := range []struct {
		name, reason, user, header, query, prompt, answer string
		unkept                                            int
	}{
		{"answer", "a provider may say it", "", "Authorization: [Bearer KEY]", "", "hi", "your key is KEY", 1},
		{"prompt", "a program may", "", "X-Api-Key: [KEY]", "", "KEY", "hi", 1},
		{"password", "http.Client makes a header of it", "bob:KEY@", "Accept: [x]", "", "KEY", "hi", 1},
		{"user", "the key, where there is no password", "KEY@", "Authorization: [REDACTED]", "", "hi", "KEY", 1},
		{"url", "where Gemini has it", "", "Accept: [x]", "?key=KEY", "hi", "KEY", 1},
		{"elsewhere", "it is stored nowhere", "KEY:KEY@", "Authorization: [Bearer KEY]", "?key=KEY", "hi", "hello", 0},
		{"placeholder", "a tool may have removed it", "x:test-key-1@", "Authorization: [Bearer test-key-1]", "", "hi", "test-key-1", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.NewReplacer("USER", tt.user, "HEADER", tt.header, "QUERY", tt.query, "PROMPT", tt.prompt, "ANSWER", tt.answer).Replace(`---
version: 2
interactions:
- id: 0
  request:
    body: '{"model":"m","messages":[{"role":"user","content":"PROMPT"}]}'
    headers:
      Content-Type: [application/json]
      HEADER
    url: https://USERapi.openai.com/v1/chat/completionsQUERY
    method: POST
  response:
    body: '{"id":"x","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ANSWER"},"finish_reason":"stop"}]}'
    headers:
      Content-Type: [application/json]
    code: 200
`)
			recording, err := recorded.ReadCalls("f.yaml", []byte(strings.ReplaceAll(text, "KEY", key)))
			require.NoError(t, err)
			im := &foreign.Import{Scratch: t.TempDir(), Shown: "STORE"}
			made, err := im.Test(recording, snapshot.Source{Package: "example.com/m", Test: "TestX", File: "x_test.go", Line: 1, Function: "TestX"})
			require.NoError(t, err)
			require.Len(t, made.Unkept, tt.unkept, tt.reason)
			if tt.unkept > 0 {
				require.Contains(t, made.Unkept[0].Why, "nothing was recorded")
				require.NotContains(t, made.Unkept[0].Why, key)
				return
			}
			kept, err := made.Document.Snapshots[0].SF()
			require.NoError(t, err)
			require.NotContains(t, string(kept), key)
		})
	}
}
