package recorder

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// sessions are those sessions of a test that the store began, and the state that their clients may continue from.
type sessions struct {
	run    *run
	report *report

	served  locked.Map[string, *session]        // by the id that was served
	streams locked.Map[string, json.RawMessage] // by an event's id, what ties its answer to its request: see note
	asked   locked.Map[string, bool]            // by session and id of a served stream's question, whether it was answered

	waiting locked.Map[chan struct{}, bool] // of the waiting calls: gets a value when another call is served
}

// answerAside answers a request that is no call and so is not recorded: it is passed on if its session is live. Whether
// and when it is sent may vary from run to run. It returns nil for a call.
func (l *sessions) answerAside(req *http.Request, w *wire) (*http.Response, error) {
	codec, ok := l.run.codecOf(w)
	if !ok || codec.Session == nil {
		return nil, nil
	}
	asked, err := codec.DecodeRequest(&w.Wire)
	if err != nil {
		return nil, nil // identify takes it
	}
	answer := codec.Session.Aside(&w.Wire, asked)
	if answer == nil {
		return nil, nil
	}
	// no other message is awaited
	if reply := replyOf(codec.Session, w.Header, codec.Session.Answers(&w.Wire)); reply != "" {
		l.note(nil, nil, reply)
	}
	if !l.isLive(codec.Session, w) {
		return unrecordedResponse(req, answer), nil
	}
	live := w.live(req)
	if err := l.join(codec.Session, live); err != nil {
		return nil, err
	}
	return l.run.upstreamOf(live.Context()).RoundTrip(live)
}

// listenEmpty answers a client that listens if nothing was recorded; it returns nil if something was, or the session is
// live.
func (r *Recorder) listenEmpty(req *http.Request, w *wire, c *call) (*http.Response, error) {
	s := c.codec.Session
	if s == nil || !c.listens() || r.run.Mode != Check && r.sessions.isLive(s, w) {
		return nil, nil
	}
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	if err := r.run.openTape(c.provider); err != nil {
		return nil, r.run.asFailure(err)
	}
	if _, how := r.run.tape.find(c.key); how == found {
		return nil, nil
	}
	resp := unrecordedResponse(req, &provider.Answer{Status: http.StatusOK, ContentType: "text/event-stream"})
	body := &replayBody{ctx: req.Context(), report: &r.report}
	body.last()
	resp.Body, resp.ContentLength = body, -1
	return resp, nil
}

// play makes the response of a record to a session's message, and ties it to the request of this run.
func (l *sessions) play(req *http.Request, w *wire, c *call, s *servedRecord) (*http.Response, error) {
	session := c.codec.Session
	answer := rawAnswer(s.record, s.body)
	id, _ := l.streams.Get(req.Header.Get("Last-Event-ID")) // of a client that has received this event
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
	case session.Opens(c.request) && l.run.Mode.Live():
		l.noteOpened(session, req, w, resp.Header.Get(session.Header))
	}
	if id == nil {
		id = session.ID(&w.Wire)
	}
	l.note(provider.EventIDs(answer), id, replyOf(session, w.Header, session.Answers(&w.Wire)))
	// it comes after the replies to what its server asked in the meantime
	if body := resp.Body.(*replayBody); body.events == nil {
		body.pause = func(ctx context.Context) error {
			return l.await(ctx, s.record, func(patient bool) bool {
				end := endOf(s.record).Add(time.Millisecond)
				return !l.run.owes(s.tape, patient, s.record.Timestamp, end, repliesWithin(s.record))
			})
		}
	}
	l.paceStream(resp, c, s)
	return resp, nil
}

// paceStream makes a recorded stream wait for its cues, and stay open if its client listens to it.
func (l *sessions) paceStream(resp *http.Response, c *call, s *servedRecord) {
	body := resp.Body.(*replayBody)
	if body.events == nil {
		return
	}
	events := *body.events
	body.pause = l.cues(c.codec, resp.Request, s, &events, body.pause)
	if c.listens() {
		body.last()
		resp.ContentLength = -1
	}
}

// cues returns what each event of a recorded stream waits for. It waits for the client's replies to earlier questions
// of the server, and, if the server sent it unasked, for the calls that were made before it.
func (l *sessions) cues(codec *provider.Codec, req *http.Request, served *servedRecord, events *provider.Events,
	pace func(context.Context) error) func(context.Context) error {
	record := served.record
	var times []int64
	if codec.Listens(&record.Request) {
		times = record.Response.TimingMS
	}
	var replies []string
	n := 0
	return func(ctx context.Context) error {
		event, _ := events.Next() // the next one
		before := record.Timestamp
		if n < len(times) {
			before = before.Add(time.Duration(times[n]) * time.Millisecond)
		}
		n++
		err := l.await(ctx, record, func(patient bool) bool {
			if !patient {
				replies = nil // the test may no longer make them
			}
			replied := l.asked.All()
			isOpen := func(reply string) bool { return !replied[reply] }
			return !slices.ContainsFunc(replies, isOpen) && !l.run.owes(served.tape, patient, record.Timestamp, before, nil)
		})
		if err == nil && pace != nil {
			err = pace(ctx)
		}
		if s := codec.Session; s != nil {
			if reply := replyOf(s, req.Header, s.Asks(event.Data)); reply != "" {
				replies = append(replies, reply)
				l.asked.Set(reply, false)
			}
		}
		return err
	}
}

// replyOf names the question that a reply with an id answers, in the session of a request; "" without an id.
func replyOf(s *provider.Session, header http.Header, id string) string {
	if id == "" {
		return ""
	}
	return header.Get(s.Header) + " " + id
}

// awaits reports whether a request replies to a question of a served stream. Any other reply is to a live server, which
// may number its questions like the store's.
func (l *sessions) awaits(s *provider.Session, w *wire) bool {
	replied, asked := l.asked.Get(replyOf(s, w.Header, s.Answers(&w.Wire)))
	return asked && !replied
}

// note notes a call that was served. events are the ids of its answer's events, id ties the answer to the request, for
// a stream that is cut, and reply is the question that the call replies to, or "".
func (l *sessions) note(events []string, id json.RawMessage, reply string) {
	if reply != "" {
		l.asked.Set(reply, true)
	}
	for _, event := range events {
		l.streams.Set(event, id)
	}
	for served := range l.waiting.All() {
		select {
		case served <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// wakeAll makes all waiting calls look again, after a failure.
func (l *sessions) wakeAll() { l.note(nil, nil, "") }

// patience is how long a record waits for the next call, beyond the time that its own call took in the recording.
const patience = 30 * time.Second

// await waits until holds is true. It asks after each call that is served, and loses its patience when no call comes
// for long. After a failure such calls may never come, so it does not wait.
func (l *sessions) await(ctx context.Context, record *snapshot.Snapshot, holds func(patient bool) bool) error {
	served := make(chan struct{}, 1)
	l.waiting.Set(served, true)
	defer l.waiting.Delete(served)
	for patient := true; !holds(patient) && !l.report.hasFailed(); {
		select {
		case <-served:
			patient = true
		case <-time.After(patience + time.Duration(record.Response.LatencyMS)*time.Millisecond):
			patient = false
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// owes reports whether the client still has to make a call of a session that a tape recorded between two times. meant
// chooses the calls; nil chooses all. If it is not patient, it gives up on them: the test may no longer make them, and
// would wait for an event that waits for them.
func (r *run) owes(t *tape, patient bool, from, to time.Time, meant func(*snapshot.Snapshot) bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range t.records {
		s := &t.records[i]
		if t.plays[i].missed || s.Timestamp.Before(from) || !s.Timestamp.Before(to) || !isInSession(&s.Request) ||
			meant != nil && !meant(s) || !t.isUncalled(i) {
			continue
		}
		if patient {
			return true
		}
		t.plays[i].missed = true
	}
	return false
}

// repliesWithin chooses the replies made before the end of a call. Both times are cut to milliseconds, so in the last
// one only replies that were answered before the end count: others may belong to a later call, which waits for this
// one.
func repliesWithin(call *snapshot.Snapshot) func(*snapshot.Snapshot) bool {
	return func(s *snapshot.Snapshot) bool {
		return isReply(&s.Request) && (s.Timestamp.Before(endOf(call)) || s.Number() < call.Number())
	}
}

// hasAsked reports whether a live call belonged to a session of that kind, for a server without ids of sessions.
func (r *run) hasAsked(s *provider.Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.takes, func(tk *take) bool { return tk.codec.Session == s })
}

// repeats reports whether a call can be made outside its program's session: it is no reply, its server asked nothing
// meanwhile, and it ends.
func repeats(c *call, record *snapshot.Snapshot) bool {
	asks := func(p modelio.Part) bool { return p.Custom["request"] != nil }
	return c.codec.Session == nil ||
		!slices.ContainsFunc(partsOf(&record.Response.Response), asks) && !c.listens() && !isReply(c.request)
}

// partsOf returns the parts of the first candidate.
func partsOf(r *modelio.Response) []modelio.Part {
	if len(r.Candidates) == 0 {
		return nil
	}
	return r.Candidates[0].Message.Content
}

// dropsQuietly reports whether a take is for a server's own messages, and there were none.
func (tk *take) dropsQuietly() bool {
	if tk.codec.Session == nil || !tk.listens() {
		return false
	}
	resp, err := tk.decode()
	return tk.status >= 300 || err == nil && len(partsOf(resp)) == 0
}

// listens reports whether a call only waits for a server's own messages.
func (c *call) listens() bool { return c.codec.Listens != nil && c.codec.Listens(c.request) }

// isListening is listens for the request of a record.
func isListening(req *modelio.Request) bool {
	codec, known := provider.Named(req.API)
	return known && codec.Listens != nil && codec.Listens(req)
}

// isUnheard reports whether a record is the first stream of an agent's session, without which its client hears nothing.
// The client may open further ones if the server closes it, which replay does not. A client of MCP need not listen.
func (t *tape) isUnheard(i int) bool {
	s := &t.records[i]
	codec, _ := provider.Named(s.Request.API)
	listens := func(r *snapshot.Snapshot) bool { return isListening(&r.Request) }
	return listens(s) && codec.Session == nil && s.Response.Error == nil && !t.isAgain(i, listens)
}

// isCached reports whether a client may have kept the answer of an earlier record. MCP's server allowed it for a time
// (revision 2026-07-28, "Caching") that had passed in the recording, and less passes in replay. Within that time the
// client had another reason to ask again.
func (t *tape) isCached(i int) bool {
	s := &t.records[i]
	codec, known := provider.Named(s.Request.API)
	return known && codec.Session != nil && t.isAgain(i, func(r *snapshot.Snapshot) bool {
		passed := s.Timestamp.Sub(r.Timestamp).Milliseconds() // less than 0 if the earlier one was made again
		return slices.ContainsFunc(partsOf(&r.Response.Response), func(p modelio.Part) bool {
			allowed, err := json.Number(p.Custom["ttlMs"]).Int64()
			return err == nil && allowed > 0 && (passed < 0 || passed >= allowed)
		})
	})
}

// isAgain reports whether a record has the request and the ids of an earlier one that is meant.
func (t *tape) isAgain(i int, meant func(*snapshot.Snapshot) bool) bool {
	s := &t.records[i]
	for j := range i {
		r := &t.records[j] // what takes most is asked last
		if slices.Equal(r.Source.IDs, s.Source.IDs) && meant(r) && store.SameRequest(r, s) {
			return true
		}
	}
	return false
}

// isInSession reports whether a request says something to a server whose own messages a client can listen to.
func isInSession(req *modelio.Request) bool {
	codec, known := provider.Named(req.API)
	return known && codec.Listens != nil && !codec.Listens(req) && (codec.Session != nil || !reads(req))
}

// isReply reports whether a request is a client's reply to its server.
func isReply(req *modelio.Request) bool { return req.Options["method"] == nil }
