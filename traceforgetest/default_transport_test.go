package traceforgetest_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestDefaultTransport holds what docs/migrating.md says of programs that make their own client: the recorder takes the
// place of the default transport, which stays its upstream.
func TestDefaultTransport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	was, asked := http.DefaultTransport, 0
	t.Cleanup(func() { http.DefaultTransport = was })
	http.DefaultTransport = roundTripper(func(req *http.Request) (*http.Response, error) {
		asked++
		answer := `{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(answer)), Request: req}, nil
	})
	for _, mode := range []string{"1", ""} {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		test := tbtest.Run("TestIt", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(dir))
			upstream := http.DefaultTransport
			http.DefaultTransport = tf
			tb.Cleanup(func() { http.DefaultTransport = upstream })
			resp, err := http.Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(
				`{"model":"gpt-4o-mini","temperature":0,"seed":1,"messages":[{"role":"user","content":"Hi"}]}`))
			require.NoError(t, err)
			defer resp.Body.Close()
			said, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Contains(t, string(said), "hello")
		})
		require.False(t, test.Failed(), test.Logged())
	}
	require.Equal(t, 1, asked)
}
