package recorder

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
)

// TestBounds records and replays with a limit of two thousand bytes: a longer answer reaches its caller and is not kept, a
// longer request is not sent, and the failure says why (C9).
func TestBounds(t *testing.T) {
	long := strings.Repeat("word ", 800)
	zipped := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(text))
		w.Close()
		return b.String()
	}
	answer := func(text string) string { return strings.Replace(honest, "four", text, 1) }
	const limit = "which are the most that is kept"
	for _, c := range []struct {
		name, why string
		upstream  upstream
		body      string
		encoding  string // of the request
		mode      Mode
		says      string // empty: it passes
		asked     int
	}{
		{"short", "is kept", upstream{body: honest}, askedBody, "", Update, "", 1},
		{"answer", "whole", upstream{body: answer(long)}, askedBody, "", Update, "openai answer has more than 2000 bytes, " + limit, 1},
		{"stream", "in pieces", upstream{body: strings.Replace(honestStream, "fo", long, 1), header: http.Header{"Content-Type": {"text/event-stream"}}},
			askedBody, "", Update, "openai answer has more than 2000 bytes", 1},
		{"bomb", "few bytes are many", upstream{body: zipped(answer(long)), header: http.Header{"Content-Encoding": {"gzip"}}}, askedBody, "", Update,
			"openai answer cannot be kept: decoding gzip content: the content has more than 2000 bytes, " + limit, 1},
		{"request", "nothing is bought that cannot be kept", upstream{body: honest}, strings.Replace(askedBody, `"a"`, `"`+long+`"`, 1), "", Update,
			"POST " + chatURL + ": the request's body has more than 2000 bytes, " + limit, 0},
		{"new request", "likewise", upstream{body: honest}, strings.Replace(askedBody, `"a"`, `"`+long+`"`, 1), "", UpdateNew,
			"the request's body has more than 2000 bytes", 0},
		{"request in replay", "nothing is called", upstream{}, strings.Replace(askedBody, `"a"`, `"`+long+`"`, 1), "", Replay,
			"the request's body has more than 2000 bytes, " + limit, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TRACEFORGE_MAX_BYTES", "2000")
			s, got := newScene(t), ""
			failures, _ := s.run(c.mode, posts(&got, chatURL, c.body), func(o *Options) { o.Upstream = &c.upstream })
			require.Len(t, c.upstream.asked, c.asked, c.why)
			if c.asked > 0 {
				require.Equal(t, c.upstream.body, got, "the caller gets all")
				sent, err := io.ReadAll(c.upstream.asked[0].Body)
				require.NoError(t, err)
				require.Equal(t, c.body, string(sent), "the provider gets all")
			}
			if c.says == "" {
				require.Empty(t, failures)
				return
			}
			require.Len(t, failures, 1, c.why)
			require.Contains(t, failures[0].Text, c.says, c.why)
			if !strings.Contains(c.name, "bomb") {
				require.Contains(t, failures[0].Text, "\nTRACEFORGE_MAX_BYTES raises the limit")
			}
			require.NotContains(t, failures[0].Text, "word word")
		})
	}
}

// TestBoundOfForeignRequests sends what is too long in a test of its own, which this test does not fail for.
func TestBoundOfForeignRequests(t *testing.T) {
	t.Setenv("TRACEFORGE_MAX_BYTES", "20")
	s, got := newScene(t), ""
	failures, _ := s.run(Update, posts(&got, chatURL, askedBody),
		func(o *Options) { o.Foreign = func() bool { return true } })
	require.Contains(t, got, "was made by a seed of ")
	require.NotContains(t, fmt.Sprint(failures), "the request's body")
}

// TestBoundOfWhatIsStored replays with a limit that what was recorded is beyond.
func TestBoundOfWhatIsStored(t *testing.T) {
	s, got := newScene(t), ""
	s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) { o.Upstream = &upstream{body: honest + strings.Repeat(" ", 5000)} })
	for limit, says := range map[string]string{
		"300":  ".json: value: has ",
		"4000": "/1.json: value: has ",
	} {
		t.Setenv("TRACEFORGE_MAX_BYTES", limit)
		failures, _ := s.run(Replay, posts(&got, chatURL, askedBody))
		require.Len(t, failures, 1)
		require.Contains(t, failures[0].Text, says)
		require.Contains(t, failures[0].Text, "at most "+limit+" are read: TRACEFORGE_MAX_BYTES raises the limit")
	}
}

// TestBoundOfModels records a model that says more than is kept.
func TestBoundOfModels(t *testing.T) {
	t.Setenv("TRACEFORGE_MAX_BYTES", "1000")
	s := newScene(t)
	text := strings.Repeat("word ", 400)
	live := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		return &modelio.GenerateResponse{Message: &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart(text)}}}, nil
	})
	failures, _ := s.run(Update, func(r *Recorder) {
		resp, err := r.Generate(context.Background(), Generation{Provider: "test", Model: "m", Live: live, Request: &modelio.GenerateRequest{}})
		require.NoError(t, err)
		require.Equal(t, text, *resp.Message.Content[0].Text)
	}, func(o *Options) { o.Lifted, o.Nondeterministic = true, "it is long" })
	require.Len(t, failures, 1)
	require.Contains(t, failures[0].Text, "test answer has more than 1000 bytes")
}

// endlessly repeats a text until its context ends.
type endlessly struct {
	ctx  context.Context
	text string
	read *int64
}

func (e *endlessly) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], e.text)
		e.text, n = e.text[c:]+e.text[:c], n+c
	}
	*e.read += int64(n)
	return n, e.ctx.Err()
}

// TestEndlessStreamEndsWithItsCaller reads a stream without end until the caller has enough. What is
// allocated is bounded, whatever comes.
func TestEndlessStreamEndsWithItsCaller(t *testing.T) {
	s, read := newScene(t), int64(0)
	before := allocated()
	failures, _ := s.run(Update, func(r *Recorder) {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, chatURL, strings.NewReader(askedBody))
		require.NoError(t, err)
		resp, err := (&http.Client{Transport: r}).Do(req)
		require.NoError(t, err)
		_, err = io.CopyN(io.Discard, resp.Body, 160<<20)
		require.NoError(t, err)
		cancel()
		_, err = io.Copy(io.Discard, resp.Body)
		require.ErrorIs(t, err, context.Canceled)
		resp.Body.Close()
	}, func(o *Options) {
		o.Upstream = roundTripper(func(req *http.Request) (*http.Response, error) {
			body := &endlessly{req.Context(), `data: {"choices":[{"index":0,"delta":{"content":"word "}}]}` + "\n\n", &read}
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body), Request: req}, nil
		})
	})
	require.Greater(t, read, int64(128<<20), "enough came to tell")
	require.Len(t, failures, 1)
	require.Contains(t, failures[0].Text, "openai answer has more than 67108864 bytes")
	require.Less(t, allocated()-before, uint64(256<<20))
}

// TestBombIsBounded records an answer of half a megabyte that says half a gigabyte.
func TestBombIsBounded(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for range 512 {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	s, got := newScene(t), ""
	before := allocated()
	failures, _ := s.run(Update, posts(&got, chatURL, askedBody), func(o *Options) {
		o.Upstream = &upstream{body: b.String(), header: http.Header{"Content-Encoding": {"gzip"}}}
	})
	require.Len(t, failures, 1)
	require.Contains(t, failures[0].Text, "decoding gzip content: the content has more than 67108864 bytes")
	require.Less(t, allocated()-before, uint64(512<<20))
}

// TestTimesAreNoMoreThanMilliseconds keeps one time of the pieces that come in one millisecond.
func TestTimesAreNoMoreThanMilliseconds(t *testing.T) {
	tk := &take{terms: terms{limit: 1 << 20, started: clock()}}
	for range 100_000 {
		tk.receive([]byte("x"))
	}
	most := int(time.Since(tk.started)/time.Millisecond) + 2
	require.LessOrEqual(t, len(tk.arrivals), most)
	require.Equal(t, 100_000, tk.arrivals[len(tk.arrivals)-1].bytes)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// allocated returns the bytes that this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
