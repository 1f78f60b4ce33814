package traceforgetest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestNotedAnswers records answers that are none of their API's: none is refused, each replays byte for byte, and the record
// says why it is not decoded as the API's (design R6).
func TestNotedAnswers(t *testing.T) {
	for _, c := range []struct {
		name, why, contentType, body string
		content, note                string
		usage                        bool
	}{
		{"wrapped", "a gateway puts the answer into an object of its own", "application/json",
			`{"code":0,"data":{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}]}}`,
			"", "openai.chat: the answer has neither choices nor an error", false},
		{"page", "a proxy answers with a page", "text/html", "<html>Sign in</html>",
			"<html>Sign in</html>", `openai.chat: the answer is no JSON: it begins "<html>Sign in</html>"`, false},
		{"empty", "net/http takes nil for an empty body in answers that it did not make", "application/json", "",
			"", "openai.chat: the answer is empty", false},
		{"other_api", "an answer in the form of another API is kept whole: a form leaves out what it does not know", "application/json",
			`{"type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`,
			"", "openai.chat: the answer has neither choices nor an error", true},
		{"nul", "an event that is no JSON, and more behind it", "text/event-stream",
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\x00b\"}}]}\n\n" +
				"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
			"", "openai.chat: event 1: no JSON, in the middle of the stream", false},
		{"negative", "a count below 0 is none, and the rest is as ever", "application/json",
			`{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1,"completion_tokens":2}}`,
			"Hi", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {c.contentType}},
					Body: io.NopCloser(strings.NewReader(c.body)), Request: r}, nil
			})
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				answer, err := send(tf.Client(), newChat("a"))
				require.NoError(t, err, c.why)
				require.Equal(t, c.body, answer, c.why)
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			tb := s.run("TestIt", test, traceforgetest.Upstream(upstream))
			requirePass(t, tb)
			records := s.records("openai")
			require.Len(t, records, 1)
			response := records[0].Response
			require.Equal(t, c.note, response.Note)
			require.Contains(t, tb.Logged(), c.note)
			require.Equal(t, c.note != "", strings.Contains(tb.Logged(), "does not fit its API"))
			var said strings.Builder
			for _, part := range response.Candidates[0].Message.Content {
				if part.Text != nil {
					said.WriteString(*part.Text)
				}
			}
			require.Equal(t, c.content, said.String())
			require.Equal(t, c.usage, response.Usage != nil)

			t.Setenv("TRACEFORGE_UPDATE", "")
			requirePass(t, s.run("TestIt", test))
		})
	}
}
