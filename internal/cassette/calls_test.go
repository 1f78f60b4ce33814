package cassette_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/cassette"
)

// TestReadCalls: a call that cannot be read is left out alone, with its place.
func TestReadCalls(t *testing.T) {
	const broken = "- request: {method: POST, url: " + url + "}\n  response: {code: 0}\n"
	for _, tt := range []struct {
		name, reason, text string
		numbers            []int
		lost               []cassette.Lost
	}{
		{"whole", "nothing is left out", goVCR(2, "host: h", "body: x"), []int{1}, nil},
		{"status", "the next one is not", "version: 2\ninteractions:\n" + broken + strings.SplitAfter(goVCR(2, "host: h", "body: x"), "interactions:\n")[1],
			[]int{2}, []cassette.Lost{{1, 3, "interaction 1 has the status 0: want an HTTP status, 100 to 599; correct or remove the interaction"}}},
		{"cut", "what follows has no beginning", chunkedRequest() + "9 9\nx", []int{1}, []cassette.Lost{{2, 15, "want the lengths of a request and of its answer, " +
			`as in "1927 1910", and so many bytes: the trace is corrupt, maybe by line ends that git changed (*.httprr -text in .gitattributes); check it out again`}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := cassette.ReadCalls("testdata/f", []byte(tt.text))
			require.NoError(t, err, tt.reason)
			require.Equal(t, tt.lost, r.Lost, tt.reason)
			var numbers []int
			for _, c := range r.Calls {
				numbers = append(numbers, c.Number)
			}
			require.Equal(t, tt.numbers, numbers, tt.reason)
		})
	}
	_, err := cassette.ReadCalls("f", []byte("{"))
	require.ErrorContains(t, err, "f:1: is no JSON: ")
}

// TestCallQuotedKey: a credential in quotes that looks real remains in the request, so that answers are searched for it.
func TestCallQuotedKey(t *testing.T) {
	const key = `Token token="QxW7zRt9PlKvBn3mYd5sHc2f"`
	text := strings.Replace(goVCR(2, "host: h", "body: first"), "      - application/json", "      - application/json\n      Authorization: ['"+key+"']", 1)
	r, err := cassette.ReadCalls("testdata/f.yaml", []byte(text))
	require.NoError(t, err)
	require.Equal(t, key, r.Calls[0].Request().Header.Get("Authorization"))
}

// TestCall: a call is made again as it was, without its credentials, and answered with its own answer.
func TestCall(t *testing.T) {
	text := goVCR(2, "host: h", "body: first\n    duration: 842ms")
	text = strings.Replace(text, url, url+"?key=k&a=b", 1)
	text = strings.Replace(text, "      - application/json", "      - application/json\n      Authorization: [Bearer k]\n      X-Amz-Target: [t]\n      Openai-Beta: [b]", 1)
	r, err := cassette.ReadCalls("testdata/f.yaml", []byte(text))
	require.NoError(t, err)
	require.Empty(t, r.Lost)
	c := r.Calls[0]
	req := c.Request()
	require.Equal(t, url+"?a=b", req.URL.String())
	require.Equal(t, req.URL.String(), c.URL())
	require.Equal(t, http.MethodPost, c.Method())
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "X-Amz-Target": {"t"}, "Openai-Beta": {"b"}}, req.Header)
	body, err := io.ReadAll(req.Body)
	require.NoError(t, err)
	require.Equal(t, ask, string(body))
	resp := c.Answer(req)
	from := saidFrom(t, resp)
	require.Equal(t, "200 first", heard(t, resp))
	require.Equal(t, "imported from go-vcr testdata/f.yaml, interaction 1", from.From)
	require.Equal(t, 842*time.Millisecond, from.Latency)
	require.Equal(t, "2026-07-14T10:00:00Z", from.Time.UTC().Format(time.RFC3339))
}
