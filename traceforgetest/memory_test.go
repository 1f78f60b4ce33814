package traceforgetest_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestRecordingMemory bounds what recording a long stream allocates in all, for each byte of the
// stream: a copy of the answer more, anywhere between the network and the store, shows here. What is written
// when the answer is complete, so that nobody pays twice, is what the test commits. What
// is in use at once is less than half of it: see BenchmarkStreamMemory in the module integration.
func TestRecordingMemory(t *testing.T) {
	for _, c := range []struct {
		name, why, word string
		most            float64
	}{
		{"plain", "an answer that stands for itself in JSON", strings.Repeat("word ", 1000), 16},
		{"escaped", "an answer of short lines, each of which is a line of the document", strings.Repeat(`<a>\n`, 1000), 42},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stream strings.Builder
			for range 1600 {
				fmt.Fprintf(&stream, `data: {"choices":[{"index":0,"delta":{"content":"%s"}}],"model":"gpt-4o-mini"}`+"\n\n", c.word)
			}
			stream.WriteString("data: [DONE]\n\n")
			body := stream.String()
			upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
				return &http.Response{
					StatusCode: http.StatusOK,
					Header:     http.Header{"Content-Type": {"text/event-stream"}},
					Body:       io.NopCloser(strings.NewReader(body)),
					Request:    r,
				}, nil
			})
			s := newScene(t)
			t.Setenv("TRACEFORGE_UPDATE", "1")
			before := allocated()
			tb := tbtest.Run("TestIt", func(tb *tbtest.TB) {
				tf := traceforgetest.New(tb, traceforgetest.Dir(s.dir), traceforgetest.Upstream(upstream))
				resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json",
					strings.NewReader(`{"model":"gpt-4o-mini","temperature":0,"seed":1,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`))
				if err != nil {
					tb.Fatalf("%v", err)
				}
				defer resp.Body.Close()
				if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(len(body)) {
					tb.Fatalf("read %d bytes of %d: %v", n, len(body), err)
				}
			})
			perByte := float64(allocated()-before) / float64(len(body))
			require.False(t, tb.Failed(), tb.Logged())
			t.Logf("%.1f bytes allocated for each of %d", perByte, len(body))
			if !raced { // slices.Grow allocates twice under the race detector
				require.Less(t, perByte, c.most, c.why)
			}
		})
	}
}

// allocated returns the bytes that this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
