package traceforgetest_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// BenchmarkRecord records a test of one call, whose answer has 2 KB or 100 KB, in a store of 100 documents at
// most, and an agent of 200 turns.
func BenchmarkRecord(b *testing.B) {
	for _, c := range []struct {
		name   string
		answer int // bytes
		calls  func(n int) func(*tbtest.TB, *traceforgetest.Recorder)
	}{
		{"2KB", 2 << 10, oneCall},
		{"100KB", 100 << 10, oneCall},
		{"agent", 200, func(n int) func(*tbtest.TB, *traceforgetest.Recorder) {
			return agent(200, fmt.Sprintf("Be kind in %d words.\n", n), false)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			body := `{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,` +
				`"message":{"role":"assistant","content":"` + strings.Repeat("word ", c.answer/5) + `"},"finish_reason":"stop"}]}`
			upstream := traceforgetest.Upstream(answering(http.Header{"Content-Type": {"application/json"}}, body))
			b.Setenv("TRACEFORGE_UPDATE", "all")
			dir := traceforgetest.Dir(filepath.Join(b.TempDir(), ".ai-snapshots"))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				tb := tbtest.Run(fmt.Sprint("Test", i%100), func(tb *tbtest.TB) {
					c.calls(i)(tb, traceforgetest.New(tb, dir, upstream))
				})
				if tb.Failed() {
					b.Fatal(tb.Logged())
				}
			}
		})
	}
}

func oneCall(n int) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		if _, err := send(tf.Client(), newChat(fmt.Sprint("call ", n))); err != nil {
			tb.Errorf("%v", err)
		}
	}
}
