package recorder

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// TestPollsOfSeveral: the requests of two polls differ only in an id, which a record numbers. Each is answered about what it asks for.
func TestPollsOfSeveral(t *testing.T) {
	s := newScene(t)
	var got []string
	polls := func(numbers ...int) func(*Recorder) {
		return func(r *Recorder) {
			got = nil
			for _, n := range numbers {
				req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("https://api.openai.com/v1/responses/resp_%032d", n), nil)
				require.NoError(t, err)
				resp, err := r.RoundTrip(req)
				require.NoError(t, err)
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				resp.Body.Close()
				got = append(got, string(text))
			}
		}
	}
	states := map[string]int{}
	over := func(o *Options) {
		o.Lifted, o.Nondeterministic = true, "none is generated"
		o.Upstream = roundTripper(func(req *http.Request) (*http.Response, error) {
			id := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
			states[id]++
			body := fmt.Sprintf(`{"id":%q,"object":"response","status":"completed","model":"m","output":[{"type":"message","id":"msg_%032d","role":"assistant",`+
				`"status":"completed","content":[{"type":"output_text","text":"%s %d","annotations":[]}]}]}`, id, states[id], id, states[id])
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: req,
				Body: io.NopCloser(strings.NewReader(body))}, nil
		})
	}
	told, _ := s.run(Update, polls(1, 2, 1, 2), over)
	require.Empty(t, told)
	recorded := got
	for _, mode := range []Mode{Replay, Update} {
		told, _ = s.run(mode, polls(2, 2, 1, 1), over)
		require.Empty(t, told)
		require.Equal(t, []string{recorded[1], recorded[3], recorded[0], recorded[2]}, got)
		require.Len(t, states, 2)
		require.Equal(t, 2, states[fmt.Sprintf("resp_%032d", 1)], "no call was made again")
	}
}

// TestHandedOut finds the ids in an answer by the names of their members, and in a stream those of its events.
func TestHandedOut(t *testing.T) {
	for body, want := range map[string][]string{
		`{"id":"item-1234","file_id":"file-1234","operationId":"operation-1"}`:                    {"item-1234", "file-1234", "operation-1"},
		`{"name":"files/abc-1","uri":"https://a.example/b","upload_url":"https://a.example/up"}`:  {"files/abc-1", "https://a.example/b", "https://a.example/up"},
		`{"name":"Jane Doe and","uri":"no-path-at-all","text":"files/abc-1","valid":"item-1234"}`: nil,
		`{"id":"short","other_id":"one of two words","list":[{"id":"item-5678"}]}`:                {"item-5678"},
		"data: {\"id\":\"item-1234\"}\n\ndata: {\"id\":\"item-5678\"}\n\n":                        {"item-1234", "item-5678"},
	} {
		contentType := "application/json"
		if body[0] == 'd' {
			contentType = "text/event-stream"
		}
		require.Equal(t, want, handedOut(&provider.Answer{Status: 200, ContentType: contentType, Body: []byte(body)}), body)
	}
}
