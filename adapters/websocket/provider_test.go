package websockettraceforge_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coder "github.com/coder/websocket"
	"github.com/stretchr/testify/require"
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

	resumable bool // Gemini's client has asked for handles by which later sessions go on
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
	maps.Copy(event, members)
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
			Type, Audio, Text string
			Session           map[string]any
			Item              struct {
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
		case "echo":
			s.event("echo", map[string]any{"text": event.Text})
		case "long":
			s.event("long", map[string]any{"text": strings.Repeat("a", 5000)})
		case "break":
			s.event("broke", nil)
			return
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
		maps.Copy(all, at)
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
			s.resumable = strings.Contains(string(frame["setup"]), "sessionResumption")
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
			if s.resumable {
				s.send(map[string]any{"sessionResumptionUpdate": map[string]any{"resumable": true,
					"newHandle": fmt.Sprintf("handle-%d", time.Now().UnixNano())}})
			}
		}
	}
}
