package recorder

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

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
	tk := &take{call: &call{request: &modelio.Request{}}, terms: terms{limit: 100, complete: func() { completed++ }}}
	body := &recordedBody{upstream: io.NopCloser(bytes.NewReader([]byte("{}"))), take: tk, ctx: t.Context()}
	for range 2 {
		_, err := io.ReadAll(body)
		require.NoError(t, err)
	}
	require.NoError(t, body.Close())
	require.Equal(t, 1, completed)
}
