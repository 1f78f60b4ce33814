package integration_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// An interaction is one recorded call to a real provider.
type interaction struct {
	Origin               string
	Method, URL          string
	RequestHeaders       http.Header `json:"request_headers"`
	RequestBody          string      `json:"request_body"`
	RequestBodyEncoding  string      `json:"request_body_encoding"`
	RequestFidelity      string      `json:"request_fidelity"`
	Status               int
	ResponseHeaders      http.Header `json:"response_headers"`
	ResponseBody         string      `json:"response_body"`
	ResponseBodyEncoding string      `json:"response_body_encoding"`
	Compressed           string      `json:"response_body_compressed"`
}

// traffic returns a file of recorded traffic, which is not part of the repository.
func traffic(t *testing.T, name string) (all []*interaction) {
	dir := os.Getenv("TRACEFORGE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	f, err := os.Open(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		t.Skipf("there is no recorded traffic in %s; TRACEFORGE_CORPUS names another place", dir)
	}
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		i := &interaction{}
		require.NoError(t, json.Unmarshal(lines.Bytes(), i))
		all = append(all, i)
	}
	require.NoError(t, lines.Err())
	return all
}

// sampled returns one of eight, or all if TRACEFORGE_TEST_ALL is set, as in make check.
func sampled[T any](all []T) (some []T) {
	if os.Getenv("TRACEFORGE_TEST_ALL") != "" {
		return all
	}
	for n := 0; n < len(all); n += 8 {
		some = append(some, all[n])
	}
	return some
}

// cassette returns the name of the interaction's recording.
func (i *interaction) cassette() string {
	name, _, _ := strings.Cut(i.Origin, "#")
	return name
}

// request returns the request's body. If the recorder kept only the answer, it returns a made-up body that fits the
// answer.
func (i *interaction) request() []byte {
	if i.RequestFidelity != "absent" {
		return decodeBody(i.RequestBody, i.RequestBodyEncoding)
	}
	path, _, _ := strings.Cut(i.URL, "?")
	asked := `"messages":[{"role":"user","content":"made up"}]`
	switch {
	case strings.Contains(path, "enerateContent"):
		return []byte(`{"contents":[{"role":"user","parts":[{"text":"made up"}]}]}`)
	case strings.HasSuffix(path, "/converse"):
		return []byte(`{"messages":[{"role":"user","content":[{"text":"made up"}]}]}`)
	case strings.HasSuffix(path, "/v1/completions"):
		asked = `"prompt":"made up"`
	case !strings.HasSuffix(path, "/chat/completions") && !strings.HasSuffix(path, "/messages") && !strings.HasSuffix(path, "/chat"):
		asked = `"input":"made up"`
	}
	stream := "false"
	if body := i.response(); bytes.HasPrefix(body, []byte("data:")) || bytes.HasPrefix(body, []byte("event:")) {
		stream = "true"
	}
	return []byte(`{"model":"m","max_tokens":1,"stream":` + stream + `,` + asked + `}`)
}

// response returns the response's body without its content encoding.
func (i *interaction) response() []byte { return decodeBody(i.ResponseBody, i.ResponseBodyEncoding) }

// wire returns the response's body as sent, and its content encoding.
func (i *interaction) wire() (body []byte, encoding string) {
	if i.Compressed == "" {
		return i.response(), ""
	}
	return decodeBody(i.Compressed, "base64"), i.header("Content-Encoding")
}

func decodeBody(body, encoding string) []byte {
	if encoding != "base64" {
		return []byte(body)
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		panic(err)
	}
	return data
}

// header returns a header of the response. Recorders differ in the case of header names.
func (i *interaction) header(name string) string {
	for key, values := range i.ResponseHeaders {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// retryable reports whether the answer is of a kind that is not recorded (design R11).
func (i *interaction) retryable() bool {
	return i.Status == http.StatusRequestTimeout || i.Status == http.StatusTooManyRequests || i.Status >= 500
}

// answered returns the headers of an answer that matter to its reader.
func (i *interaction) answered() http.Header {
	header := http.Header{"Content-Type": nil} // otherwise net/http guesses one
	for _, name := range []string{"Content-Type", "Retry-After", "X-Amzn-Errortype"} {
		if value := i.header(name); value != "" {
			header.Set(name, value)
		}
	}
	return header
}

// streams reports whether the answer is a stream of events.
func (i *interaction) streams() bool {
	answer := provider.Answer{Status: i.Status, ContentType: i.header("Content-Type"), Body: i.response()}
	return answer.Events() != nil
}

// bare returns the response without its body.
func (i *interaction) bare() *http.Response {
	header := i.answered()
	if header.Get("Content-Type") == "" {
		header.Del("Content-Type")
	}
	return &http.Response{StatusCode: i.Status, Header: header}
}

// call makes the interaction's call and returns the response.
func (i *interaction) call(tb *tbtest.TB, tf *traceforgetest.Recorder) (*http.Response, []byte) {
	req, err := http.NewRequest(i.Method, i.URL, bytes.NewReader(i.request()))
	if err != nil {
		tb.Fatalf("%v", err)
	}
	for name, values := range i.RequestHeaders {
		switch http.CanonicalHeaderKey(name) {
		case "Accept-Encoding", "Content-Length", "Content-Encoding": // the recorded body is decoded
		case "X-Stainless-Lang": // without it, refusals come as errors
		default:
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	resp, err := tf.RoundTrip(req)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return resp, body
}

// trafficOptions returns the options that recorded traffic needs. It is not deterministic, and some of it has encodings
// that the standard library does not know.
func trafficOptions(dir string, upstream http.RoundTripper) []traceforgetest.Option {
	return []traceforgetest.Option{
		traceforgetest.Dir(dir),
		traceforgetest.Upstream(upstream),
		traceforgetest.Nondeterministic("real traffic"),
		traceforgetest.ContentEncoding("br", brotliReader),
		traceforgetest.ContentEncoding("zstd", zstdReader),
	}
}

func brotliReader(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }

func zstdReader(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) }
