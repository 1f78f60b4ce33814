package fakeprovider_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestAnswer: a call is answered as a server would, without one, and the same each time.
func TestAnswer(t *testing.T) {
	answer := func(n int, body io.Reader) (*http.Response, string, error) {
		req, err := http.NewRequest(http.MethodPost, "https://api.openai.com/v1/chat/completions", body)
		require.NoError(t, err)
		resp, err := fakeprovider.Answer(req, n, fakeprovider.Echo())
		if err != nil {
			return nil, "", err
		}
		text, err := io.ReadAll(resp.Body)
		return resp, string(text), err
	}
	const asked = `{"model": "m", "messages": [{"role": "user", "content": "hello"}]}`
	resp, said, err := answer(0, strings.NewReader(asked))
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	require.Contains(t, said, "hello")
	_, again, err := answer(0, strings.NewReader(asked))
	require.NoError(t, err)
	require.Equal(t, said, again)
	_, other, err := answer(1, strings.NewReader(asked))
	require.NoError(t, err)
	require.NotEqual(t, said, other, "ids of another call are others")

	resp, said, err = answer(0, nil)
	require.NoError(t, err)
	require.Equal(t, 400, resp.StatusCode, said)
	_, _, err = answer(0, iotest.ErrReader(errors.New("gone")))
	require.EqualError(t, err, "gone")
}
