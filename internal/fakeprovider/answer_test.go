package fakeprovider_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func ask(t *testing.T, n int, body io.Reader) (*fakeprovider.Asking, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.openai.com/v1/chat/completions", body)
	require.NoError(t, err)
	return fakeprovider.Ask(req, n)
}

// TestAsk checks that Ask answers a call like a server does, and answers an equal call equally.
func TestAsk(t *testing.T) {
	answer := func(n int, body io.Reader) (*http.Response, string, error) {
		asking, err := ask(t, n, body)
		if err != nil {
			return nil, "", err
		}
		reply := fakeprovider.Reply{Failure: asking.Refused}
		if asking.Refused == nil {
			reply = fakeprovider.Echo()(asking.Call)
		}
		served := httptest.NewRecorder()
		asking.Serve(served, reply)
		again, err := ask(t, n, strings.NewReader(string(asking.Call.Body)))
		require.NoError(t, err)
		resp, err := again.Respond(reply)
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, served.Body.String(), string(text), "a server says the same")
		return resp, string(text), err
	}
	const asked = `{"model": "m", "messages": [{"role": "user", "content": "hello"}]}`
	resp, said, err := answer(0, strings.NewReader(asked))
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode)
	require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	require.Contains(t, said, "hello")
	_, other, err := answer(1, strings.NewReader(asked))
	require.NoError(t, err)
	require.NotEqual(t, said, other, "ids of another call are others")

	resp, said, err = answer(0, nil)
	require.NoError(t, err)
	require.Equal(t, 400, resp.StatusCode, said)
	_, _, err = answer(0, iotest.ErrReader(errors.New("gone")))
	require.EqualError(t, err, "gone")
}

// TestAskCut checks that a stream ends where its reply cuts it.
func TestAskCut(t *testing.T) {
	asking, err := ask(t, 0, strings.NewReader(`{"model": "m", "messages": [{"role": "user", "content": "hello"}], "stream": true}`))
	require.NoError(t, err)
	reply := fakeprovider.Fragments("one", "two")
	require.Equal(t, 5, asking.Events(reply), "the role, two pieces, the end, and the mark")
	reply.Cut, reply.CutAfter = fakeprovider.CutDrop, 2
	resp, err := asking.Respond(reply)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Contains(t, string(text), "one")
	require.NotContains(t, string(text), "two")
	require.NoError(t, resp.Body.Close())
	_, err = resp.Body.Read(make([]byte, 1))
	require.ErrorIs(t, err, http.ErrBodyReadAfterClose)
}
