package traceforgetest_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// largeAnswer is an answer of size bytes that is made as it is read.
func largeAnswer(kind string, size int64) (contentType string, body io.Reader) {
	line := func(text string) io.Reader {
		return io.LimitReader(&repeated{text: text}, size/int64(len(text))*int64(len(text)))
	}
	switch kind {
	case "stream":
		return "text/event-stream", io.MultiReader(
			line(`data: {"choices":[{"index":0,"delta":{"content":"`+strings.Repeat("word ", 200)+`"}}],"model":"m"}`+"\n\n"),
			strings.NewReader(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n"))
	case "image":
		return "application/json", io.MultiReader(strings.NewReader(`{"data":[{"b64_json":"`), line("iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"), strings.NewReader(`"}]}`))
	case "audio":
		return "audio/mpeg", line("\xff\xfb\x90\x64")
	}
	return "application/json", io.MultiReader(strings.NewReader(`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"`),
		line("All work and no play makes Jack a dull boy. "), strings.NewReader(`"},"finish_reason":"stop"}]}`))
}

// repeated is a text without end.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n, r.at = n+c, (r.at+c)%len(r.text)
	}
	return n, nil
}

const peakEnv = "TRACEFORGE_TEST_PEAK"

// TestPeakOfRecording measures, in a process of its own, how much memory recording a long answer takes at
// most: for each byte of the answer, as its collector finds it. The collector runs often, so that little garbage counts, and
// stops the program, so that nothing counts that is made meanwhile: on a busy machine that is much. The bounds are of what is in
// use at once: the bytes, what they say, the document, and the document as it is read again.
func TestPeakOfRecording(t *testing.T) {
	if kind := os.Getenv(peakEnv); kind != "" {
		recordLarge(t, kind, peakSizes[kind])
		return
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if raced {
		return // the test without the detector holds the budgets
	}
	for kind, most := range map[string]float64{"whole": 4.2, "stream": 3.4, "image": 3.1, "audio": 3.5} {
		t.Run(kind, func(t *testing.T) {
			child := exec.Command(os.Args[0], "-test.run=^TestPeakOfRecording$", "-test.v")
			child.Env = append(os.Environ(), peakEnv+"="+kind, "TRACEFORGE_UPDATE=1", "GOGC=10", "GODEBUG=gcstoptheworld=1")
			out, err := child.CombinedOutput()
			require.NoError(t, err, string(out))
			found := regexp.MustCompile(`peak ([0-9]+)`).FindStringSubmatch(string(out))
			require.NotNil(t, found, string(out))
			peak, _ := strconv.ParseFloat(found[1], 64)
			times := peak / float64(peakSizes[kind])
			t.Logf("%.1f times the answer", times)
			require.Less(t, times, most)
		})
	}
}

// peakSizes are the lengths of the answers. A text takes more room in its document, which is bounded too.
var peakSizes = map[string]int64{"whole": 45 << 20, "stream": 60 << 20, "image": 60 << 20, "audio": 60 << 20}

func recordLarge(t *testing.T, kind string, size int64) {
	most := watchHeap()
	dir := t.TempDir()
	url := map[string]string{"image": "/v1/images/generations", "audio": "/v1/audio/speech"}[kind]
	if url == "" {
		url = "/v1/chat/completions"
	}
	upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
		contentType, body := largeAnswer(kind, size)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(body), Request: r}, nil
	})
	tb := tbtest.Run("TestIt", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream))
		resp, err := tf.Client().Post("https://api.openai.com"+url, "application/json",
			strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"Hi"}]}`))
		if err != nil {
			tb.Fatalf("%v", err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			tb.Fatalf("%v", err)
		}
	})
	logged := tb.Logged()
	require.False(t, tb.Failed(), logged[:min(len(logged), 2000)])
	fmt.Printf("peak %d\n", most())
}

// watchHeap returns a function that ends the watch, and tells the most that the collector found in use in one of its
// cycles. What the process has of the system is more, and depends on how fast the collector is beside the test.
func watchHeap() func() int64 {
	found := make(chan int64)
	end := make(chan struct{})
	go func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		most := int64(0)
		for ticks := time.Tick(time.Millisecond); ; {
			metrics.Read(live)
			most = max(most, int64(live[0].Value.Uint64()))
			select {
			case <-ticks:
			case <-end:
				found <- most
				return
			}
		}
	}()
	return func() int64 {
		close(end)
		return <-found
	}
}
