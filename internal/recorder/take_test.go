package recorder

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
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
