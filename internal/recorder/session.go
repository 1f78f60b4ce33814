package recorder

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// sessions are those of a test whose beginning the store served, and what its clients may go on with.
type sessions struct {
	*report

	mu      sync.Mutex
	served  map[string]*session        // by the ids that were served
	streams map[string]json.RawMessage // what ties answers to a request whose stream was cut, by the ids of its events
	replies map[string]bool            // whether clients have answered what a served stream asked, by session and id
	change  chan struct{}              // is closed when another call is served
}

// passThrough answers a request that is no call: it is passed on where its session is live, and not recorded. Whether
// it is sent, and when, may be another in each run. It returns nil for a call.
func (l *sessions) passThrough(req *http.Request, w *wire) (*http.Response, error) {
	codec, ok := l.codecOf(w)
	if !ok || codec.Session == nil {
		return nil, nil
	}
	asked, err := codec.DecodeRequest(&w.Wire)
	if err != nil {
		return nil, nil // for identify
	}
	answer := codec.Session.Aside(&w.Wire, asked)
	switch {
	case answer == nil:
		return nil, nil
	case !l.isLive(codec.Session, w):
		return unrecordedResponse(req, answer), nil
	}
	live := w.live(req)
	if err := l.join(codec.Session, live); err != nil {
		return nil, err
	}
	return l.upstreamOf(live.Context()).RoundTrip(live)
}

// listenEmpty answers a client that listens where nothing was recorded; nil means something was, or the session is
// live.
func (r *Recorder) listenEmpty(req *http.Request, w *wire, c *call) (*http.Response, error) {
	s := c.codec.Session
	if s == nil || !s.Listens(c.request) || r.Mode != Check && r.sessions.isLive(s, w) {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.openTape(c.provider); err != nil {
		return nil, r.asFailure(err)
	}
	if _, how := r.tape.find(c.key); how == found {
		return nil, nil
	}
	resp := unrecordedResponse(req, &provider.Answer{Status: http.StatusOK, ContentType: "text/event-stream"})
	body := &replayBody{ctx: req.Context(), report: &r.report}
	body.last()
	resp.Body, resp.ContentLength = body, -1
	return resp, nil
}

// play makes the response of a record to a message of a session: it is tied to the request of this run.
func (l *sessions) play(req *http.Request, w *wire, c *call, s *servedRecord) (*http.Response, error) {
	session := c.codec.Session
	answer := rawAnswer(s.record, s.body)
	id := l.tiedTo(req.Header.Get("Last-Event-ID"))
	tied := *s
	tied.body = session.Tie(&w.Wire, answer, id)
	resp, err := l.report.responseOf(req, &tied)
	if err != nil {
		return nil, err
	}
	switch was := req.Header.Get(session.Header); {
	case resp.Header.Get(session.Header) == "":
	case was != "":
		resp.Header.Set(session.Header, was)
	case session.Opens(c.request) && l.Mode.Live():
		l.noteOpened(session, req, w, resp.Header.Get(session.Header))
	}
	if id == nil {
		id = session.ID(&w.Wire)
	}
	l.note(provider.EventIDs(answer), id, replyOf(session, w.Header, session.Answers(&w.Wire)))
	body := resp.Body.(*replayBody)
	if body.events != nil {
		body.pause = l.cues(session, req, s.record, answer.Events(), body.pause)
	} else { // it comes after what its server has asked in the meantime was answered
		body.pause = func(ctx context.Context) error {
			return l.await(ctx, func() bool {
				return !l.report.owes(s.record.Timestamp, endOf(s.record).Add(time.Millisecond), repliesWithin(s.record))
			})
		}
	}
	if session.Listens(c.request) {
		body.last()
		resp.ContentLength = -1
	}
	return resp, nil
}

// cues returns what lets each event of a recorded stream wait: until the client has answered the server's earlier
// questions, and an event that the server sent by itself, until the calls that were made before it.
func (l *sessions) cues(s *provider.Session, req *http.Request, record *snapshot.Snapshot, events *provider.Events,
	pace func(context.Context) error) func(context.Context) error {
	var times []int64
	if s.Listens(&record.Request) {
		times = record.Response.TimingMS
	}
	var replies []string
	n := 0
	return func(ctx context.Context) error {
		event, _ := events.Next() // the one that is to come
		before := record.Timestamp
		if n < len(times) {
			before = before.Add(time.Duration(times[n]) * time.Millisecond)
		}
		n++
		err := l.await(ctx, func() bool { return l.replied(replies) && !l.report.owes(record.Timestamp, before, nil) })
		if err == nil && pace != nil {
			err = pace(ctx)
		}
		if reply := replyOf(s, req.Header, s.Asks(event.Data)); reply != "" {
			replies = append(replies, reply)
			l.noteAsked(reply)
		}
		return err
	}
}

// noteAsked notes that a served stream asks for a reply.
func (l *sessions) noteAsked(reply string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.replies[reply] {
		l.replies[reply] = false
	}
}

// replyOf returns what is replied to under an id, in the session of a request; "" means there is no id.
func replyOf(s *provider.Session, header http.Header, id string) string {
	if id == "" {
		return ""
	}
	return header.Get(s.Header) + " " + id
}

// replied reports whether all that a server asked was answered.
func (l *sessions) replied(replies []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !slices.ContainsFunc(replies, func(reply string) bool { return !l.replies[reply] })
}

// isAsked reports whether a served stream asked for a reply.
func (l *sessions) isAsked(reply string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, asked := l.replies[reply]
	return asked
}

// tiedTo returns what ties the answer in the rest of a stream, of which a client has got the event of an id.
func (l *sessions) tiedTo(event string) json.RawMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.streams[event]
}

// note notes a call that was served. It takes the ids of its answer's events, the id that ties the answer to the
// request, and what the call replies to, or "".
func (l *sessions) note(events []string, id json.RawMessage, reply string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streams == nil {
		l.streams, l.replies = map[string]json.RawMessage{}, map[string]bool{}
	}
	if reply != "" {
		l.replies[reply] = true
	}
	for _, event := range events {
		l.streams[event] = id
	}
	if l.change != nil {
		close(l.change)
		l.change = nil
	}
}

// giveUp has those who wait look again, after a failure.
func (l *sessions) giveUp() { l.note(nil, nil, "") }

// await waits until holds is true; it is asked again after each call that is served. After a failure those may never
// come, so nothing is waited for.
func (l *sessions) await(ctx context.Context, holds func() bool) error {
	for {
		l.mu.Lock()
		if l.change == nil {
			l.change = make(chan struct{})
		}
		change := l.change
		l.mu.Unlock()
		if holds() || l.report.hasFailed() {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// owes reports whether the client has not yet made a call of a session that was recorded between two times. meant
// chooses the calls; nil means all.
func (r *run) owes(from, to time.Time, meant func(*snapshot.Snapshot) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.tape.records {
		s := &r.tape.records[i]
		codec, known := provider.Named(s.Request.API)
		if !r.tape.played[i] && known && codec.Session != nil && !codec.Session.Listens(&s.Request) &&
			!s.Timestamp.Before(from) && s.Timestamp.Before(to) && (meant == nil || meant(s)) {
			return true
		}
	}
	return false
}

// repliesWithin chooses the replies that came before the end of a call. Both its times are cut to milliseconds, so in
// the last one only those that were answered before it count: others may be of a call that is yet to come, which waits
// for this one.
func repliesWithin(call *snapshot.Snapshot) func(*snapshot.Snapshot) bool {
	return func(s *snapshot.Snapshot) bool {
		return isReply(&s.Request) && (s.Timestamp.Before(endOf(call)) || s.Number() < call.Number())
	}
}

// hasAsked reports whether a live call was one of a session of that kind, as with a server that has no ids of sessions.
func (r *run) hasAsked(s *provider.Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.takes, func(tk *take) bool { return tk.codec.Session == s })
}

// repeats reports whether a call can be made beside its program's session. Such a call is no reply, its server asked
// nothing in the meantime, and it ends.
func repeats(c *call, record *snapshot.Snapshot) bool {
	s := c.codec.Session
	if s == nil {
		return true
	}
	asks := func(p modelio.Part) bool { return p.Custom["request"] != nil }
	return !slices.ContainsFunc(partsOf(&record.Response.Response), asks) && !s.Listens(c.request) && !isReply(c.request)
}

// partsOf returns the parts of the first candidate.
func partsOf(r *modelio.Response) []modelio.Part {
	if len(r.Candidates) == 0 {
		return nil
	}
	return r.Candidates[0].Message.Content
}

// dropsQuietly reports whether a take is of what a server says of itself, and it said nothing.
func (tk *take) dropsQuietly() bool {
	if !listens(tk.request) {
		return false
	}
	resp, err := tk.decode()
	return tk.status >= 300 || err == nil && len(partsOf(resp)) == 0
}

// listens reports whether what answers a request is what a server says of itself, which nobody has to listen to.
func listens(req *modelio.Request) bool {
	codec, known := provider.Named(req.API)
	return known && codec.Session != nil && codec.Session.Listens(req)
}

// isReply reports whether a request is what a client answers its server.
func isReply(req *modelio.Request) bool { return req.Options["method"] == nil }
