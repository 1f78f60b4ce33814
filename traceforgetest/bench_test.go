package traceforgetest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// BenchmarkReplay measures a replayed call, whole with its http.Client, beside the limit: a
// RoundTripper that reads the body, hashes it and looks it up in a map. Both run in turn; the
// ratio of their medians is the figure to read. The records of the store are calls of one
// test, asked for in order or shuffled.
func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{2 << 10, 100 << 10} {
		for _, records := range []int{1, 100, 10_000} {
			if size > 2<<10 && records > 100 {
				continue
			}
			for _, order := range []string{"in-order", "shuffled"} {
				if records == 1 && order == "shuffled" {
					continue
				}
				b.Run(fmt.Sprintf("request=%dKB/records=%d/%s", size>>10, records, order), func(b *testing.B) {
					benchmarkReplay(b, size, records, order == "shuffled")
				})
			}
		}
	}
}

func benchmarkReplay(b *testing.B, size, records int, shuffle bool) {
	dir := b.TempDir()
	bodies, answers := benchCalls(size, records)
	recordBench(b, dir, bodies, answers)
	order := make([]int, records)
	for i := range order {
		order[i] = i
	}
	if shuffle {
		rand.New(rand.NewPCG(1, 2)).Shuffle(records, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	limit := &http.Client{Transport: newMemory(bodies, answers)}

	var ours, theirs []time.Duration
	var tb *tbtest.TB
	var client *http.Client
	next := records
	for b.Loop() {
		if next == records {
			if tb != nil {
				tb.End()
			}
			tb = tbtest.New("BenchmarkReplay")
			client = traceforgetest.New(tb, traceforgetest.Dir(dir)).Client()
			next = 0
		}
		body := bodies[order[next]]
		next++
		ours = append(ours, timePost(b, client, body))
		theirs = append(theirs, timePost(b, limit, body))
	}
	if next == records {
		tb.End()
		require.False(b, tb.Failed(), tb.Logged())
	}
	a, l := median(ours), median(theirs)
	b.ReportMetric(float64(a), "ns/call")
	b.ReportMetric(float64(l), "ns/limit")
	b.ReportMetric(float64(a)/float64(l), "x-limit")
	b.ReportMetric(0, "ns/op")
	if tb != nil && next != records {
		tb.Fail() // ended in the middle of its calls
		tb.End()
	}
}

func timePost(b testing.TB, client *http.Client, body []byte) time.Duration {
	start := time.Now()
	resp, err := client.Post("https://api.openai.com/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// benchCalls makes calls with requests of about size bytes, half of it in a conversation, and
// answers of about 1 KB.
func benchCalls(size, n int) (bodies, answers [][]byte) {
	for i := range n {
		var messages []any
		for left := size; left > 0; left -= 512 {
			messages = append(messages, map[string]any{"role": "user", "content": fmt.Sprint(i, " ") + strings.Repeat("lorem ipsum dolor ", 25)})
		}
		body, _ := json.Marshal(newChat("").with("messages", messages))
		answer, _ := json.Marshal(map[string]any{
			"id": fmt.Sprint("chatcmpl-", i), "object": "chat.completion", "model": "gpt-4o-mini",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": strings.Repeat("dolor sit amet ", 60)}}},
			"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
		})
		bodies, answers = append(bodies, body), append(answers, answer)
	}
	return bodies, answers
}

func recordBench(b testing.TB, dir string, bodies, answers [][]byte) {
	b.Setenv("TRACEFORGE_UPDATE", "1")
	i := 0
	tb := tbtest.Run("BenchmarkReplay", func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
			i++
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(answers[i-1]))}, nil
		})))
		for _, body := range bodies {
			timePost(b, tf.Client(), body)
		}
	})
	require.False(b, tb.Failed(), tb.Logged())
	b.Setenv("TRACEFORGE_UPDATE", "")
}

// memory is the limit: what any replay must do, and no more.
type memory map[[sha256.Size]byte][]byte

func newMemory(bodies, answers [][]byte) memory {
	m := memory{}
	for i := range bodies {
		m[sha256.Sum256(bodies[i])] = answers[i]
	}
	return m
}

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	answer := m[sha256.Sum256(body)]
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)), Request: r}, nil
}
