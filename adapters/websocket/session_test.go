package websockettraceforge_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coder "github.com/coder/websocket"
	gorilla "github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	websockettraceforge "github.com/traceforge/traceforge-go/adapters/websocket"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// run runs a test of a user's, and returns what became of it.
func run(t *testing.T, mode string, upstream http.RoundTripper, body func(t *tbtest.TB, tf *traceforgetest.Recorder)) *tbtest.TB {
	t.Helper()
	t.Setenv("TRACEFORGE_UPDATE", mode)
	return tbtest.Run("TestSession", func(tb *tbtest.TB) {
		body(tb, traceforgetest.New(tb, traceforgetest.Dir(store(t)), traceforgetest.Upstream(upstream)))
	})
}

func store(t *testing.T) string { return filepath.Join(t.TempDir(), "..", ".ai-snapshots") }

// document returns the document that a test has left, and its raw answer.
func document(t *testing.T, provider string) (text, raw string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(store(t), provider, "*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	first, err := os.ReadFile(filepath.Join(strings.TrimSuffix(files[0], ".json"), "1.jsonl"))
	require.NoError(t, err)
	return string(whole), string(first)
}

// unreachable is the upstream of a replay.
type unreachable struct{}

func (unreachable) RoundTrip(req *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("replay asked %s", req.URL)
}

// A talk is what a user's program says and hears.
type talk struct {
	instructions string
	piece        int // bytes of sound at once
	pause        time.Duration
	more         bool // it says more than usual
	less         bool // or less
}

var usual = talk{instructions: "Answer in one sentence.", piece: 960}

// openAI talks by coder/websocket, as openai-go does: integration has that, since it asks for a newer Go than this module.
func (say talk) openAI(ctx context.Context, client *http.Client) (heard []string, err error) {
	conn, _, err := coder.Dial(ctx, "wss://api.openai.com/v1/realtime?model=gpt-realtime", &coder.DialOptions{
		HTTPClient: client, HTTPHeader: http.Header{"Authorization": {"Bearer test-key"}}})
	if err != nil {
		return nil, err
	}
	defer conn.CloseNow()
	send := func(event string) {
		time.Sleep(say.pause)
		if err == nil {
			err = conn.Write(ctx, coder.MessageText, []byte(event))
		}
	}
	until := func(kind string) (call string) {
		for err == nil {
			var data []byte
			if _, data, err = conn.Read(ctx); err != nil {
				break
			}
			var event struct {
				Type, Delta string
				Response    struct {
					Output []struct {
						Type, Name, Arguments string
						CallID                string `json:"call_id"`
					}
				}
			}
			if err = json.Unmarshal(data, &event); event.Type == "response.output_audio_transcript.delta" {
				heard = append(heard, event.Delta)
			}
			for _, item := range event.Response.Output {
				if item.Type == "function_call" {
					call = item.CallID
					heard = append(heard, item.Name+item.Arguments)
				}
			}
			if event.Type == kind {
				break
			}
		}
		return call
	}
	until("session.created")
	send(`{"type":"session.update","event_id":"` + fmt.Sprint(time.Now().UnixNano()) +
		`","session":{"type":"realtime","instructions":"` + say.instructions + `","tools":[{"type":"function","name":"weather"}]}}`)
	until("session.updated")
	send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"How is the weather?"}]}}`)
	send(`{"type":"response.create"}`)
	call := until("response.done")
	send(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"` + call + `","output":"It rains."}}`)
	send(`{"type":"response.create"}`)
	until("response.done")
	if say.less {
		return heard, err
	}
	for sound := make([]byte, 4800); len(sound) > 0; sound = sound[min(say.piece, len(sound)):] {
		send(`{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(sound[:min(say.piece, len(sound))]) + `"}`)
	}
	until("response.done")
	if say.more {
		send(`{"type":"response.create"}`)
		until("response.done")
	}
	return heard, err
}

// gemini talks with genai.
func (say talk) gemini(ctx context.Context, base string) (heard []string, err error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: "test-key", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: strings.Replace(base, "http://", "ws://", 1), APIVersion: "v1beta"}})
	if err != nil {
		return nil, err
	}
	conn, err := client.Live.Connect(ctx, "gemini-2.5-flash-live", &genai.LiveConnectConfig{
		SystemInstruction: genai.NewContentFromText(say.instructions, genai.RoleUser)})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	receive := func() (call *genai.FunctionCall) {
		for err == nil {
			var m *genai.LiveServerMessage
			if m, err = conn.Receive(); err != nil {
				break
			}
			switch {
			case m.ToolCall != nil:
				heard = append(heard, m.ToolCall.FunctionCalls[0].Name)
				return m.ToolCall.FunctionCalls[0]
			case m.ServerContent != nil && m.ServerContent.TurnComplete:
				return nil
			case m.ServerContent != nil && m.ServerContent.ModelTurn != nil:
				heard = append(heard, m.ServerContent.ModelTurn.Parts[0].Text)
			}
		}
		return nil
	}
	err = conn.SendClientContent(genai.LiveClientContentInput{Turns: genai.Text("How is the weather?")})
	if call := receive(); call != nil {
		err = conn.SendToolResponse(genai.LiveToolResponseInput{FunctionResponses: []*genai.FunctionResponse{{
			ID: call.ID, Name: call.Name, Response: map[string]any{"output": "It rains."}}}})
		receive()
	}
	return heard, err
}

func (say talk) withOpenAI(heard *[]string) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var err error
		if *heard, err = say.openAI(ctx, tf.Client()); err != nil {
			tb.Errorf("openai: %v", err)
		}
	}
}

func (say talk) withGemini(heard *[]string) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var err error
		if *heard, err = say.gemini(ctx, tf.URL("google")); err != nil {
			tb.Errorf("genai: %v", err)
		}
	}
}

// talks are the ways to talk, each with its provider.
var talks = map[string]func(talk, *[]string) func(*tbtest.TB, *traceforgetest.Recorder){
	"openai": talk.withOpenAI, "google": talk.withGemini,
}

// TestReplay: a session is recorded once, and says the same offline, however its sound is split and whenever it comes.
func TestReplay(t *testing.T) {
	for provider, with := range talks {
		t.Run(provider, func(t *testing.T) {
			var said, again []string
			tb := run(t, "1", newProvider(t), with(usual, &said))
			require.False(t, tb.Failed(), tb.Logged())
			require.Contains(t, strings.Join(said, ""), "weather")
			text, raw := document(t, provider)
			for _, readable := range []string{usual.instructions, "How is the weather?", `"toolRequest"`, "It rains.", `"output"`} {
				require.Contains(t, text, readable)
			}
			require.NotContains(t, text+raw, "test-key")
			for i := range 25 {
				other := usual
				other.piece, other.pause = 100+i*200, time.Duration(i%3)*time.Millisecond
				tb = run(t, "", unreachable{}, with(other, &again))
				require.False(t, tb.Failed(), tb.Logged())
				require.Equal(t, said, again)
			}
		})
	}
}

// TestDrift: what the client says otherwise fails the test with the frame named, and nothing is tried again.
func TestDrift(t *testing.T) {
	changed := usual
	changed.instructions = "Answer in two sentences."
	frame := map[string]string{"openai": "frame 1 to the server: session.update (- recorded, + got)", "google": "frame 1 to the server: setup (- recorded, + got)"}
	for provider, with := range talks {
		t.Run(provider, func(t *testing.T) {
			server := newProvider(t)
			var said []string
			require.False(t, run(t, "1", server, with(usual, &said)).Failed())
			tb := run(t, "", unreachable{}, with(changed, &said))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), provider+" session drifted from ")
			require.Contains(t, tb.Logged(), frame[provider])
			require.Contains(t, tb.Logged(), "- Answer in one sentence.")
			require.Contains(t, tb.Logged(), "+ Answer in two sentences.")

			require.Equal(t, int32(1), server.sessions.Load())
			tb = run(t, "1", server, with(changed, &said))
			require.False(t, tb.Failed(), tb.Logged())
			require.Equal(t, int32(2), server.sessions.Load(), "the changed session was bought")
			text, _ := document(t, provider)
			require.Contains(t, text, changed.instructions)
			tb = run(t, "1", unreachable{}, with(changed, &said))
			require.False(t, tb.Failed(), tb.Logged())
			tb = run(t, "", unreachable{}, with(changed, &said))
			require.False(t, tb.Failed(), tb.Logged())
		})
	}
}

// TestLength: a client that says more or less than is recorded is told.
func TestLength(t *testing.T) {
	server := newProvider(t)
	var said []string
	require.False(t, run(t, "1", server, usual.withOpenAI(&said)).Failed())
	more, less := usual, usual
	more.more, less.less = true, true
	tb := run(t, "", unreachable{}, more.withOpenAI(&said))
	require.Contains(t, tb.Logged(), "frame 7 to the server: response.create")
	require.Contains(t, tb.Logged(), "TRACEFORGE_UPDATE=all go test", "an update that keeps what is unchanged fails, below")
	tb = run(t, "", unreachable{}, less.withOpenAI(&said))
	require.Contains(t, tb.Logged(), "it ended before frame 6 to the server: input_audio_buffer.append")

	tb = run(t, "1", server, more.withOpenAI(&said))
	require.True(t, tb.Failed(), "the client was served the recorded session by then")
	require.Contains(t, tb.Logged(), "TRACEFORGE_UPDATE=all go test")
	tb = run(t, "all", server, more.withOpenAI(&said))
	require.False(t, tb.Failed(), tb.Logged())
	tb = run(t, "", unreachable{}, more.withOpenAI(&said))
	require.False(t, tb.Failed(), tb.Logged())
}

// asked is an upstream that notes what it is asked for.
type asked struct {
	http.RoundTripper
	url *string
}

func (a asked) RoundTrip(req *http.Request) (*http.Response, error) {
	*a.url = req.URL.String()
	return a.RoundTripper.RoundTrip(req)
}

// TestGorilla: a client that takes no HTTP client has the dialer. A server's end of a session is replayed, and so is
// its refusal of one.
func TestGorilla(t *testing.T) {
	visit := func(scheme, key string, closed *error, status *int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			header := http.Header{"Authorization": {"Bearer " + key}}
			dialer := websockettraceforge.Dialer(tf)
			dialer.Subprotocols = []string{"realtime", "openai-insecure-api-key." + key}
			conn, resp, err := dialer.Dial(scheme+"://api.openai.com/v1/realtime?model=gpt-realtime", header)
			if resp != nil {
				*status = resp.StatusCode
			}
			if err != nil {
				return
			}
			defer conn.Close()
			if conn.Subprotocol() != "realtime" {
				tb.Errorf("subprotocol %q", conn.Subprotocol())
			}
			_ = conn.WriteMessage(gorilla.TextMessage, []byte(`{"type":"bye"}`))
			for *closed = nil; *closed == nil; {
				_, _, *closed = conn.ReadMessage()
			}
		}
	}
	for _, c := range []struct {
		scheme, key, url string
		status           int
	}{
		{"wss", "right", "https://api.openai.com/v1/realtime?model=gpt-realtime", http.StatusSwitchingProtocols},
		{"ws", "right", "http://api.openai.com/v1/realtime?model=gpt-realtime", http.StatusSwitchingProtocols},
		{"wss", "wrong", "https://api.openai.com/v1/realtime?model=gpt-realtime", http.StatusUnauthorized},
	} {
		t.Run(c.scheme+" "+c.key, func(t *testing.T) {
			var url string
			var upstream http.RoundTripper = asked{newProvider(t), &url}
			for _, mode := range []string{"1", "", ""} {
				var closed error
				var status int
				tb := run(t, mode, upstream, visit(c.scheme, c.key, &closed, &status))
				require.Equal(t, c.url, url)
				require.False(t, tb.Failed(), tb.Logged())
				require.Equal(t, c.status, status)
				if c.status == http.StatusSwitchingProtocols {
					require.Equal(t, &gorilla.CloseError{Code: gorilla.CloseNormalClosure, Text: "bye"}, closed)
				}
				upstream = unreachable{}
			}
		})
	}

	var closed error
	var status int
	tb := run(t, "1", unreachable{}, visit("wss", "right", &closed, &status))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "replay asked https://api.openai.com/v1/realtime")
	require.Equal(t, http.StatusBadGateway, status, "the client is told as well that nobody answers")
}

// TestSecret: what holds a key is not recorded, in either direction, and a rule keeps it out.
func TestSecret(t *testing.T) {
	const key = "zq81hhsd72hsjJSHD72hdkqpMNB18"
	t.Setenv("SHOP_API_KEY", key)
	leaking := usual
	leaking.instructions = "Use the key " + key + "."
	var said, again []string
	server := newProvider(t)
	tb := run(t, "1", server, leaking.withOpenAI(&said))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "SHOP_API_KEY")
	require.NotContains(t, tb.Logged(), key)
	require.NoDirExists(t, filepath.Join(store(t), "openai"))

	for _, mode := range []string{"1", "", ""} {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		tb = tbtest.Run("TestSession", func(tb *tbtest.TB) {
			tf := traceforgetest.New(tb, traceforgetest.Dir(store(t)), traceforgetest.Upstream(server),
				traceforgetest.Scrub(traceforgetest.Value("shop", os.Getenv("SHOP_API_KEY"))))
			leaking.withOpenAI(&again)(tb, tf)
		})
		require.False(t, tb.Failed(), tb.Logged())
		require.Equal(t, said, again)
		text, raw := document(t, "openai")
		require.Contains(t, text, "{{shop")
		require.Contains(t, raw, "{{shop")
		require.NotContains(t, text+raw, key)
	}
	require.Equal(t, int32(2), server.sessions.Load())
}

// resumed talks with genai in two sessions, of which the second goes on with the first by the handle that its server made.
func resumed(ctx context.Context, base, question string) (heard string, err error) {
	client, err := genai.NewClient(ctx, &genai.ClientConfig{APIKey: "test-key", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: strings.Replace(base, "http://", "ws://", 1), APIVersion: "v1beta"}})
	if err != nil {
		return "", err
	}
	config := &genai.LiveConnectConfig{SessionResumption: &genai.SessionResumptionConfig{}}
	for range 2 {
		conn, err := client.Live.Connect(ctx, "gemini-2.5-flash-live", config)
		if err != nil {
			return heard, err
		}
		if err := conn.SendClientContent(genai.LiveClientContentInput{Turns: genai.Text(question)}); err != nil {
			return heard, err
		}
		for config = nil; config == nil; {
			m, err := conn.Receive()
			if err != nil {
				return heard, err
			}
			if content := m.ServerContent; content != nil && content.ModelTurn != nil {
				heard += content.ModelTurn.Parts[0].Text
			}
			if update := m.SessionResumptionUpdate; update != nil {
				config = &genai.LiveConnectConfig{SessionResumption: &genai.SessionResumptionConfig{Handle: update.NewHandle}}
			}
		}
		conn.Close()
	}
	return heard, nil
}

// TestResumedSession: the handle by which a session goes on differs in each recording, and is no drift.
func TestResumedSession(t *testing.T) {
	p := newProvider(t)
	for _, tc := range []struct{ mode, question string }{
		{"1", "Who are you?"}, {"", "Who are you?"}, {"all", "Who are you?"}, {"", "Who are you?"}, {"1", "Who are you?"},
		{"1", "Where are you?"}, {"", "Where are you?"},
	} {
		upstream := http.RoundTripper(p)
		if tc.mode == "" {
			upstream = unreachable{}
		}
		tb := run(t, tc.mode, upstream, func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			heard, err := resumed(t.Context(), tf.URL("google"), tc.question)
			require.NoError(t, err, "%s: %s", tc.mode, tb.Logged())
			require.Equal(t, "It rains.It rains.", heard)
		})
		require.False(t, tb.Failed(), "%s: %s", tc.mode, tb.Logged())
	}
	text, _ := document(t, "google")
	require.Contains(t, text, `"handle": "session_1"`)
}
