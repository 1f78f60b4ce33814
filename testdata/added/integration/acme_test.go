package integration_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestAcme calls a made-up API, which has no SDK, and replays what it recorded.
func TestAcme(t *testing.T) {
	server := fakeprovider.New(t)
	server.Reply(fakeprovider.Text("It is."))
	store := filepath.Join(t.TempDir(), ".ai-snapshots")
	ask := func(base string) *tbtest.TB {
		return tbtest.Run("TestAcme", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(store), traceforgetest.Nondeterministic("it has no seed"))
			resp, err := tf.Client().Post(base+"/v1/judge", "application/json", strings.NewReader(`{"model":"judge-1","question":"Is water wet?","temperature":0}`))
			require.NoError(tb, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(tb, err)
			require.Equal(tb, http.StatusOK, resp.StatusCode, "%s", body)
			require.Contains(tb, string(body), `"verdict":"It is."`)
		})
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := ask(server.URL())
	require.False(t, tb.Failed(), tb.Logged())
	t.Setenv("TRACEFORGE_UPDATE", "")
	tb = ask("https://api.acme.example")
	require.False(t, tb.Failed(), tb.Logged())

	documents, err := filepath.Glob(filepath.Join(store, "acme", "*.json"))
	require.NoError(t, err)
	require.Len(t, documents, 1, "its directory has its provider's name, from the codec's facts")
	text, err := os.ReadFile(documents[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"acme.judge"`)
}
