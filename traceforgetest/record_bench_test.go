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

// BenchmarkRecord records a test of one call whose answer has 2 KB, in a store of 100 documents at most.
func BenchmarkRecord(b *testing.B) {
	text := strings.Repeat("word ", 400)
	body := `{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"` +
		text + `"},"finish_reason":"stop"}]}`
	upstream := traceforgetest.Upstream(answering(http.Header{"Content-Type": {"application/json"}}, body))
	b.Setenv("TRACEFORGE_UPDATE", "all")
	dir := traceforgetest.Dir(filepath.Join(b.TempDir(), ".ai-snapshots"))
	for i := 0; b.Loop(); i++ {
		tb := tbtest.Run(fmt.Sprint("Test", i%100), func(tb *tbtest.TB) {
			if _, err := send(traceforgetest.New(tb, dir, upstream).Client(), newChat(fmt.Sprint("call ", i))); err != nil {
				tb.Errorf("%v", err)
			}
		})
		if tb.Failed() {
			b.Fatal(tb.Logged())
		}
	}
}
