package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/websocket"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A realtime session over a WebSocket is one call, which is known when the session has ended: its request is all that
// the client said. The recorder is the client's server and, while it records, the provider's client.
type realtime struct {
	r       *Recorder
	req     *http.Request // the handshake
	wire    *wire
	opening *call // the call as far as the handshake tells it
	source  snapshot.Source
	started time.Time
	began   int64 // see take.began
	client  *websocket.Conn
	stream  net.Conn // to the client
	out     outbox   // of messages to the client
	done    chan struct{}
	ended   atomic.Bool      // done is closed, which no other testing/synctest bubble may ask
	silent  atomic.Bool      // the test has failed because the client was silent
	passed  []provider.Frame // what the client was served from records

	replayed *replayedSession // the run's lock guards this and the next three
	served   provider.Place   // how far the client had come when it was last answered
	compared int              // how many messages were compared with the record
	over     bool             // the session keeps this record

	mu      sync.Mutex
	sent    []byte // the client's frames, as lines
	at      provider.Progress
	raw     []byte // the server's frames, while recording
	endless bool   // the session is too long to keep
	server  *websocket.Conn
	hangUp  func() // ends the connection with the provider
}

// realtimeDrain is how long a session may go on after its test has ended, so that the last messages arrive.
const realtimeDrain = time.Second

// realtime opens a session. If the handshake's answer opens none, it is an answer like that of any call.
func (r *Recorder) realtime(req *http.Request, w *wire, c *call) (*http.Response, error) {
	if f := r.report.repeatedFailure(c); f != nil {
		return nil, f
	}
	s := &realtime{r: r, req: req, wire: w, opening: c, source: r.run.Source(), started: clock(),
		began: r.run.steps.Add(1), done: make(chan struct{}),
		served: provider.Place{Messages: -1}} // before the greeting
	if plain, err := s.find(); plain || err != nil {
		return nil, r.report.failUnlessRecorded(c, err)
	}
	subprotocol := ""
	if s.replayed != nil {
		subprotocol = s.replayed.subprotocol
	} else {
		resp, err := s.dial(req.Context())
		if resp == nil || resp.StatusCode != http.StatusSwitchingProtocols {
			return s.recordRefusal(resp, err)
		}
		subprotocol = resp.Header.Get("Sec-Websocket-Protocol")
	}
	resp := s.open(req, subprotocol)
	if !r.addRealtime(s) {
		s.stream.Close()
		return nil, r.run.lateFailure(w)
	}
	go s.out.send(s.client)
	go s.run()
	return resp, nil
}

// run serves or relays the session until it ends.
func (s *realtime) run() {
	defer close(s.done)
	defer s.ended.Store(true)
	defer s.stream.Close()
	defer s.out.hangUp()
	if s.replayed != nil {
		err := s.play()
		if err == nil {
			return
		}
		if err == errBuy {
			err = s.redial()
		}
		if err != nil {
			s.refuse(err)
			return
		}
	}
	s.relay()
}

// open returns the answer to the handshake. Its body is the connection.
func (s *realtime) open(req *http.Request, subprotocol string) *http.Response {
	theirs, ours := net.Pipe()
	s.stream, s.client = ours, websocket.New(ours, false, s.r.run.store.MaxBytes())
	s.out.changed, s.out.steps, s.out.over = sync.NewCond(&s.out.mu), &s.r.run.steps, make(chan struct{})
	header := http.Header{
		"Connection":           {"Upgrade"},
		"Upgrade":              {"websocket"},
		"Sec-Websocket-Accept": {websocket.Accept(req.Header.Get("Sec-Websocket-Key"))},
	}
	if subprotocol != "" {
		header.Set("Sec-Websocket-Protocol", subprotocol)
	}
	resp := unrecordedResponse(req, &provider.Answer{Status: http.StatusSwitchingProtocols})
	resp.Header, resp.Body = header, theirs
	return resp
}

// dial asks the provider for a connection, and keeps the subprotocol that it chose.
func (s *realtime) dial(ctx context.Context) (*http.Response, error) {
	live := s.req.Clone(ctx)
	live.Header.Set("Sec-Websocket-Key", websocket.NewKey())
	live.Header.Del("Sec-Websocket-Extensions") // the record has the messages, which are not compressed
	live.Header.Del("Accept-Encoding")
	resp, err := s.r.run.upstreamOf(ctx).RoundTrip(live)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		return resp, err
	}
	stream, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || resp.Header.Get("Sec-Websocket-Accept") != websocket.Accept(live.Header.Get("Sec-Websocket-Key")) {
		resp.Body.Close()
		return nil, errors.New("traceforge: the upstream switches protocols, and not to a WebSocket")
	}
	if chosen := resp.Header.Get("Sec-Websocket-Protocol"); chosen != "" {
		s.keepFrame(provider.Frame{Open: chosen}, provider.Place{})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = websocket.New(stream, true, s.r.run.store.MaxBytes())
	s.hangUp = sync.OnceFunc(func() { stream.Close() })
	return resp, nil
}

// recordRefusal records the answer of a provider that opens no session.
func (s *realtime) recordRefusal(resp *http.Response, err error) (*http.Response, error) {
	begun, failure := s.take(s.opening) // the client said nothing more
	if failure != nil {
		return nil, failure
	}
	begun.take.setProvenance(snapshot.ProvenanceOf(s.req.Context()))
	return s.r.keepAnswer(s.req, s.wire, begun.take, resp, err)
}

func (s *realtime) take(c *call) (*servedRecord, error) {
	s.r.run.mu.Lock()
	defer s.r.run.mu.Unlock()
	s.r.run.nameGiven(c)
	return s.r.startTake(c, "")
}

// addRealtime notes a session that has begun. It returns false if the test has ended.
func (r *Recorder) addRealtime(s *realtime) bool {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	if !r.run.ended {
		r.realtimes = append(r.realtimes, s)
	}
	return !r.run.ended
}

// endRealtime ends the sessions that the test has left open.
func (r *Recorder) endRealtime() {
	r.run.mu.Lock()
	open := slices.Clone(r.realtimes)
	r.run.mu.Unlock()
	patience := time.After(realtimeDrain)
	for _, s := range open {
		if s.ended.Load() {
			continue
		}
		select {
		case <-s.done:
			continue
		case <-patience:
		}
		s.stream.Close()
		<-s.done
		patience = time.After(0)
	}
}

// noteFrame notes a frame of the client. goesOn reports that its message is not complete.
func (s *realtime) noteFrame(m websocket.Message) (f provider.Frame, goesOn bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f = provider.Frame{Binary: m.Binary, Data: m.Data}
	goesOn = s.at.Take(s.opening.codec.Realtime, f)
	if s.bounded() {
		s.sent = provider.AppendFrame(s.sent, f)
	}
	return f, goesOn
}

// place returns how far the client has come in the session.
func (s *realtime) place() provider.Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at.Place
}

// keepFrame keeps a frame of the server, and how far the client had come before it.
func (s *realtime) keepFrame(f provider.Frame, after provider.Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.After = after
	if s.bounded() {
		s.raw = provider.AppendFrame(s.raw, f)
	}
}

func (s *realtime) bounded() bool {
	s.endless = s.endless || int64(len(s.raw)+len(s.sent)) > s.r.run.store.MaxBytes()
	return !s.endless
}

// call returns the call that the client's frames make so far.
func (s *realtime) call() (*call, error) {
	w := *s.wire
	s.mu.Lock()
	w.Body = slices.Clone(s.sent)
	s.mu.Unlock()
	return s.r.run.identify(&w)
}

// relay passes messages between the two sides until one ends the session, and records it.
func (s *realtime) relay() {
	heard := make(chan error, 1)
	go func() { heard <- s.listen() }()
	var gone error // why the client's messages ended
	left := make(chan struct{})
	go func() {
		defer close(left)
		for {
			m, err := s.client.Read()
			if err != nil {
				gone = err
				return
			}
			s.noteFrame(m)
			_ = s.server.Write(m) // after an error, listen gets the provider's reason
		}
	}()
	how := whole
	var broke error
	select {
	case <-left:
		if isGone(gone) {
			s.keepFrame(provider.Frame{Close: &provider.Closing{}}, s.place())
		} else {
			how, broke = broken, fmt.Errorf("a frame of the client's: %w", gone)
		}
		_ = s.server.Close(websocket.Normal, "")
	case err := <-heard:
		if closed := asA[*websocket.CloseError](err); closed != nil {
			s.keepFrame(
				provider.Frame{Close: &provider.Closing{ByServer: true, Code: closed.Code, Reason: closed.Reason}}, s.place())
			s.out.close(closed.Code, closed.Reason)
		} else {
			how, broke = broken, err
			s.out.hangUp()
		}
		select {
		case <-left:
		case <-time.After(drainTime):
		}
	}
	s.hangUp()
	s.out.hangUp()
	s.stream.Close()
	<-left
	<-s.out.over
	s.keepSession(how, broke)
}

// isGone reports whether an error means that the client left, rather than that it sent a bad frame.
func isGone(err error) bool {
	return isA[*websocket.CloseError](err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)
}

// listen passes on the provider's messages until the connection ends.
func (s *realtime) listen() error {
	for {
		m, err := s.server.Read()
		if err != nil {
			return err
		}
		s.keepFrame(provider.Frame{Binary: m.Binary, Data: m.Data}, s.place())
		s.out.put(m)
	}
}

// keepSession makes a take of a session that has ended.
func (s *realtime) keepSession(how ending, broke error) {
	c, err := s.call()
	if err != nil {
		s.r.report.failAt(s.wire, s.opening.id(), s.r.run.asFailure(err), s.source)
		return
	}
	begun, err := s.take(c)
	if err != nil {
		return // the test has ended
	}
	tk := begun.take
	tk.mu.Lock()
	tk.source, tk.started, tk.complete = s.source, s.started, nil
	tk.began, tk.heard, tk.steps = s.began, s.out.heard, nil // its end is seen late: the client may have dialed again
	tk.mu.Unlock()
	tk.begin(http.StatusSwitchingProtocols, http.Header{"Content-Type": {"application/x-ndjson"}})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.endless || errors.Is(broke, websocket.ErrTooLong) {
		how = endless
	}
	tk.receive(s.raw)
	tk.end(how, broke)
}
