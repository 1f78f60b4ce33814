package recorder

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/websocket"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A talker is an upstream whose sessions have numbers. They greet, and answer an update and each frame of type "ask". A
// frame that no client waits for follows the answer.
type talker struct {
	http.RoundTripper // of calls
	sessions          atomic.Int32
}

func (u *talker) RoundTrip(req *http.Request) (*http.Response, error) {
	if !websocket.Asked(req.Method, req.Header) {
		return u.RoundTripper.RoundTrip(req)
	}
	theirs, ours := net.Pipe()
	go u.talk(websocket.New(ours, false, 1<<20))
	return &http.Response{StatusCode: http.StatusSwitchingProtocols, Request: req, Body: theirs, Header: http.Header{
		"Sec-Websocket-Accept": {websocket.Accept(req.Header.Get("Sec-Websocket-Key"))}}}, nil
}

func (u *talker) talk(conn *websocket.Conn) {
	defer conn.HangUp()
	say := func(kind, text string) error {
		return conn.Write(websocket.Message{Data: fmt.Appendf(nil, `{"type":%q,"text":%q}`, kind, text)})
	}
	number := fmt.Sprint(u.sessions.Add(1))
	err := say("greeting", number)
	for err == nil {
		var m websocket.Message
		m, err = conn.Read()
		switch {
		case err != nil:
		case string(m.Data) == update:
			err = say("updated", number)
		case strings.Contains(string(m.Data), "ask"):
			err = say("answer", number+string(m.Data))
			_ = say("limits", "unread")
		}
	}
}

// A talking is the client's end of a session.
type talking struct {
	t      *testing.T
	stream io.ReadWriteCloser
	conn   *websocket.Conn
	heard  string
}

func realtimeRequest(t *testing.T) *http.Request {
	req, err := http.NewRequest(http.MethodGet, "https://api.openai.com/v1/realtime?model=m", nil)
	require.NoError(t, err)
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Extensions": {"permessage-deflate"}, "Sec-Websocket-Key": {websocket.NewKey()}}
	return req
}

func dialRealtime(t *testing.T, r *Recorder) *talking {
	resp, err := r.RoundTrip(realtimeRequest(t))
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, resp.StatusCode)
	s := &talking{t: t, stream: resp.Body.(io.ReadWriteCloser)}
	s.conn = websocket.New(s.stream, true, 1<<20)
	return s
}

func (s *talking) say(text string) {
	require.NoError(s.t, s.conn.Write(websocket.Message{Data: []byte(text)}))
}

// hear reads on until a frame of a type. It reports whether it came, and was not refused.
func (s *talking) hear(kind string) bool {
	for {
		m, err := s.conn.Read()
		if closed := asA[*websocket.CloseError](err); closed != nil && closed.Code == websocket.Refused {
			return false
		}
		require.NoError(s.t, err)
		if strings.Contains(string(m.Data), fmt.Sprintf("{%q:%q", "type", kind)) {
			s.heard += string(m.Data)
			return true
		}
	}
}

const update = `{"type":"session.update","session":{"type":"realtime","instructions":"Be brief."}}`

func (s *talking) ask(texts ...string) {
	s.hear("greeting")
	s.say(update)
	s.hear("updated")
	for _, text := range texts {
		s.say(fmt.Sprintf(`{"type":"ask","text":%q}`, text))
		if !s.hear("answer") {
			return
		}
	}
}

// endings are the ways in which a client ends a session before it begins the next. Some give what the end of the test
// has to wait for.
var endings = map[string]func(*talking) (rest func()){
	"closes": func(s *talking) func() {
		require.NoError(s.t, s.conn.Close(websocket.Normal, ""))
		for err := error(nil); err == nil; {
			_, err = s.conn.Read()
		}
		s.stream.Close()
		return nil
	},
	"leaves": func(s *talking) func() {
		s.stream.Close()
		return nil
	},
	"speaks and leaves": func(s *talking) func() {
		s.say(`{"type":"note"}`)
		s.stream.Close()
		return nil
	},
	"stays": func(s *talking) func() { return func() { s.stream.Close() } },
}

// TestOrderOfSequentialSessions: sessions that a program makes one after the other are recorded in their order, however
// they end, also between calls. The end of a session is seen only after the next may have begun.
func TestOrderOfSequentialSessions(t *testing.T) {
	t.Parallel()
	const runs, sessions = 8, 20
	for name, ends := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range runs {
				s := newScene(t)
				program := func(mode Mode, upstream http.RoundTripper) (heard []string) {
					told, _ := s.run(mode, func(r *Recorder) {
						for n := range sessions {
							one := dialRealtime(t, r)
							one.ask(fmt.Sprintf("%02d", sessions-n)) // sorted, the last would be the first
							if rest := ends(one); rest != nil {
								defer rest()
							}
							heard = append(heard, one.heard)
							if n%4 == 0 {
								asks(fmt.Sprint(n))(r)
							}
						}
					}, func(o *Options) { o.Upstream = upstream })
					require.Empty(t, told)
					return heard
				}
				recorded := program(UpdateAll, &talker{RoundTripper: s.provider.Transport()})
				var want []string
				for n := range sessions {
					want = append(want, fmt.Sprintf(`"%02d"`, sessions-n))
					if n%4 == 0 {
						want = append(want, "call")
					}
				}
				require.Equal(t, want, s.asked())
				require.Equal(t, recorded, program(Replay, nil))
			}
		})
	}
}

// TestOrderOfConcurrentSessions: sessions that overlap are recorded in the order of what they say, whoever dials first.
func TestOrderOfConcurrentSessions(t *testing.T) {
	t.Parallel()
	words := []string{"a", "b", "c", "d"}
	for n := range 100 {
		s := newScene(t)
		told, _ := s.run(UpdateAll, func(r *Recorder) {
			var dialed, done sync.WaitGroup
			dialed.Add(len(words))
			for i := range words {
				one := dialRealtime(t, r)
				done.Go(func() {
					dialed.Done()
					dialed.Wait()
					one.ask(words[(i+n)%len(words)])
					one.stream.Close()
				})
			}
			done.Wait()
		}, func(o *Options) { o.Upstream = &talker{} })
		require.Empty(t, told)
		require.Equal(t, []string{`"a"`, `"b"`, `"c"`, `"d"`}, s.asked())
	}
}

// asked returns what each recorded session asked, and "call" for each other record.
func (s *scene) asked() (order []string) {
	for _, record := range s.stored().Document.Snapshots {
		asked := "call"
		if record.Request.API == "openai.realtime" {
			asked = string(record.Request.Messages[1].Content[0].Custom["text"])
		}
		order = append(order, asked)
	}
	return order
}

// TestUpdateOfSetUpSession: an update buys a session alone whose first question changed. The run that buys it has been
// served the recorded beginning, and replay serves the new one. After an answer it is too late.
func TestUpdateOfSetUpSession(t *testing.T) {
	t.Parallel()
	const tooLate = "the provider has to be asked from the beginning"
	for _, c := range []struct {
		name, why string
		mode      Mode
		asks      []string
		tooLate   bool
	}{
		{"first question", "no model has answered", Update, []string{"new", "last"}, false},
		{"both questions", "nor here", Update, []string{"new", "newer"}, false},
		{"no second question", "nor here", Update, []string{"new"}, false},
		{"last question", "the client had a recorded answer", Update, []string{"first", "new"}, true},
		{"with tools", "this mode does what an update does", UpdateTools, []string{"new", "last"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			upstream := &talker{RoundTripper: s.provider.Transport()}
			run := func(mode Mode, texts ...string) (heard string, told []*Failure, did usage.Receipt) {
				told, did = s.run(mode, func(r *Recorder) {
					asks("before")(r)
					one := dialRealtime(t, r)
					defer one.stream.Close()
					one.ask(texts...)
					heard = one.heard
					asks("after")(r)
				}, func(o *Options) { o.Upstream = upstream })
				return heard, told, did
			}
			_, told, _ := run(Update, "first", "last")
			require.Empty(t, told)
			_, told, _ = run(Replay, c.asks...)
			require.Len(t, told, 1)
			require.Equal(t, c.tooLate, strings.Contains(told[0].Text, tooLate), c.why)

			bought, told, did := run(c.mode, c.asks...)
			if c.tooLate {
				require.Len(t, told, 1)
				require.Contains(t, told[0].Text, tooLate)
				require.EqualValues(t, 1, upstream.sessions.Load())
				return
			}
			require.Empty(t, told, c.why)
			require.Len(t, did.Recorded, 1)
			require.Len(t, did.Played, 2)
			begin := `{"type":"greeting","text":"%[1]d"}{"type":"updated","text":"%[1]d"}`
			rest, cut := strings.CutPrefix(bought, fmt.Sprintf(begin, 1))
			require.True(t, cut)
			replayed, told, _ := run(Replay, c.asks...)
			require.Empty(t, told)
			require.Equal(t, fmt.Sprintf(begin, 2)+rest, replayed)
		})
	}
}

// TestSessionsThatAreNotKept says of a live session why it is not recorded. One that its test leaves open is.
func TestSessionsThatAreNotKept(t *testing.T) {
	t.Setenv("TRACEFORGE_MAX_BYTES", "20000")
	talks := func(text string) func(*Recorder) {
		return func(r *Recorder) { dialRealtime(t, r).ask(text) }
	}
	dials := func(r *Recorder) {
		resp, err := r.RoundTrip(realtimeRequest(t))
		if err == nil {
			resp.Body.Close()
		}
	}
	another := roundTripper(func(req *http.Request) (*http.Response, error) {
		here, there := net.Pipe()
		there.Close()
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Request: req, Body: here, Header: http.Header{}}, nil
	})
	compresses := roundTripper(func(req *http.Request) (*http.Response, error) {
		require.Empty(t, req.Header.Get("Sec-Websocket-Extensions"), "its messages would be compressed in the record")
		return (&talker{}).RoundTrip(req)
	})
	for _, c := range []struct {
		name     string
		mode     Mode
		checking usage.CheckOptions
		upstream http.RoundTripper
		test     func(*Recorder)
		want     string // of the failure; empty for a session that is kept
	}{
		{"stays open", Update, usage.CheckOptions{}, compresses, talks("a"), ""},
		{"too long", Update, usage.CheckOptions{}, &talker{}, talks(strings.Repeat("long ", 3000)), "more than 20000 bytes"},
		{"another protocol", Update, usage.CheckOptions{}, another, dials, "the upstream switches protocols, and not to a WebSocket"},
		{"forked", Mixed, usage.CheckOptions{From: 1, Old: "m", New: "n"}, &talker{}, dials, "is a session over a WebSocket, which cannot be forked"},
		{"forked later", Mixed, usage.CheckOptions{From: 2}, &talker{}, dials, "is a session over a WebSocket, which cannot be forked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			told, _ := s.run(c.mode, c.test, func(o *Options) { o.Upstream, o.Checking = c.upstream, c.checking })
			if c.want == "" {
				require.Empty(t, told)
				require.Equal(t, []string{`"a"`}, s.asked())
				return
			}
			require.NotEmpty(t, told)
			require.Contains(t, told[0].Text, c.want)
			require.Nil(t, s.stored())
		})
	}
}

// TestForgedSession fails a test once for a session whose record says something else than it serves.
func TestForgedSession(t *testing.T) {
	s := newScene(t)
	talks := func(r *Recorder) {
		one := dialRealtime(t, r)
		one.ask("a")
		one.stream.Close()
	}
	told, _ := s.run(Update, talks, func(o *Options) { o.Upstream = &talker{} })
	require.Empty(t, told)
	s.forge(func(_ int, _ *snapshot.Snapshot, raw string) string {
		return strings.Replace(raw, "answer", "reply", 1)
	})
	told, _ = s.run(Replay, func(r *Recorder) {
		one := dialRealtime(t, r)
		one.ask()
		one.say(`{"type":"ask","text":"a"}`)
		one.hear("reply")
		one.stream.Close()
	})
	require.Len(t, told, 1)
	require.Contains(t, told[0].Text, "call 1, says one thing and serves another")
}

// TestSilentSession: of a session in which the client says nothing, the handshake alone tells another model.
func TestSilentSession(t *testing.T) {
	s := newScene(t)
	dials := func(model string) func(*Recorder) {
		return func(r *Recorder) {
			req := realtimeRequest(t)
			req.URL.RawQuery = "model=" + model
			resp, err := r.RoundTrip(req)
			require.NoError(t, err)
			_, _ = websocket.New(resp.Body.(io.ReadWriteCloser), true, 1<<20).Read()
			resp.Body.Close()
		}
	}
	told, _ := s.run(Update, dials("m"), func(o *Options) { o.Upstream = &talker{} })
	require.Empty(t, told)
	told, _ = s.run(Replay, dials("m"))
	require.Empty(t, told)
	told, _ = s.run(Replay, dials("n"))
	require.Len(t, told, 1)
	require.Contains(t, told[0].Text, "has no snapshot: the test has 1 recorded call, and none fits it\n  model: n\n")
}

// TestDriftOfASessionHoldsNoSecret: what a client says otherwise is neither printed nor in a receipt if it is a secret.
func TestDriftOfASessionHoldsNoSecret(t *testing.T) {
	t.Setenv("SOME_API_KEY", "correct-horse-battery-staple")
	s := newScene(t)
	asks := func(text string) func(*Recorder) {
		return func(r *Recorder) {
			one := dialRealtime(t, r)
			one.ask(text)
			one.stream.Close()
		}
	}
	told, _ := s.run(Update, asks("a"), func(o *Options) { o.Upstream = &talker{} })
	require.Empty(t, told)
	told, did := s.run(Replay, asks("my key is correct-horse-battery-staple"))
	require.Len(t, told, 1)
	require.Contains(t, told[0].Text, "session drifted from")
	receipt, err := json.Marshal(did)
	require.NoError(t, err)
	require.Contains(t, string(receipt), "my key is")
	require.NotContains(t, told[0].Text+string(receipt), "horse")
}
