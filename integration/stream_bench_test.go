package integration_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

const streamRequest = `{"model":"gpt-4o","temperature":0,"seed":1,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`

// writeEvent writes one chunk of a chat completion, and the end of the stream after the last one.
func writeEvent(w io.Writer, n, last int, content string) {
	finish := "null"
	if n == last {
		finish = `"stop"`
	}
	fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-4o","choices":[{"index":0,"delta":{"content":%q},"finish_reason":%s}]}`+"\n\n", content, finish)
	if n == last {
		io.WriteString(w, "data: [DONE]\n\n")
	}
}

// A path is a way for an answer to reach its caller.
type path struct {
	name string
	call func(b *testing.B, server *httptest.Server, read func(io.Reader))
}

// paths are the direct path and the paths through traceforge.
var paths = []path{
	{"direct", func(b *testing.B, server *httptest.Server, read func(io.Reader)) {
		require.NoError(b, post(server.Client(), server.URL, read))
	}},
	{"recorded", func(b *testing.B, server *httptest.Server, read func(io.Reader)) {
		recordCall(b, server, func(tf *traceforgetest.Recorder) error {
			return post(tf.Client(), server.URL, read)
		})
	}},
	{"recorded by URL", func(b *testing.B, server *httptest.Server, read func(io.Reader)) {
		recordCall(b, server, func(tf *traceforgetest.Recorder) error {
			return post(http.DefaultClient, tf.URL("openai"), read)
		})
	}},
}

func post(client *http.Client, base string, read func(io.Reader)) error {
	resp, err := client.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(streamRequest))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	read(resp.Body)
	return nil
}

func recordCall(b *testing.B, server *httptest.Server, call func(*traceforgetest.Recorder) error) {
	b.Setenv("TRACEFORGE_UPDATE", "1")
	dir := filepath.Join(b.TempDir(), ".ai-snapshots")
	tb := tbtest.Run("TestStream", func(tb *tbtest.TB) {
		upstream := roundTrip(func(r *http.Request) (*http.Response, error) {
			out := r.Clone(r.Context())
			out.URL.Scheme, out.URL.Host = "http", server.Listener.Addr().String()
			return server.Client().Transport.RoundTrip(out)
		})
		if err := call(traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(upstream))); err != nil {
			tb.Errorf("%v", err)
		}
	})
	require.False(b, tb.Failed(), tb.Logged())
}

// BenchmarkStreamLatency measures the time between the provider's write of an event and its arrival, for the first, the
// median and the slowest of 200 events that are 5 ms apart.
func BenchmarkStreamLatency(b *testing.B) {
	const events, gap = 200, 5 * time.Millisecond
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			var mu sync.Mutex
			var sent []time.Time
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				flusher := http.NewResponseController(w)
				w.Header().Set("Content-Type", "text/event-stream")
				for n := range events {
					if n > 0 {
						time.Sleep(gap)
					}
					mu.Lock()
					sent = append(sent, time.Now())
					mu.Unlock()
					writeEvent(w, n, events-1, "word ")
					flusher.Flush()
				}
			}))
			defer server.Close()
			var first, all []time.Duration
			for b.Loop() {
				sent = nil
				var arrived []time.Time
				p.call(b, server, func(body io.Reader) {
					for lines := bufio.NewScanner(body); lines.Scan(); {
						if strings.HasPrefix(lines.Text(), "data: {") {
							arrived = append(arrived, time.Now())
						}
					}
				})
				require.Len(b, arrived, events)
				for n := range arrived {
					all = append(all, arrived[n].Sub(sent[n]))
				}
				first = append(first, arrived[0].Sub(sent[0]))
			}
			slices.Sort(first)
			slices.Sort(all)
			b.ReportMetric(microseconds(first[len(first)/2]), "µs-first")
			b.ReportMetric(microseconds(all[len(all)/2]), "µs-median")
			b.ReportMetric(microseconds(all[len(all)-1]), "µs-slowest")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// BenchmarkStreamMemory measures the peak growth of the heap during a stream of 20 MB.
func BenchmarkStreamMemory(b *testing.B) {
	const events, size = 2000, 10_000
	word := strings.Repeat("x", size)
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for n := range events {
					writeEvent(w, n, events-1, word)
				}
			}))
			defer server.Close()
			var peak uint64
			for b.Loop() {
				stop := watchHeap(&peak)
				p.call(b, server, func(body io.Reader) {
					n, err := io.Copy(io.Discard, body)
					require.NoError(b, err)
					require.Greater(b, n, int64(events*size))
				})
				stop()
			}
			b.ReportMetric(float64(peak)/1e6, "MB-peak")
		})
	}
}

// watchHeap measures the heap each millisecond until stop is called, and keeps the greatest growth since its start.
func watchHeap(peak *uint64) (stop func()) {
	before := heapInUse()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			if now := heapInUse(); now > before {
				*peak = max(*peak, now-before)
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
