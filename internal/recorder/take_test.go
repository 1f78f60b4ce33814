package recorder

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
)

func TestReceived(t *testing.T) {
	var r receivedBody
	require.Empty(t, r.bytes())
	var want []byte
	for n := range 300 {
		piece := bytes.Repeat([]byte{byte(n)}, n*37%5000)
		r.add(piece)
		want = append(want, piece...)
		if n%50 == 0 {
			early := r.bytes()
			require.Equal(t, want, early)
			r.add([]byte("more"))
			require.Equal(t, want, early, "what was returned must not change")
			want = append(want, "more"...)
		}
	}
	require.Equal(t, want, r.bytes())
	require.Equal(t, len(want), r.size)
}

// TestTakeIsCompleteOnce keeps one answer for a body that says more than once that it has ended.
func TestTakeIsCompleteOnce(t *testing.T) {
	completed := 0
	tk := &take{call: &call{codec: &provider.Codec{}, request: &modelio.Request{}}, terms: terms{limit: 100, complete: func() { completed++ }}}
	body := &recordedBody{upstream: io.NopCloser(bytes.NewReader([]byte("{}"))), take: tk, ctx: t.Context()}
	for range 2 {
		_, err := io.ReadAll(body)
		require.NoError(t, err)
	}
	require.NoError(t, body.Close())
	require.Equal(t, 1, completed)
}

// TestCancelledAndClosed: some SDKs cancel a call before they close its answer. Nothing of an answer with its whole length
// is cut by that.
func TestCancelledAndClosed(t *testing.T) {
	plain := func(_ string, body []byte) ([]byte, error) { return body, nil }
	for _, c := range []struct {
		name   string
		status int
		length string
		read   int
		want   ending
	}{
		{"nothing to read", http.StatusAccepted, "0", 0, whole},
		{"read, without its end", http.StatusAccepted, "2", 2, whole},
		{"not read to its end", http.StatusAccepted, "2", 1, aborted},
		{"not read", http.StatusAccepted, "2", 0, aborted},
		{"of unknown length", http.StatusAccepted, "", 2, aborted},
		{"without content", http.StatusNoContent, "", 0, whole},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		tk := &take{call: &call{codec: &provider.Codec{}, request: &modelio.Request{}}, terms: terms{limit: 100, decodeContent: plain}}
		tk.begin(c.status, http.Header{"Content-Length": {c.length}})
		body := &recordedBody{upstream: io.NopCloser(strings.NewReader("{}")), take: tk, ctx: ctx}
		_, err := io.CopyN(io.Discard, body, int64(c.read))
		require.NoError(t, err)
		cancel()
		require.NoError(t, body.Close())
		require.Equal(t, c.want, tk.how, c.name)
	}
}

// TestStartOfATake: the times of a stream's events count from the millisecond that the file has. Another call starts when it does:
// endOf adds a millisecond for what is cut from its latency.
func TestStartOfATake(t *testing.T) {
	opened, err := store.Open(t.TempDir())
	require.NoError(t, err)
	agents, known := provider.Named("anthropic.agents")
	require.True(t, known)
	of := func(path string) *call {
		return &call{codec: agents, request: &modelio.Request{Options: modelio.Object{"$url": []byte(path)}}}
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(7900 * time.Microsecond)
		s := &setup{store: opened}
		require.Zero(t, time.Since(s.newTake(of(`{"path":"/v1/sessions/item_1/events"}`)).started))
		require.Equal(t, 900*time.Microsecond, time.Since(s.newTake(of(`{"path":"/v1/sessions/item_1/events/stream"}`)).started))
	})
}
