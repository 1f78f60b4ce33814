package fakeprovider_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

func TestCut(t *testing.T) {
	reset := func(t *testing.T, err error) {
		require.Error(t, err)
		if runtime.GOOS != "windows" { // Windows has its own error number
			require.ErrorIs(t, err, syscall.ECONNRESET)
		}
	}
	lost := func(t *testing.T, err error) { require.Error(t, err) } // io.EOF or ECONNRESET, depending on timing
	for _, c := range []struct {
		name, why string
		cut       fakeprovider.Cut
		check     func(*testing.T, error)
		body      string // the most that the client may receive
	}{
		{"reset", "a lost connection", fakeprovider.CutReset, reset, "one two"},
		{"drop", "a server that dies", fakeprovider.CutDrop, func(t *testing.T, err error) { require.ErrorIs(t, err, io.ErrUnexpectedEOF) }, "one two"},
		{"end", "a proxy that hides the loss", fakeprovider.CutEnd, func(t *testing.T, err error) { require.NoError(t, err) }, "one two"},
		{"hangup", "no answer at all", fakeprovider.CutHangup, lost, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			reply := fakeprovider.Bytes("text/plain", "one ", "two", " three")
			reply.Cut, reply.CutAfter = c.cut, 2
			srv.Reply(reply)
			got := send(t, srv.URL()+chatPath, hello)
			c.check(t, got.err)
			require.True(t, strings.HasPrefix(c.body, got.body), "%q", got.body)
			if c.cut == fakeprovider.CutDrop || c.cut == fakeprovider.CutEnd {
				require.Equal(t, c.body, got.body)
			}
		})
	}
}

func TestCutOfAWholeBody(t *testing.T) {
	srv := fakeprovider.New(t)
	whole := fakeprovider.Text("Hello")
	for _, cut := range []fakeprovider.Cut{fakeprovider.CutDrop, fakeprovider.CutEnd} {
		whole.Cut = cut
		srv.Reply(whole)
		got := send(t, srv.URL()+chatPath, hello)
		require.True(t, strings.HasPrefix(got.body, "{\n"))
		require.NotContains(t, got.body, "system_fingerprint", "the second half is missing")
		if cut == fakeprovider.CutDrop {
			require.ErrorIs(t, got.err, io.ErrUnexpectedEOF)
		} else {
			require.NoError(t, got.err)
		}
	}
}

func TestGzip(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		return fakeprovider.Reply{Text: "Hello", Gzip: true}
	})
	for _, body := range []string{hello, helloStream} {
		got := send(t, srv.URL()+chatPath, body, "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
		z, err := gzip.NewReader(strings.NewReader(got.body))
		require.NoError(t, err)
		plain, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Contains(t, string(plain), "Hello")

		refused := send(t, srv.URL()+chatPath, body, "Accept-Encoding", "identity")
		require.Empty(t, refused.header.Get("Content-Encoding"), "a client that does not ask for it gets none")
		require.Contains(t, refused.body, "Hello")
	}
}

// TestEventsAreFlushed reads the first event before the server sends the second one.
func TestEventsAreFlushed(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		srv := fakeprovider.New(t)
		reply := fakeprovider.Text("Hello")
		reply.Gzip = compressed
		reply.Stream.Gap = time.Hour
		srv.Reply(reply)
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL()+chatPath, strings.NewReader(helloStream))
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		line, err := bufio.NewReader(resp.Body).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, `"role":"assistant"`)
		cancel()
		require.NoError(t, resp.Body.Close())
	}
}

func TestDelayEndsWithTheClient(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL()+chatPath, strings.NewReader(hello))
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(req)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestWriteSizeSplitsCharacters(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Bytes("text/plain", "grüße\n")
	reply.Stream.WriteSize = 1
	srv.Reply(reply)
	require.Equal(t, "grüße\n", send(t, srv.URL()+chatPath, hello).body)
}

func TestServerSentEventVariants(t *testing.T) {
	stream := func(s fakeprovider.Stream) string {
		srv := fakeprovider.New(t)
		srv.FixIDs()
		srv.Reply(fakeprovider.Reply{Text: "Hi", Stream: s})
		return send(t, srv.URL()+chatPath, helloStream).body
	}
	plain := stream(fakeprovider.Stream{})
	require.Equal(t, 4, strings.Count(plain, "data: "), "role, text, finish, [DONE]")
	require.NotContains(t, plain, "\r")

	require.Equal(t, strings.ReplaceAll(plain, "\n", "\r\n"), stream(fakeprovider.Stream{CRLF: true}))
	require.Equal(t, strings.TrimSuffix(plain, "data: [DONE]\n\n"), stream(fakeprovider.Stream{NoDone: true}))
	require.Equal(t, strings.ReplaceAll(plain, "data:", ": waiting\n\ndata:"), stream(fakeprovider.Stream{Comment: "waiting"}))
	require.Equal(t, 2, strings.Count(stream(fakeprovider.Stream{PingEvery: 2}), "event: ping\n"))
}

func TestFragments(t *testing.T) {
	for _, c := range []struct {
		name, why string
		reply     fakeprovider.Reply
		want      []string
	}{
		{"words", "as tokens", fakeprovider.Text("to be or"), []string{"to", " be", " or"}},
		{"given", "exact texts", fakeprovider.Fragments("to b", "e or"), []string{"to b", "e or"}},
		{"sizes", "in characters, the last size again", fakeprovider.Reply{Text: "zwölf Äpfel", Stream: fakeprovider.Stream{Sizes: []int{1, 4}}}, []string{"z", "wölf", " Äpf", "el"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Reply(c.reply)
			body := send(t, srv.URL()+chatPath, helloStream).body
			var got []string
			for line := range strings.Lines(body) {
				if _, rest, ok := strings.Cut(line, `"delta":{"content":"`); ok {
					text, _, _ := strings.Cut(rest, `"`)
					got = append(got, text)
				}
			}
			require.Equal(t, c.want, got, c.why)
		})
	}
}

func TestHeadersOfTheScriptWin(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(fakeprovider.Reply{Header: http.Header{"x-request-id": {"mine"}, "Retry-After": {"1"}}})
	got := send(t, srv.URL()+chatPath, hello)
	require.Equal(t, "mine", got.header.Get("X-Request-Id"))
	require.Equal(t, "1", got.header.Get("Retry-After"))
	require.NotEmpty(t, got.header.Get("Openai-Version"))
}
