package websockettraceforge_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coder "github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/fault"
)

// bye makes the fake close a session, as a server does that says why.
const bye = `{"type":"bye"}`

// say opens a session, says each text and hears a frame after each, and what the server's greeting and its end are.
func say(tb *tbtest.TB, client *http.Client, texts ...string) (heard []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, _, err := coder.Dial(ctx, "wss://api.openai.com/v1/realtime?model=gpt-realtime", &coder.DialOptions{HTTPClient: client})
	if err != nil {
		return nil, err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(-1)
	for _, text := range append([]string{""}, texts...) {
		if text != "" {
			err = conn.Write(ctx, coder.MessageText, []byte(text))
		}
		if err == nil {
			var data []byte
			_, data, err = conn.Read(ctx)
			heard = append(heard, string(data))
		}
		if err != nil {
			return heard, err
		}
	}
	return heard, conn.Close(coder.StatusNormalClosure, "")
}

func saying(texts ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) { _, _ = say(tb, tf.Client(), texts...) }
}

// TestCut: a session that a server breaks off without a word is not recorded, unless the test says that it may be; then
// it breaks off in replay.
func TestCut(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		tb := run(t, "1", newProvider(t), func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			conn := dial(tb, tf)
			defer conn.CloseNow()
			ask(tb, conn, `{"type":"break"}`)
			_, _, err := conn.Read(t.Context())
			require.ErrorIs(t, err, io.EOF)
		})
		require.True(t, tb.Failed())
		require.Contains(t, tb.Logged(), "was cut before its end: EOF: it was not recorded")
		require.Contains(t, tb.Logged(), "traceforgetest.Allow(traceforgetest.CutStreams)")
		require.NoDirExists(t, store(t)+"/openai")
	})
	t.Run("allowed", func(t *testing.T) {
		var upstream http.RoundTripper = newProvider(t)
		for _, mode := range []string{"1", "", ""} {
			t.Setenv("TRACEFORGE_UPDATE", mode)
			tb := tbtest.Run("TestSession", func(tb *tbtest.TB) {
				tf := traceforgetest.New(tb, traceforgetest.Dir(store(t)), traceforgetest.Upstream(upstream),
					traceforgetest.Allow(traceforgetest.CutStreams))
				conn := dial(tb, tf)
				defer conn.CloseNow()
				require.Contains(t, ask(tb, conn, `{"type":"break"}`), "broke")
				_, _, err := conn.Read(t.Context())
				require.ErrorIs(t, err, io.EOF)
			})
			require.False(t, tb.Failed(), tb.Logged())
			upstream = unreachable{}
		}
	})
}

// TestLimit: a session that is longer than what is kept fails the test with the way out, whoever makes it so long, and
// leaves nothing.
func TestLimit(t *testing.T) {
	t.Setenv("TRACEFORGE_MAX_BYTES", "4096")
	long := `{"type":"session.update","session":{"type":"realtime","instructions":"` + strings.Repeat("a", 5000) + `"}}`
	half := `{"type":"session.update","session":{"type":"realtime","instructions":"` + strings.Repeat("a", 1500) + `"}}`
	for _, c := range []struct {
		name  string
		texts []string
	}{
		{"a frame of the client's", []string{long}},
		{"a frame of the server's", []string{`{"type":"long"}`}},
		{"all frames", []string{half, half, half}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tb := run(t, "1", newProvider(t), saying(c.texts...))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), "has more than 4096 bytes, which are the most that is kept: it was not recorded")
			require.NoDirExists(t, store(t)+"/openai")
		})
	}
}

// TestSilence: a client that waits where the recording goes on with words of its own is told after 30 seconds.
func TestSilence(t *testing.T) {
	text := `{"type":"session.update","session":{"type":"realtime","instructions":"Be brief."}}`
	tb := run(t, "1", newProvider(t), saying(text))
	require.False(t, tb.Failed(), tb.Logged())
	t.Setenv("TRACEFORGE_UPDATE", "")
	dir := store(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		tb := tbtest.Run("TestSession", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(dir), traceforgetest.Upstream(unreachable{}))
			conn, _, err := coder.Dial(t.Context(), "wss://api.openai.com/v1/realtime?model=gpt-realtime", &coder.DialOptions{HTTPClient: tf.Client()})
			require.NoError(t, err)
			defer conn.CloseNow()
			for err == nil {
				_, _, err = conn.Read(t.Context())
			}
			require.Equal(t, coder.StatusPolicyViolation, coder.CloseStatus(err), "%v", err)
		})
		require.Contains(t, tb.Logged(), "the client has said nothing for 30s, and the recording goes on with frame 1 to the server: session.update")
		require.Less(t, time.Since(began), 40*time.Second)
	})
}

// TestDriftWhileWriting: a client that says more before it listens is told too why the session ended.
func TestDriftWhileWriting(t *testing.T) {
	item := `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}`
	next := `{"type":"session.update","session":{"type":"realtime","instructions":"Be brief."}}`
	tb := run(t, "1", newProvider(t), saying(fmt.Sprintf(item, "One."), next))
	require.False(t, tb.Failed(), tb.Logged())
	tb = run(t, "", unreachable{}, func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		conn, _, err := coder.Dial(t.Context(), "wss://api.openai.com/v1/realtime?model=gpt-realtime", &coder.DialOptions{HTTPClient: tf.Client()})
		require.NoError(t, err)
		defer conn.CloseNow()
		for _, text := range []string{fmt.Sprintf(item, "Two."), next} {
			require.NoError(t, conn.Write(t.Context(), coder.MessageText, []byte(text)))
		}
		for err == nil {
			_, _, err = conn.Read(t.Context())
		}
		require.Equal(t, coder.StatusPolicyViolation, coder.CloseStatus(err), "%v", err)
	})
	require.Contains(t, tb.Logged(), "openai session drifted from ")
}

// TestFault: a fault of a session is refused, as it has no one answer that a fault could change.
func TestFault(t *testing.T) {
	require.False(t, run(t, "1", newProvider(t), saying(bye)).Failed())
	for _, fault := range []traceforgetest.Fault{
		fault.Status(503, 0), fault.Disconnect(io.EOF), fault.Delay(1), fault.CutAfter(1),
	} {
		tb := run(t, "", unreachable{}, func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			tf.Fault(1, fault)
			saying(bye)(tb, tf)
		})
		require.True(t, tb.Failed())
		require.Contains(t, tb.Logged(), "fault cannot be injected: ")
		require.Contains(t, tb.Logged(), "the call is a session over a WebSocket")
		require.NotContains(t, tb.Logged(), "met no call")
		require.NotContains(t, tb.Logged(), "traceforge: injected")
	}
}

func dial(tb *tbtest.TB, tf *traceforgetest.Recorder) *coder.Conn {
	conn, _, err := coder.Dial(context.Background(), "wss://api.openai.com/v1/realtime?model=gpt-realtime", &coder.DialOptions{HTTPClient: tf.Client()})
	if err != nil {
		tb.Errorf("%v", err)
		return &coder.Conn{}
	}
	conn.SetReadLimit(-1)
	_, _, _ = conn.Read(context.Background()) // the greeting
	return conn
}

// ask says a text, and returns what is said next.
func ask(tb *tbtest.TB, conn *coder.Conn, text string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := conn.Write(ctx, coder.MessageText, []byte(text))
	var data []byte
	if err == nil {
		_, data, err = conn.Read(ctx)
	}
	if err != nil {
		tb.Errorf("%s: %v", text, err)
	}
	return string(data)
}

// TestPending: a session of a test that failed waits to be accepted, and is made again by an update.
func TestPending(t *testing.T) {
	t.Setenv("CI", "") // where another command is printed
	server := newProvider(t)
	tb := run(t, "1", server, func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		saying(bye)(tb, tf)
		tb.Errorf("the test's own failure")
	})
	require.Contains(t, tb.Logged(), "waits in "+store(t)+"/.pending: the next -update makes sessions again; accept or reject it: traceforge accept --dir "+
		gotest.Quote(store(t))+" adapters-websocket-testsession-")
	tb = run(t, "1", server, saying(bye))
	require.False(t, tb.Failed(), tb.Logged())
	require.Equal(t, int32(2), server.sessions.Load())
}
