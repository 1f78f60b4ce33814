package websockettraceforge_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coder "github.com/coder/websocket"
	gorilla "github.com/gorilla/websocket"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/realtime"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	websockettraceforge "github.com/traceforge/traceforge-go/adapters/websocket"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A provider is a server that speaks the two protocols, as the SDKs' own types describe them.
type provider struct {
	*httptest.Server
	sessions atomic.Int32
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") == "Bearer wrong" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"message":"no such key","type":"invalid_request_error","code":"invalid_api_key"}}`)
			return
		}
		conn, err := coder.Accept(w, req, &coder.AcceptOptions{Subprotocols: []string{"realtime"}})
		if err != nil {
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(1 << 20)
		s := &session{t: t, conn: conn, number: p.sessions.Add(1), model: req.URL.Query().Get("model")}
		if strings.Contains(req.URL.Path, "BidiGenerateContent") {
			s.gemini()
		} else {
			s.openAI()
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// RoundTrip makes a provider the upstream of a test.
func (p *provider) RoundTrip(req *http.Request) (*http.Response, error) {
	to, _ := url.Parse(p.URL)
	live := req.Clone(req.Context())
	live.URL.Scheme, live.URL.Host = to.Scheme, to.Host
	return http.DefaultTransport.RoundTrip(live)
}

type session struct {
	t      *testing.T
	conn   *coder.Conn
	number int32
	model  string
	heard  int // bytes of sound
	said   string
	answer int
	binary bool
}

func (s *session) send(frame map[string]any) {
	text, _ := json.Marshal(frame)
	kind := coder.MessageText
	if s.binary {
		kind = coder.MessageBinary
		text, _ = json.MarshalIndent(frame, "", "  ")
	}
	_ = s.conn.Write(context.Background(), kind, text)
}

func (s *session) event(kind string, members map[string]any) {
	event := map[string]any{"type": kind, "event_id": fmt.Sprintf("event_%d_%d", s.number, time.Now().UnixNano())}
	for name, v := range members {
		event[name] = v
	}
	s.send(event)
}

func (s *session) openAI() {
	s.event("session.created", map[string]any{"session": map[string]any{"type": "realtime", "object": "realtime.session",
		"id": fmt.Sprintf("sess_%d", s.number), "model": s.model}})
	for {
		_, data, err := s.conn.Read(context.Background())
		if err != nil {
			return
		}
		var event struct {
			Type, Audio string
			Session     map[string]any
			Item        struct {
				Type, Output string
				Content      []struct{ Text string }
			}
		}
		if err := json.Unmarshal(data, &event); err != nil {
			s.conn.Close(coder.StatusUnsupportedData, "no JSON")
			return
		}
		switch event.Type {
		case "session.update":
			s.event("session.updated", map[string]any{"session": event.Session})
		case "conversation.item.create":
			s.said = event.Item.Output
			for _, c := range event.Item.Content {
				s.said += c.Text
			}
			s.event("conversation.item.added", map[string]any{"item": map[string]any{"id": fmt.Sprintf("item_u%d", s.number), "type": "message"}})
		case "input_audio_buffer.append":
			sound, _ := base64.StdEncoding.DecodeString(event.Audio)
			if s.heard += len(sound); s.heard == 4800 {
				s.said = "what you said"
				s.event("input_audio_buffer.speech_stopped", map[string]any{"audio_end_ms": 100, "item_id": "item_a"})
				s.event("conversation.item.input_audio_transcription.completed", map[string]any{
					"item_id": "item_a", "content_index": 0, "transcript": "Hello there."})
				s.respond()
			}
		case "response.create":
			s.respond()
		case "bye":
			s.conn.Close(coder.StatusNormalClosure, "bye")
			return
		}
	}
}

// respond answers with a call of a tool to the word weather, else with words and sound.
func (s *session) respond() {
	s.answer++
	id, item := fmt.Sprintf("resp_%d_%d", s.number, s.answer), fmt.Sprintf("item_%d_%d", s.number, s.answer)
	usage := map[string]any{"total_tokens": 30, "input_tokens": 20, "output_tokens": 10,
		"input_token_details": map[string]any{"cached_tokens": 5, "text_tokens": 20}, "output_token_details": map[string]any{"text_tokens": 10}}
	at := map[string]any{"response_id": id, "item_id": item, "output_index": 0, "content_index": 0}
	with := func(name string, v any) map[string]any {
		all := map[string]any{name: v}
		for k, v := range at {
			all[k] = v
		}
		return all
	}
	s.event("response.created", map[string]any{"response": map[string]any{"id": id, "status": "in_progress"}})
	output := map[string]any{"id": item, "object": "realtime.item", "type": "function_call", "status": "completed",
		"call_id": fmt.Sprintf("call_%d_%d", s.number, s.answer), "name": "weather", "arguments": `{"city":"Oslo"}`}
	if strings.Contains(s.said, "weather") {
		s.event("response.function_call_arguments.delta", with("delta", `{"city":"Oslo"}`))
	} else {
		text := "You said: " + s.said
		for _, piece := range strings.SplitAfter(text, " ") {
			s.event("response.output_audio_transcript.delta", with("delta", piece))
			s.event("response.output_audio.delta", with("delta", base64.StdEncoding.EncodeToString(make([]byte, 300))))
		}
		output = map[string]any{"id": item, "object": "realtime.item", "type": "message", "status": "completed", "role": "assistant",
			"content": []any{map[string]any{"type": "output_audio", "transcript": text}}}
	}
	s.event("response.done", map[string]any{"response": map[string]any{"id": id, "object": "realtime.response", "status": "completed",
		"output": []any{output}, "usage": usage}})
}

func (s *session) gemini() {
	s.binary = true
	for {
		_, data, err := s.conn.Read(context.Background())
		if err != nil {
			return
		}
		var frame map[string]json.RawMessage
		require.NoError(s.t, json.Unmarshal(data, &frame))
		switch {
		case frame["setup"] != nil:
			s.send(map[string]any{"setupComplete": map[string]any{}})
		case frame["clientContent"] != nil && strings.Contains(string(frame["clientContent"]), "weather"):
			s.send(map[string]any{"toolCall": map[string]any{"functionCalls": []any{map[string]any{
				"id": fmt.Sprintf("function-call-%d", s.number), "name": "weather", "args": map[string]any{"city": "Oslo"}}}}})
		default:
			for _, piece := range []string{"It ", "rains."} {
				s.send(map[string]any{"serverContent": map[string]any{"modelTurn": map[string]any{"parts": []any{map[string]any{"text": piece}}}}})
			}
			s.send(map[string]any{"serverContent": map[string]any{"modelTurn": map[string]any{"parts": []any{map[string]any{
				"inlineData": map[string]any{"mimeType": "audio/pcm;rate=24000", "data": base64.StdEncoding.EncodeToString(make([]byte, 900))}}}}}})
			s.send(map[string]any{"serverContent": map[string]any{"turnComplete": true},
				"usageMetadata": map[string]any{"promptTokenCount": 7, "responseTokenCount": 3, "totalTokenCount": 10}})
		}
	}
}

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

// A talk is what a user's program says and hears with an SDK.
type talk struct {
	instructions string
	piece        int // bytes of sound at once
	pause        time.Duration
	more         bool // it says more than usual
	less         bool // or less
}

var usual = talk{instructions: "Answer in one sentence.", piece: 960}

// openAI talks with openai-go.
func (say talk) openAI(ctx context.Context, client openai.Client) (heard []string, err error) {
	conn, err := client.Realtime.Connect(ctx, realtime.RealtimeConnectionOptions{}, option.WithQuery("model", "gpt-realtime"))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	send := func(event string) {
		time.Sleep(say.pause)
		if err == nil {
			err = conn.SendRaw(ctx, json.RawMessage(event))
		}
	}
	until := func(kind string) (call string) {
		for err == nil {
			var event realtime.RealtimeServerEventUnion
			if event, err = conn.Recv(ctx); err != nil {
				break
			}
			switch e := event.AsAny().(type) {
			case realtime.ResponseAudioTranscriptDeltaEvent:
				heard = append(heard, e.Delta)
			case realtime.ResponseDoneEvent:
				for _, item := range e.Response.Output {
					if item, ok := item.AsAny().(realtime.RealtimeConversationItemFunctionCall); ok {
						call = item.CallID
						heard = append(heard, item.Name+item.Arguments)
					}
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
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		client := openai.NewClient(option.WithHTTPClient(tf.Client()), option.WithAPIKey("test-key"), option.WithMaxRetries(0))
		var err error
		if *heard, err = say.openAI(ctx, client); err != nil {
			tb.Errorf("openai: %v", err)
		}
	}
}

func (say talk) withGemini(heard *[]string) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
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
			for _, readable := range []string{usual.instructions, "How is the weather?", `"toolRequest"`, "It rains.", `"total"`} {
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
	pointer := map[string]string{"openai": "frame 1 to the server: session.update: /session/instructions", "google": "frame 1 to the server: setup: /setup/systemInstruction"}
	for provider, with := range talks {
		t.Run(provider, func(t *testing.T) {
			server := newProvider(t)
			var said []string
			require.False(t, run(t, "1", server, with(usual, &said)).Failed())
			tb := run(t, "", unreachable{}, with(changed, &said))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), provider+" session drifted from ")
			require.Contains(t, tb.Logged(), pointer[provider])
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

// TestGorilla: a client that takes no HTTP client has the dialer. A server's end of a session is replayed, and so is
// its refusal of one.
func TestGorilla(t *testing.T) {
	visit := func(key string, closed *error, status *int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			header := http.Header{"Authorization": {"Bearer " + key}}
			dialer := websockettraceforge.Dialer(tf)
			dialer.Subprotocols = []string{"realtime", "openai-insecure-api-key." + key}
			conn, resp, err := dialer.Dial("wss://api.openai.com/v1/realtime?model=gpt-realtime", header)
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
		key    string
		status int
	}{{"right", http.StatusSwitchingProtocols}, {"wrong", http.StatusUnauthorized}} {
		t.Run(c.key, func(t *testing.T) {
			var upstream http.RoundTripper = newProvider(t)
			for _, mode := range []string{"1", "", ""} {
				var closed error
				var status int
				tb := run(t, mode, upstream, visit(c.key, &closed, &status))
				require.False(t, tb.Failed(), tb.Logged())
				require.Equal(t, c.status, status)
				if c.status == http.StatusSwitchingProtocols {
					require.Equal(t, &gorilla.CloseError{Code: gorilla.CloseNormalClosure, Text: "bye"}, closed)
				}
				upstream = unreachable{}
			}
		})
	}
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
