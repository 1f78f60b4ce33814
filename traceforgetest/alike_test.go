package traceforgetest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestRequestsOfSeveralAPIs: a request that looks like one of several APIs is of the same one, whatever was called before.
func TestRequestsOfSeveralAPIs(t *testing.T) {
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)), Request: r}, nil
	})
	paths := []string{"/mcp", "/v1/files", "/model/x/invoke"}
	calls := func(order ...int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			for _, i := range order {
				resp, err := tf.Client().Post("https://tools.example.com"+paths[i], "application/json",
					strings.NewReader(`{"jsonrpc":"2.0","method":"tools/list","id":1}`))
				if err != nil {
					t.Fatalf("%s: %v", paths[i], err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
	}
	record, why := traceforgetest.Record("tools.example.com"), traceforgetest.Nondeterministic("a tool server")
	s := newScene(t)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", calls(0, 1, 2), traceforgetest.Upstream(live), record, why))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.run("TestIt", calls(2, 1, 0), record, why))
	requirePass(t, s.run("TestIt", calls(1, 0, 2), record, why))
}
