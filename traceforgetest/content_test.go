package traceforgetest_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

const completion = `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"unpacked"}}]}`

// answering is an upstream that gives each call the same answer.
func answering(header http.Header, body string) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})
}

// encodedBy answers with a body that was compressed unasked.
func encodedBy(encoding string, body []byte) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {encoding}},
			Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
	})
}

func compressed(t *testing.T, wrap func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w := wrap(&b)
	_, err := io.WriteString(w, completion)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestContentEncodings(t *testing.T) {
	gz := compressed(t, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
	custom := compressed(t, func(w io.Writer) io.WriteCloser { fw, _ := flate.NewWriter(w, 9); return fw })
	cases := []struct {
		name, why, encoding string
		body                []byte
		options             []traceforgetest.Option
		failure             string
	}{
		{"gzip", "the usual one", "gzip", gz, nil, ""},
		{"deflate", "zlib's frame, as RFC 9110 has it", "Deflate", compressed(t, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }), nil, ""},
		{"raw deflate", "without zlib's header, as some servers send it", "deflate", custom, nil, ""},
		{"empty", "no header at all", "deflate", nil, nil, "decoding deflate content: unexpected EOF"},
		{"two", "listed in the order in which they were applied", "identity, gzip", gz, nil, ""},
		{"unknown", "a clear error, and the way out", "br", custom, nil, `content encoding "br" is not known: name its decoder with the option ContentEncoding`},
		{"named", "a decoder of the test's own", "br", custom, []traceforgetest.Option{traceforgetest.ContentEncoding("br", func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil })}, ""},
		{"broken", "cut in the middle", "gzip", gz[:len(gz)/2], nil, "decoding gzip content: unexpected EOF"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			t.Setenv("TRACEFORGE_UPDATE", "1")
			tb := s.run("TestIt", asks(newChat("a")), append(c.options, traceforgetest.Upstream(encodedBy(c.encoding, c.body)))...)
			if c.failure != "" {
				require.Contains(t, tb.Logged(), c.failure, c.why)
				require.NoDirExists(t, s.dir)
				return
			}
			requirePass(t, tb)
			t.Setenv("TRACEFORGE_UPDATE", "")
			var replayed []string
			requirePass(t, s.replay("TestIt", collects(&replayed, newChat("a"))))
			require.Equal(t, completion, replayed[0], "replay serves the decoded body")
		})
	}
}

// TestCallersEncodingIsNotAskedFor proves that a caller who asks for an encoding that only it
// knows is recorded nevertheless.
func TestCallersEncodingIsNotAskedFor(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		req, _ := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"a"}]}`))
		req.Header.Set("Accept-Encoding", "br, zstd")
		req.Header.Set("Content-Type", "application/json")
		resp, err := tf.Client().Do(req)
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
	})
	require.NotContains(t, s.provider.Calls()[0].Header.Get("Accept-Encoding"), "br")
}

// TestCompressedRequests proves that a request that its client compressed is recorded as what it
// says, and sent as it was.
func TestCompressedRequests(t *testing.T) {
	s := newScene(t)
	send := func(body []byte, encoding string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			req, _ := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions", bytes.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Content-Encoding", encoding)
			resp, err := tf.Client().Do(req)
			if err != nil {
				t.Fatalf("%v", err)
			}
			defer resp.Body.Close()
			io.Copy(io.Discard, resp.Body)
		}
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	request, err := json.Marshal(newChat("squeezed"))
	require.NoError(t, err)
	w.Write(request)
	require.NoError(t, w.Close())

	var sent []byte
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", send(packed.Bytes(), "gzip"), traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		sent, _ = io.ReadAll(r.Body)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(completion)), Request: r}, nil
	}))))
	require.Equal(t, packed.Bytes(), sent)
	record, err := os.ReadFile(s.documents("openai")[0])
	require.NoError(t, err)
	require.Contains(t, string(record), `"content": "squeezed"`)

	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", send(packed.Bytes(), "gzip")))
	requirePass(t, s.replay("TestIt", send(request, ""))) // it says the same
}

func TestMediaIsKeptBesideTheSnapshot(t *testing.T) {
	image := bytes.Repeat([]byte{0xff, 0xd8, 1, 2, 3, 4, 5}, 500)
	encoded := base64.StdEncoding.EncodeToString(image)
	shows := func(encoded string) chat {
		return newChat("").with("messages", []any{map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": "What is this?"},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/jpeg;base64," + encoded}},
		}}})
	}
	s := newScene(t)
	s.record("TestIt", asks(shows(encoded)))
	record := s.files()[s.document("TestIt")]
	medium := strings.TrimSuffix(s.document("TestIt"), ".json") + "/" + canon.Sum(image).Hex() + ".jpg"
	require.Equal(t, string(image), s.files()[medium], "the image itself is beside the document")
	require.NotContains(t, record, encoded[:100])
	require.Regexp(t, `"url": "blob:sha256:[0-9a-f]{64};image/jpeg;3500"`, record)
	s.requireWhole()
	requirePass(t, s.replay("TestIt", asks(shows(encoded))))

	before := s.files()
	s.record("TestIt", asks(shows(encoded)))
	s.requireFiles(before)

	changed := "AAAA" + encoded[4:]
	tb := s.replay("TestIt", asks(shows(changed)))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "message 1 (user), line 5\n    -     \"url\": \"blob:sha256:")

	s.record("TestIt", asks(newChat("no image")))
	require.NotContains(t, s.files(), medium, "the image goes with its record")
	s.requireWhole()
}

func TestStreamTiming(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.Fragments("one ", "two "), fakeprovider.Fragments("one ", "two "))
	c := newChat("count").with("stream", true)
	s.record("TestIt", asks(c))
	before := s.files()
	s.record("TestIt", asks(c), traceforgetest.StreamTiming())
	require.NotContains(t, before[s.document("TestIt")], `"timing_ms"`)
	require.Contains(t, s.files()[s.document("TestIt")], `"timing_ms": [`, "a record without times gets them")
	requirePass(t, s.replay("TestIt", asks(c), traceforgetest.StreamTiming()))
	requirePass(t, s.replay("TestIt", asks(c)))
	s.requireWhole()
}

// TestStreamTimingOfEvents stores when each event came, and replays it then.
func TestStreamTimingOfEvents(t *testing.T) {
	s := newScene(t)
	const first = `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n"
	const last = `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` +
		"\n\ndata: [DONE]\n\n"
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		time.Sleep(10 * time.Millisecond)
		wait := readerFunc(func([]byte) (int, error) { time.Sleep(300 * time.Millisecond); return 0, io.EOF })
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r, ContentLength: -1,
			Body: io.NopCloser(io.MultiReader(strings.NewReader("\n"), strings.NewReader(first), wait, strings.NewReader(last)))}, nil
	})
	test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		start := time.Now()
		resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","temperature":0,"seed":1,"stream":true,"messages":[]}`))
		if err != nil || resp.ContentLength != -1 {
			t.Fatalf("%v, %v", resp, err)
		}
		defer resp.Body.Close()
		var came []time.Duration
		for lines := bufio.NewScanner(iotest.OneByteReader(resp.Body)); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "data: ") {
				came = append(came, time.Since(start))
			}
		}
		if fmt.Sprint(came) != "[10ms 310ms 310ms]" {
			t.Errorf("the events came after %v", came)
		}
	}
	synctest.Test(t, func(t *testing.T) { // where time passes only while all wait
		t.Setenv("TRACEFORGE_UPDATE", "1")
		requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(live), traceforgetest.StreamTiming()))
		stored := s.records("openai")[0].Response
		require.Equal(t, []int64{10, 10, 310, 310}, stored.TimingMS)
		require.EqualValues(t, 310, stored.LatencyMS)
		t.Setenv("TRACEFORGE_UPDATE", "")
		requirePass(t, s.replay("TestIt", test, traceforgetest.StreamTiming()))
	})
	s.requireWhole()
}

// TestStreamTimingWithTools records times as an update does, which it is, when tools are run again.
func TestStreamTimingWithTools(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.Fragments("one ", "two "), fakeprovider.Fragments("one ", "two "))
	c := newChat("count").with("stream", true)
	s.record("TestIt", asks(c))
	requirePass(t, s.update("tools", "TestIt", asks(c), traceforgetest.StreamTiming()))
	require.Contains(t, s.files()[s.document("TestIt")], `"timing_ms": [`)
}

// TestStreamTimingOfOthers has answers that are no streams: nothing of them is timed.
func TestStreamTimingOfOthers(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")), traceforgetest.StreamTiming())
	require.Nil(t, s.records("openai")[0].Response.TimingMS)
	requirePass(t, s.replay("TestIt", asks(newChat("a")), traceforgetest.StreamTiming()))
}
