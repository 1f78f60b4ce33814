package integration_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	claudestream "github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/openai/openai-go/v3"
	openaistream "github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// An interaction is one recorded call to a real provider.
type interaction struct {
	Origin               string
	Method, URL          string
	RequestHeaders       http.Header `json:"request_headers"`
	RequestBody          string      `json:"request_body"`
	RequestBodyEncoding  string      `json:"request_body_encoding"`
	Status               int
	ResponseHeaders      http.Header `json:"response_headers"`
	ResponseBody         string      `json:"response_body"`
	ResponseBodyEncoding string      `json:"response_body_encoding"`
	RequestFidelity      string      `json:"request_fidelity"`
}

// request returns the request's body. Where the recorder kept only the answer it is one that
// asks for such an answer.
func (i *interaction) request() []byte {
	if i.RequestFidelity != "absent" {
		return decodeBody(i.RequestBody, i.RequestBodyEncoding)
	}
	stream := bytes.HasPrefix(i.response(), []byte("data:")) || bytes.HasPrefix(i.response(), []byte("event:"))
	return fmt.Appendf(nil, `{"model":"m","max_tokens":1,"stream":%t,"messages":[{"role":"user","content":"made up"}]}`, stream)
}

func (i *interaction) response() []byte { return decodeBody(i.ResponseBody, i.ResponseBodyEncoding) }

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

// corpus returns the recorded traffic that is not part of the repository.
func corpus(t *testing.T) []*interaction {
	dir := os.Getenv("TRACEFORGE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	var all []*interaction
	for _, name := range []string{"corpus.jsonl", "sequences.jsonl"} {
		f, err := os.Open(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			t.Skipf("there is no recorded traffic in %s; TRACEFORGE_CORPUS names another place", dir)
		}
		require.NoError(t, err)
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			var i interaction
			require.NoError(t, json.Unmarshal(lines.Bytes(), &i))
			all = append(all, &i)
		}
		require.NoError(t, lines.Err())
	}
	return all
}

// newReplayServer serves the corpus on a loopback address: the transport names the interaction.
func newReplayServer(t *testing.T, all []*interaction) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		index, _ := strconv.Atoi(r.Header.Get("X-Interaction"))
		i := all[index]
		for _, name := range []string{"Content-Type", "Retry-After", "X-Amzn-Errortype"} {
			for key, values := range i.ResponseHeaders {
				if strings.EqualFold(key, name) {
					w.Header()[name] = values
				}
			}
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header()["Content-Type"] = nil // no guess of net/http
		}
		w.WriteHeader(i.Status)
		w.Write(i.response())
	}))
	t.Cleanup(server.Close)
	return server
}

type toInteraction struct {
	server *url.URL
	index  int
}

func (t toInteraction) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = t.server.Scheme, t.server.Host
	out.Header.Set("X-Interaction", strconv.Itoa(t.index))
	return http.DefaultTransport.RoundTrip(out)
}

// A tally counts what became of the interactions of one API.
type tally struct {
	interactions, recorded, identical, equal, retryable int
	refused                                             []string
}

// TestCorpus sends every interaction of the corpus through a recorder: recorded from a
// loopback server, replayed with none, the replayed body byte for byte the recorded one, decoded
// by the provider's SDK to equal values, in a store that verifies.
func TestCorpus(t *testing.T) {
	all := corpus(t)
	server := newReplayServer(t, all)
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")

	tallies := map[string]*tally{}
	for index, i := range all {
		api := endpoint(i)
		if api == "" {
			continue
		}
		if tallies[api] == nil {
			tallies[api] = &tally{}
		}
		through(t, tallies[api], i, dir, toInteraction{base, index}, index)
	}
	store, err := snapshot.Open(dir)
	require.NoError(t, err)
	defer store.Close()
	findings, err := store.Verify()
	require.NoError(t, err)
	require.Empty(t, findings)
	report(t, tallies)
}

func through(t *testing.T, count *tally, i *interaction, dir string, live http.RoundTripper, index int) {
	count.interactions++
	name := fmt.Sprintf("TestCorpus/%d", index)
	options := []traceforgetest.Option{traceforgetest.Dir(dir), traceforgetest.Nondeterministic("real traffic")}
	var recorded, replayed *http.Response
	var recordedBody, replayedBody []byte

	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := tbtest.Run(name, func(tb *tbtest.TB) {
		recorded, recordedBody = call(tb, traceforgetest.New(tb, append(options, traceforgetest.Upstream(live))...), i)
	})
	if tb.Failed() {
		if recorded != nil && (recorded.StatusCode == 408 || recorded.StatusCode == 429 || recorded.StatusCode >= 500) {
			count.retryable++
			return
		}
		require.Empty(t, i.request(), "%s: only what was recorded without its request may be refused: %s", i.Origin, tb.Logged())
		reason, _, _ := strings.Cut(tb.Logged(), "\n  model:")
		count.refused = append(count.refused, i.Origin+": "+strings.ReplaceAll(reason, "\n", " | "))
		return
	}
	count.recorded++
	require.Equal(t, i.response(), recordedBody, "%s: the caller gets what the provider sent", i.Origin)

	t.Setenv("TRACEFORGE_UPDATE", "")
	tb = tbtest.Run(name, func(tb *tbtest.TB) {
		replayed, replayedBody = call(tb, traceforgetest.New(tb, append(options, traceforgetest.Upstream(nil))...), i)
	})
	require.False(t, tb.Failed(), "%s: %s", i.Origin, tb.Logged())
	require.Equal(t, recorded.StatusCode, replayed.StatusCode, i.Origin)
	if bytes.Equal(recordedBody, replayedBody) {
		count.identical++
	}
	if reflect.DeepEqual(decodeBySDK(recorded, recordedBody), decodeBySDK(replayed, replayedBody)) {
		count.equal++
	}
}

// call makes the interaction's call.
func call(tb *tbtest.TB, tf *traceforgetest.Recorder, i *interaction) (*http.Response, []byte) {
	req, err := http.NewRequest(i.Method, i.URL, bytes.NewReader(i.request()))
	if err != nil {
		tb.Fatalf("%v", err)
	}
	for name, values := range i.RequestHeaders {
		if !strings.EqualFold(name, "Accept-Encoding") && !strings.EqualFold(name, "Content-Length") && !strings.EqualFold(name, "Content-Encoding") {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	req.Header.Del("X-Stainless-Lang") // refusals as errors
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

// endpoint names the API of an interaction, empty for those that this test leaves out.
func endpoint(i *interaction) string {
	u, err := url.Parse(i.URL)
	if err != nil || i.Method != "POST" {
		return ""
	}
	switch {
	case strings.HasSuffix(u.Path, "/chat/completions"):
		return "openai.chat"
	case strings.HasSuffix(u.Path, "/v1/messages"):
		return "anthropic.messages"
	}
	return ""
}

// decodeBySDK decodes an answer with the provider's own SDK, as far as it goes.
func decodeBySDK(resp *http.Response, body []byte) any {
	stream := strings.Contains(resp.Header.Get("Content-Type"), "event-stream")
	withBody := func() *http.Response {
		copied := *resp
		copied.Body = io.NopCloser(bytes.NewReader(body))
		return &copied
	}
	claude := strings.HasSuffix(resp.Request.URL.Path, "/messages")
	switch {
	case claude && stream:
		return collected(claudestream.NewStream[anthropic.MessageStreamEventUnion](claudestream.NewDecoder(withBody()), nil))
	case claude:
		var m anthropic.Message
		return []any{json.Unmarshal(body, &m), m}
	case stream:
		return collected(openaistream.NewStream[openai.ChatCompletionChunk](openaistream.NewDecoder(withBody()), nil))
	default:
		var m openai.ChatCompletion
		return []any{json.Unmarshal(body, &m), m}
	}
}

func collected[T any](s interface {
	Next() bool
	Current() T
	Err() error
}) any {
	var events []T
	for s.Next() {
		events = append(events, s.Current())
	}
	return []any{events, fmt.Sprint(s.Err())}
}

func report(t *testing.T, tallies map[string]*tally) {
	var names []string
	for name := range tallies {
		names = append(names, name)
	}
	slices.Sort(names)
	t.Logf("%-28s %12s %9s %9s %9s %10s %8s", "API", "interactions", "recorded", "identical", "SDK equal", "try again", "refused")
	for _, name := range names {
		c := tallies[name]
		t.Logf("%-28s %12d %9d %9d %9d %10d %8d", name, c.interactions, c.recorded, c.identical, c.equal, c.retryable, len(c.refused))
	}
	for _, name := range names {
		c := tallies[name]
		for _, r := range c.refused {
			t.Logf("refused: %s: %s", name, r)
		}
		require.Equal(t, c.recorded, c.identical, "%s: every replay is byte-identical", name)
		require.Equal(t, c.recorded, c.equal, "%s: the SDK decodes both alike", name)
		require.Equal(t, c.interactions, c.recorded+c.retryable+len(c.refused), "%s: none is lost", name)
	}
}
