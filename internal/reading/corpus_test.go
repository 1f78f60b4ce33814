package reading

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// TestRecordedTraffic holds that of the answers that providers sent at most 1 in 100 has a reading.
func TestRecordedTraffic(t *testing.T) {
	n, with := 0, 0
	for _, name := range []string{"corpus.jsonl", "sequences.jsonl"} {
		for x := range interactions(t, name) {
			u, err := url.Parse(x.URL)
			require.NoError(t, err, x.Origin)
			w := &provider.Wire{
				Method: x.Method, URL: u, ContentType: x.RequestHeaders.Get("Content-Type"), Body: decoded(t, x.RequestBody, x.RequestEncoding),
			}
			codec, ok := provider.Match(w)
			if !ok {
				continue
			}
			a := &provider.Answer{Status: x.Status, ContentType: x.ResponseHeaders.Get("Content-Type"), Body: decoded(t, x.ResponseBody, x.ResponseEncoding)}
			resp, err := codec.DecodeResponse(a)
			if err != nil {
				resp, err = provider.DecodeWhole(a)
			}
			if _, known := byAPI[codec.API]; err != nil || !known {
				continue
			}
			n++
			if all := Of(a, codec.API, provider.ProviderOf(w, codec, nil), resp); len(all) > 0 {
				with++
				var said account
				text := said.addRecord(resp)
				t.Logf("%s: %s %s: %.300q\n  record %.300q %v %q", codec.API, x.Origin, u.Host, fmt.Sprint(all), text, said.calls, said.finish)
			}
		}
	}
	require.Positive(t, n)
	require.LessOrEqual(t, with*100, n, "%d of %d answers have readings", with, n)
	t.Logf("%d of %d", with, n)
}

// An interaction is one line of the corpus of recorded traffic.
type interaction struct {
	Origin           string
	Method           string
	URL              string
	RequestHeaders   http.Header `json:"request_headers"`
	RequestBody      string      `json:"request_body"`
	RequestEncoding  string      `json:"request_body_encoding"`
	Status           int
	ResponseHeaders  http.Header `json:"response_headers"`
	ResponseBody     string      `json:"response_body"`
	ResponseEncoding string      `json:"response_body_encoding"`
}

// interactions visits a file of the corpus, which a user's clone does not have.
func interactions(t *testing.T, name string) func(func(*interaction) bool) {
	dir := os.Getenv("TRACEFORGE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("%s is not here (set TRACEFORGE_CORPUS): recorded traffic is no part of the project", name)
	}
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return func(yield func(*interaction) bool) {
		for lines := json.NewDecoder(bufio.NewReader(file)); lines.More(); {
			x := &interaction{}
			require.NoError(t, lines.Decode(x))
			if !yield(x) {
				return
			}
		}
	}
}

func decoded(t *testing.T, body, encoding string) []byte {
	if encoding != "base64" {
		return []byte(body)
	}
	b, err := base64.StdEncoding.DecodeString(body)
	require.NoError(t, err)
	return b
}
