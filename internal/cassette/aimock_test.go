package cassette_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/cassette"
)

const (
	chatURL     = "https://api.openai.com/v1/chat/completions"
	messagesURL = "https://api.anthropic.com/v1/messages"
)

func fixtures(all ...string) []byte {
	return []byte("{\"fixtures\": [\n" + strings.Join(all, ",\n") + "\n]}")
}

func says(match, text string) string {
	return `{"match": {` + match + `}, "response": {"content": "` + text + `"}}`
}

// mocked asks aimock's fixtures, and returns the answer's text.
func mocked(t *testing.T, r *cassette.Recording, url, body string) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, from, err := r.Recorded(req)
	if err != nil {
		return err.Error()
	}
	require.Contains(t, from.From, "aimock testdata/f.json")
	status, body, _ := strings.Cut(heard(t, resp), " ")
	var b bytes.Buffer
	if json.Compact(&b, []byte(body)) == nil {
		body = b.String()
	}
	return status + " " + body
}

func chat(rest string, messages ...string) string {
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
		{"user", "a part of the last words of the user", []string{says(`"userMessage": "bye"`, "B"), says(`"userMessage": "hello"`, "A")}, []string{chat("", hello)}, []string{`"A"`}},
		{"again", "a fixture answers as often as it is asked", []string{says(`"userMessage": "hello"`, "A")}, []string{chat("", hello), chat("", hello)}, []string{`"A"`, `"A"`}},
		{"sequence", "one after the other", []string{says(`"userMessage": "hello", "sequenceIndex": 0`, "A"), says(`"userMessage": "hello", "sequenceIndex": 1`, "B")},
			[]string{chat("", hello), chat("", hello), chat("", hello)}, []string{`"A"`, `"B"`, "has no fixture for POST /v1/chat/completions"}},
		{"system", "all of its parts", []string{says(`"systemMessage": ["be", "rude"]`, "A"), says(`"systemMessage": "be"`, "B")},
			[]string{chat("", `{"role": "system", "content": "be kind"}`, hello)}, []string{`"B"`}},
		{"model", "a dated version is the model, another model is not", []string{says(`"model": "gpt-4"`, "A"), says(`"model": "gpt-4o"`, "B")}, []string{chat("", hello)}, []string{`"B"`}},
		{"tool", "a tool that is offered", []string{says(`"toolName": "look"`, "A"), says("", "B")}, []string{chat(tools, hello), chat("", hello)}, []string{`"A"`, `"B"`}},
		{"format", "the form of the answer", []string{says(`"responseFormat": "json_schema"`, "A"), says("", "B")}, []string{chat(schema, hello), chat("", hello)}, []string{`"A"`, `"B"`}},
		{"result", "what a tool said", []string{says(`"toolResultContains": "rain"`, "A"), says(`"toolCallId": "call_1", "hasToolResult": true`, "B")},
			[]string{chat(tools, hello, calls1, result1)}, []string{`"B"`}},
		{"noresult", "or nothing yet", []string{says(`"hasToolResult": true`, "A"), says(`"hasToolResult": false`, "B")}, []string{chat("", hello)}, []string{`"B"`}},
		{"turn", "the turn decides among several", []string{says(`"turnIndex": 0`, "A"), says(`"turnIndex": 1`, "B"), says(`"turnIndex": 5`, "C")},
			[]string{chat("", hello), chat(tools, hello, calls1, result1)}, []string{`"A"`, `"B"`}},
		{"fallback", "an earlier fixture without a turn wins", []string{says("", "A"), says(`"turnIndex": 0`, "B")}, []string{chat("", hello)}, []string{`"A"`}},
		{"exact", "a later one does not", []string{says(`"turnIndex": 0`, "A"), says("", "B")}, []string{chat("", hello)}, []string{`"A"`}},
		{"ahead", "where all are ahead the first of them answers", []string{says(`"turnIndex": 5`, "B"), says(`"turnIndex": 3`, "A")}, []string{chat("", hello)}, []string{`"A"`}},
		{"endpoint", "of chats", []string{says(`"endpoint": "embedding"`, "A"), says(`"endpoint": "image"`, "B"), says(`"endpoint": "chat"`, "C")}, []string{chat("", hello)}, []string{`"C"`}},
		{"input", "of embeddings alone", []string{says(`"inputText": "hello"`, "A"), says("", "B")}, []string{chat("", hello)}, []string{`"B"`}},
		{"calls", "arguments may be JSON", []string{`{"match": {}, "response": {"toolCalls": [{"id": "call_9", "name": "look", "arguments": {"at": "sea"}}]}}`},
			[]string{chat(tools, hello)}, []string{`"arguments":"{\"at\":\"sea\"}"`}},
		{"whole", "what a fixture says of the answer", []string{`{"match": {}, "response": {"content": {"a": 1}, "id": "x-1", "model": "m-2", "finishReason": "length",
			"usage": {"prompt_tokens": 7, "completion_tokens": 5}}}`}, []string{chat("", hello)}, []string{`"finish_reason":"length"}],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12`}},
		{"error", "an error is one of the provider", []string{`{"match": {}, "response": {"error": {"message": "no such model", "type": "invalid_request_error"}, "status": 404}}`},
			[]string{chat("", hello)}, []string{"404 "}},
		{"stream", "a stream is one", []string{says("", "A B")}, []string{chat(`, "stream": true`, hello)}, []string{"data: [DONE]"}},
		{"refused", "what no provider takes is refused by the provider's rules", []string{says("", "A")}, []string{`{"model": 1}`}, []string{"400 "}},
		{"other", "what is not told here", []string{`{"match": {}, "response": {"image": {"url": "u"}}}`}, []string{chat("", hello)},
			[]string{`aimock testdata/f.json, line 2: fixture 1 answers with "image", which is not told here: record the call live, without this upstream`}},
		{"none", "the fixtures are named", []string{says(`"userMessage": "bye"`, "A"), says(`"model": "x"`, "B"), says(`"model": "y"`, "B"), says(`"model": "z"`, "B")}, []string{chat("", hello)},
			[]string{"aimock testdata/f.json has no fixture for POST /v1/chat/completions\n  line 2, fixture 1: {\"userMessage\":\"bye\"}\n" +
				"  line 3, fixture 2: {\"model\":\"x\"}\n  line 4, fixture 3: {\"model\":\"y\"}\n  and 1 more\nadd a fixture, or record the call live, without this upstream"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := cassette.Read("testdata/f.json", fixtures(tt.fixtures...))
			require.NoError(t, err)
			for i, asked := range tt.asked {
				require.Contains(t, mocked(t, r, chatURL, asked), tt.want[i], tt.reason)
			}
		})
	}
}

// TestFixturesOfAnAPI: an answer is in the format of the API that is asked.
func TestFixturesOfAnAPI(t *testing.T) {
	for _, tt := range []struct{ name, url, body, want string }{
		{"anthropic", messagesURL, `{"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [` + hello + `]}`, `"stop_reason":"max_tokens"`},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent",
			`{"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}`, `"finishReason":"MAX_TOKENS"`},
		{"responses", "https://api.openai.com/v1/responses", `{"model": "gpt-4o", "input": "hello"}`, `"object":"response"`},
		{"embeddings", "https://api.openai.com/v1/embeddings", `{"model": "text-embedding-3-small", "input": "hello", "encoding_format": "float"}`, `[0.25,0.5]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := cassette.Read("testdata/f.json", fixtures(`{"match": {"inputText": "hello"}, "response": {"embedding": [0.25, 0.5]}}`,
				`{"match": {"userMessage": "hello"}, "response": {"content": "A", "finishReason": "length"}}`))
			require.NoError(t, err)
			require.Contains(t, mocked(t, r, tt.url, tt.body), tt.want)
		})
	}
}

// TestFixtureProvenance: a fixture has no date, and its latency is what aimock was told to wait.
func TestFixtureProvenance(t *testing.T) {
	r, err := cassette.Read("/home/me/app/fixtures/f.json", fixtures(`{"match": {}, "latency": 250, "response": {"content": "A"}}`))
	require.NoError(t, err)
	req, err := http.NewRequest(http.MethodPost, chatURL, strings.NewReader(chat("", hello)))
	require.NoError(t, err)
	_, from, err := r.Recorded(req)
	require.NoError(t, err)
	require.Equal(t, "made of aimock fixtures/f.json, fixture 1", from.From)
	require.Equal(t, 250*time.Millisecond, from.Latency)
	require.True(t, from.Time.IsZero())
}

func TestUnknownFixtures(t *testing.T) {
	for _, tt := range []struct{ name, reason, text, want string }{
		{"match", "an unknown matcher would match too much", says(`"mood": "x"`, "A"), `f:2: fixture 1: match has "mood", which traceforge does not know: want some of userMessage, `},
		{"shape", "a fixture has both", `{"match": {}}`, "f:2: fixture 1: want match and response; correct or remove the fixture"},
		{"type", "and of its types", says(`"turnIndex": "one"`, "A"), "f:2: fixture 1: json: cannot unmarshal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := cassette.Read("f", fixtures(tt.text))
			require.ErrorContains(t, err, tt.want, tt.reason)
		})
	}
}
