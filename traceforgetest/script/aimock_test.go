package script_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/traceforgetest/script"
)

// opened opens fixtures, one a line from the second on.
func opened(t *testing.T, all ...string) (*script.Script, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	text := "{\"fixtures\": [\n" + strings.Join(all, ",\n") + "\n]}"
	require.NoError(t, os.WriteFile("f.json", []byte(text), 0o600))
	return script.Open("f.json")
}

func says(match, text string) string {
	return `{"match": {` + match + `}, "response": {"content": "` + text + `"}}`
}

// mocked asks aimock's fixtures, and returns the answer's status and text.
func mocked(t *testing.T, answers *script.Script, url, body string) string {
	t.Helper()
	status, text := post(t, answers.Client(), url, body)
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) == nil {
		text = b.String()
	}
	return http.StatusText(status) + " " + text
}

func chatting(rest string, messages ...string) string {
	return `{"model": "gpt-4o-2024-08-06", "messages": [` + strings.Join(messages, ",") + `]` + rest + `}`
}

const (
	hello   = `{"role": "user", "content": "well, hello there"}`
	calls1  = `{"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}`
	result1 = `{"role": "tool", "tool_call_id": "call_1", "content": "sunny, 20 degrees"}`
	tools   = `, "tools": [{"type": "function", "function": {"name": "look"}}]`
	schema  = `, "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}`
)

// TestFixtures: aimock's fixtures answer by what a request says, as aimock chooses them.
func TestFixtures(t *testing.T) {
	for _, tt := range []struct {
		name, reason string
		fixtures     []string
		asked        []string
		want         []string // texts that the answers hold
	}{
		{"user", "a part of the last words of the user", []string{says(`"userMessage": "bye"`, "B"), says(`"userMessage": "hello"`, "A")}, []string{chatting("", hello)}, []string{`"A"`}},
		{"again", "a fixture answers as often as it is asked", []string{says(`"userMessage": "hello"`, "A")}, []string{chatting("", hello), chatting("", hello)}, []string{`"A"`, `"A"`}},
		{"sequence", "one after the other", []string{says(`"userMessage": "hello", "sequenceIndex": 0`, "A"), says(`"userMessage": "hello", "sequenceIndex": 1`, "B")},
			[]string{chatting("", hello), chatting("", hello), chatting("", hello)}, []string{`"A"`, `"B"`, "none of the fixtures of f.json matches"}},
		{"system", "all of its parts", []string{says(`"systemMessage": ["be", "rude"]`, "A"), says(`"systemMessage": "be"`, "B")},
			[]string{chatting("", `{"role": "system", "content": "be kind"}`, hello)}, []string{`"B"`}},
		{"model", "a dated version is the model, another model is not", []string{says(`"model": "gpt-4"`, "A"), says(`"model": "gpt-4o"`, "B")}, []string{chatting("", hello)}, []string{`"B"`}},
		{"tool", "a tool that is offered", []string{says(`"toolName": "look"`, "A"), says("", "B")}, []string{chatting(tools, hello), chatting("", hello)}, []string{`"A"`, `"B"`}},
		{"format", "the form of the answer", []string{says(`"responseFormat": "json_schema"`, "{}"), says("", "B")}, []string{chatting(schema, hello), chatting("", hello)}, []string{`"{}"`, `"B"`}},
		{"result", "what a tool said", []string{says(`"toolResultContains": "rain"`, "A"), says(`"toolCallId": "call_1", "hasToolResult": true`, "B")},
			[]string{chatting(tools, hello, calls1, result1)}, []string{`"B"`}},
		{"noresult", "or nothing yet", []string{says(`"hasToolResult": true`, "A"), says(`"hasToolResult": false`, "B")}, []string{chatting("", hello)}, []string{`"B"`}},
		{"turn", "the turn decides among several", []string{says(`"turnIndex": 0`, "A"), says(`"turnIndex": 1`, "B"), says(`"turnIndex": 5`, "C")},
			[]string{chatting("", hello), chatting(tools, hello, calls1, result1)}, []string{`"A"`, `"B"`}},
		{"fallback", "an earlier fixture without a turn wins", []string{says("", "A"), says(`"turnIndex": 0`, "B")}, []string{chatting("", hello)}, []string{`"A"`}},
		{"exact", "a later one does not", []string{says(`"turnIndex": 0`, "A"), says("", "B")}, []string{chatting("", hello)}, []string{`"A"`}},
		{"ahead", "where all are ahead the first of them answers", []string{says(`"turnIndex": 5`, "B"), says(`"turnIndex": 3`, "A")}, []string{chatting("", hello)}, []string{`"A"`}},
		{"endpoint", "of chats", []string{says(`"endpoint": "embedding"`, "A"), says(`"endpoint": "image"`, "B"), says(`"endpoint": "chat"`, "C")}, []string{chatting("", hello)}, []string{`"C"`}},
		{"input", "of embeddings alone", []string{says(`"inputText": "hello"`, "A"), says("", "B")}, []string{chatting("", hello)}, []string{`"B"`}},
		{"calls", "arguments may be JSON", []string{`{"match": {}, "response": {"toolCalls": [{"id": "call_9", "name": "look", "arguments": {"at": "sea"}}]}}`},
			[]string{chatting(tools, hello)}, []string{`"arguments":"{\"at\":\"sea\"}"`}},
		{"whole", "what a fixture says of the answer", []string{`{"match": {}, "response": {"content": {"a": 1}, "id": "x-1", "model": "m-2", "finishReason": "length",
			"usage": {"prompt_tokens": 7, "completion_tokens": 5}}}`}, []string{chatting("", hello)}, []string{`"finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12`}},
		{"error", "an error is one of the provider", []string{`{"match": {}, "response": {"error": {"message": "no such model", "type": "invalid_request_error"}, "status": 404}}`},
			[]string{chatting("", hello)}, []string{"Not Found "}},
		{"stream", "a stream is one", []string{says("", "A B")}, []string{chatting(`, "stream": true`, hello)}, []string{"data: [DONE]"}},
		{"refused", "what no provider takes is refused by the provider's rules", []string{says("", "A")}, []string{`{"model": 1}`}, []string{"the API refuses it: "}},
		{"other", "what is not told here", []string{`{"match": {}, "response": {"image": {"url": "u"}}}`}, []string{chatting("", hello)},
			[]string{`line 2 of f.json, fixture 1, cannot answer request 1: it answers with \"image\", which is not told here`}},
		{"none", "the fixtures are named", []string{says(`"userMessage": "bye"`, "A"), says(`"model": "x"`, "B"), says(`"model": "y"`, "B"), says(`"model": "z"`, "B")}, []string{chatting("", hello)},
			[]string{`none of the fixtures of f.json matches: the fixtures are\n    line 2, fixture 1: {\"userMessage\":\"bye\"}\n    line 3, fixture 2: {\"model\":\"x\"}\n` +
				`    line 4, fixture 3: {\"model\":\"y\"}\n    and 1 more\n  add one that matches`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := opened(t, tt.fixtures...)
			require.NoError(t, err)
			for i, asked := range tt.asked {
				require.Contains(t, mocked(t, r, chat, asked), tt.want[i], tt.reason)
			}
		})
	}
}

// TestFixturesOfAnAPI: an answer is in the format of the API that is asked.
func TestFixturesOfAnAPI(t *testing.T) {
	for _, tt := range []struct{ name, url, body, want string }{
		{"anthropic", messages, `{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [` + hello + `]}`, `"stop_reason":"max_tokens"`},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
			`{"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}`, `"finishReason":"MAX_TOKENS"`},
		{"responses", "https://api.openai.com/v1/responses", `{"model": "gpt-4o", "input": "hello"}`, `"object":"response"`},
		{"embeddings", "https://api.openai.com/v1/embeddings", `{"model": "text-embedding-3-small", "input": "hello", "encoding_format": "float"}`, `[0.25,0.5]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := opened(t, `{"match": {"inputText": "hello"}, "response": {"embedding": [0.25, 0.5]}}`,
				`{"match": {"userMessage": "hello"}, "response": {"content": "A", "finishReason": "length"}}`)
			require.NoError(t, err)
			require.Contains(t, mocked(t, r, tt.url, tt.body), tt.want)
		})
	}
}

// TestFixtureWaits: an answer waits as aimock was told to, and fixtures that nobody asks for are of other tests.
func TestFixtureWaits(t *testing.T) {
	r, err := opened(t, `{"match": {}, "latency": 30, "response": {"content": "A"}}`, says(`"userMessage": "never"`, "B"))
	require.NoError(t, err)
	began := time.Now()
	mocked(t, r.Check(t), chat, chatting("", hello))
	require.GreaterOrEqual(t, time.Since(began), 30*time.Millisecond)
	require.NoError(t, r.Unused())
}

func TestUnknownFixtures(t *testing.T) {
	for _, tt := range []struct{ name, reason, text, want string }{
		{"match", "an unknown matcher would match too much", says(`"mood": "x"`, "A"), `f.json:2: fixture 1: match has "mood", which traceforge does not know: want some of userMessage, `},
		{"shape", "a fixture has both", `{"match": {}}`, "f.json:2: fixture 1: want match and response; correct or remove the fixture"},
		{"finish", "a reason is one of OpenAI's", `{"match": {}, "response": {"content": "A", "finishReason": "tired"}}`, `f.json:2: fixture 1: finishReason is "tired": want one of stop, `},
		{"arguments", "arguments are JSON", `{"match": {}, "response": {"toolCalls": [{"name": "f", "arguments": "{"}]}}`, "f.json:2: fixture 1: the arguments { are no JSON object"},
		{"type", "and of its types", says(`"turnIndex": "one"`, "A"), "f.json:2: fixture 1: json: cannot unmarshal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := opened(t, tt.text)
			require.ErrorContains(t, err, tt.want, tt.reason)
		})
	}
}

// TestOpenErrors: what is no file of fixtures is none.
func TestOpenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.json")
	_, err := script.Open(file)
	require.ErrorContains(t, err, "open fixtures: open "+file)
	for text, want := range map[string]string{
		"{":                    ":1: is no JSON: ",
		`{"interactions": []}`: ":1: has no fixtures: script.Open reads those of aimock, and cassette.Open recordings of other tools",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := script.Open(file)
		require.ErrorContains(t, err, file+want)
	}
}
