package recorder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/websocket"
	"github.com/traceforge/traceforge-go/modelio"
)

// realtimePatience is how long a client may be silent when the record goes on with one of its messages, before the test
// fails. It is longer than any intended pause.
var realtimePatience = 30 * time.Second

// A replayedSession is the record that a session replays.
type replayedSession struct {
	*openProof
	subprotocol string
	frames      []provider.Frame // the server's frames that were not sent yet
}

// find lets the session replay the first unplayed record with the same handshake, unless the mode makes it live. If
// there is none, the mode must buy what is missing. plain reports that this record is no session: the provider answered
// the handshake like any call.
func (s *realtime) find() (plain bool, err error) {
	r := s.r
	if err := r.run.inherit(s.opening); err != nil {
		return false, err
	}
	switch o := &r.run.Checking; {
	case r.run.Imports():
		return false, failuref(
			fmt.Sprintf("%s is a session over a WebSocket, which no recording of another tool and no script has", s.wire))
	case r.run.Mode == Mixed && (o.From > 1 || o.New != ""):
		return false, failuref(fmt.Sprintf("%s is a session over a WebSocket, which cannot be forked", s.wire),
			"run it without from and model in "+usage.CheckEnv)
	case r.run.Mode == UpdateAll, r.run.Mode == Mixed && o.Covers(s.opening.codec.Tools):
		return false, nil
	}
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	if _, err := r.run.document(s.opening.provider); err != nil {
		return false, err
	}
	switch i := s.next(s.opening, 0); {
	case i < 0:
	case r.run.tape.records[i].Response.Status != http.StatusSwitchingProtocols:
		plain = true
	case !modes[r.run.Mode].writes ||
		r.run.tape.records[i].Response.Stale == "" && r.run.tape.isScrubbed(i) && r.run.tape.whole(i):
		s.replayed, err = s.beginReplay(i)
	}
	if s.replayed == nil && !plain && err == nil && !modes[r.run.Mode].completes {
		err = r.report.unrecordedFailure(s.opening)
	}
	return plain, err
}

// next returns the first unplayed record that begins with the same number of messages of a session, or -1.
func (s *realtime) next(c *call, messages int) int {
	t := s.r.run.tape
	for i := range t.records {
		if !t.plays[i].played && t.comparable(i, c) && samePointers(t.records[i].Source.Ignored, s.r.run.Ignored) &&
			s.beginAlike(t.request(i), c.request, messages) {
			return i
		}
	}
	return -1
}

// beginAlike reports whether the first messages of two sessions are equal.
func (s *realtime) beginAlike(recorded, got *modelio.Request, messages int) bool {
	return s.beginning(recorded, messages) == s.beginning(got, messages)
}

// beginning returns the key of the first messages of a session, or of no session if it has fewer. Without messages it
// leaves out the model, which the first message may name.
func (s *realtime) beginning(req *modelio.Request, messages int) key {
	if messages > len(req.Messages) {
		return key{provider: "none"}
	}
	short := *req
	short.Messages = req.Messages[:messages]
	if messages == 0 {
		short.Model = ""
	}
	// a part of a request with a key has one too
	k, _, _, _ := keyed(s.opening.provider, "", &short, s.r.run.Ignored, s.r.run.rules.Stored)
	return k
}

// beginReplay begins to replay a record.
func (s *realtime) beginReplay(i int) (*replayedSession, error) {
	t := s.r.run.tape
	if in := s.r.run.faults.next(t.records[i].Number()); in != nil && modes[s.r.run.Mode].injects {
		in.used, in.unfitted = true, true
		return nil, failuref(fmt.Sprintf("fault cannot be injected: %s, %s: the call is a session over a WebSocket",
			s.r.run.recordName(i), in.Name))
	}
	d, err := s.r.run.openProofOf(nil, i)
	if err != nil {
		return nil, err
	}
	if rules := t.hiding(i, d.raw); rules != nil {
		return nil, s.r.report.hiddenFailure(s.opening, i, rules)
	}
	frames, err := provider.Frames(d.raw)
	if err != nil {
		return nil, failuref(fmt.Sprintf("%s: the raw answer: %v", s.r.run.recordName(i), err), "accept: "+s.r.run.Accept)
	}
	p := &replayedSession{openProof: d, frames: frames}
	if len(frames) > 0 && frames[0].Open != "" {
		p.subprotocol, p.frames = frames[0].Open, frames[1:]
	}
	t.plays[i].played = true
	return p, nil
}

// errBuy means that the session must be made live, because a message is not the recorded one.
var errBuy = errors.New("the session has to be made")

// play replays the record, as far as the client's messages agree with it.
func (s *realtime) play() error {
	silence := time.AfterFunc(realtimePatience, s.fallSilent)
	defer silence.Stop()
	var err error
	for c, ended := s.opening, false; ; {
		if !ended {
			if ended, err = s.sendNext(c); err != nil {
				return err
			}
		}
		m, gone := s.client.Read()
		if gone != nil {
			if s.silent.Load() {
				return nil // fallSilent has failed the test
			}
			if !isGone(gone) {
				return failuref(fmt.Sprintf("%s session ended at a frame of the client's: %v", s.opening.provider, gone))
			}
			return s.conclude()
		}
		silence.Reset(realtimePatience)
		f, goesOn := s.noteFrame(m)
		if stream, _, _ := s.opening.codec.Realtime.Piece(f); goesOn || stream != "" {
			continue // until the message is complete
		}
		if c, err = s.call(); err == nil {
			err = s.compare(c)
		}
		if err != nil {
			return err
		}
	}
}

// redial makes a session live whose client has only set it up. The provider is told the same, and its answers are kept
// but not passed on, as far as the client was served recorded ones.
func (s *realtime) redial() error {
	resp, err := s.dial(context.WithoutCancel(s.req.Context()))
	switch {
	case err != nil:
		return failuref(noAnswer(s.opening.provider, err) + ": it was not recorded")
	case resp.StatusCode != http.StatusSwitchingProtocols:
		resp.Body.Close()
		return failuref(fmt.Sprintf("%s answered %s, and no session: it was not recorded", s.opening.provider, resp.Status))
	}
	slow := time.AfterFunc(realtimePatience, s.hangUp)
	defer slow.Stop()
	said, err := provider.Frames(s.sent)
	var at provider.Progress
	for n := 0; n < len(said) && err == nil; n++ {
		for ; len(s.passed) > 0 && !at.Before(s.passed[0].After); s.passed = s.passed[1:] {
			m, err := s.server.Read()
			if err != nil {
				s.hangUp()
				return failuref(fmt.Sprintf("%s did not begin the session as the recorded one begins: %v", s.opening.provider, err),
					"accept: "+s.r.run.with(UpdateAll.String()))
			}
			s.keepFrame(provider.Frame{Binary: m.Binary, Data: m.Data}, at.Place)
		}
		at.Take(s.opening.codec.Realtime, said[n])
		err = s.server.Write(websocket.Message{Binary: said[n].Binary, Data: said[n].Data})
	}
	return err
}

// onlySetUp reports whether all messages of a client set its session up, so that no model has answered.
func onlySetUp(messages []modelio.Message) bool {
	return !slices.ContainsFunc(messages, func(m modelio.Message) bool { return m.Role != modelio.RoleSystem })
}

// failTest fails the test, and closes the connection with a code after which no client tries again.
func (s *realtime) failTest(f *Failure) {
	err := s.r.report.failAt(s.wire, s.opening.id(), f, s.source)
	_ = s.stream.SetWriteDeadline(time.Now().Add(drainTime))
	_ = s.client.Close(websocket.Refused, err.Error())
}

// refuse fails the test with tell, and waits until the client has closed its side. A client that is still writing hears
// of the end only if its messages are read meanwhile.
func (s *realtime) refuse(err error) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for {
			if _, err := s.client.Read(); err != nil {
				return
			}
		}
	}()
	s.failTest(s.r.run.asFailure(err))
	_ = s.stream.SetReadDeadline(time.Now().Add(drainTime))
	<-closed
}

// sendNext sends the server's frames that followed what the client has said so far. ended reports that the server ended
// the session.
func (s *realtime) sendNext(c *call) (ended bool, err error) {
	s.r.run.mu.Lock()
	defer s.r.run.mu.Unlock()
	p := s.replayed
	s.served = s.place()
	n := 0
	for n < len(p.frames) && !s.served.Before(p.frames[n].After) {
		n++
	}
	frames := p.frames[:n]
	p.frames = p.frames[n:]
	if frames, err = s.restoreFrames(c, frames); err != nil {
		return false, err
	}
	for _, f := range frames {
		switch {
		case f.Close == nil:
			s.passed = append(s.passed, f)
			s.out.put(websocket.Message{Binary: f.Binary, Data: f.Data})
		case f.Close.ByServer:
			s.out.close(f.Close.Code, f.Close.Reason)
			ended = true
		}
	}
	if len(p.frames) == 0 && s.r.run.tape.records[p.record].Response.Incomplete == cut[broken] {
		s.out.hangUp()
		ended = true
	}
	return ended, nil
}

// restoreFrames returns frames with the values of this run.
func (s *realtime) restoreFrames(c *call, frames []provider.Frame) ([]provider.Frame, error) {
	r := s.r
	if len(frames) == 0 || r.run.rules.Idle(nil) {
		return frames, nil
	}
	var lines []byte
	for _, f := range frames {
		lines = provider.AppendFrame(lines, f)
	}
	restored, err := r.run.restore(c, r.run.tape, s.replayed.record, lines)
	if err != nil {
		return nil, err
	}
	return provider.Frames(restored.body)
}

// compare compares the client's messages so far with the record. If they differ, the session continues with another
// record that begins like them.
func (s *realtime) compare(c *call) error {
	r := s.r
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	was, messages := s.replayed.record, len(c.request.Messages)
	s.compared = messages
	if s.beginAlike(r.run.tape.request(was), c.request, messages) {
		return nil
	}
	if i := s.next(c, messages); i >= 0 {
		r.run.tape.plays[was].played = false
		return s.switchTo(i)
	}
	if other := s.mistaken(c, messages); other != nil {
		i := other.replayed.record
		return errors.Join(s.switchTo(i), other.switchTo(was))
	}
	s.over = true
	if onlySetUp(c.request.Messages[:messages-1]) && modes[r.run.Mode].completes && modes[r.run.Mode].drops {
		return errBuy
	}
	return s.driftError(c)
}

// switchTo lets a session continue with another record that begins like it.
func (s *realtime) switchTo(i int) error {
	other, err := s.beginReplay(i)
	if err != nil {
		return err
	}
	other.frames = slices.DeleteFunc(other.frames, func(f provider.Frame) bool { return !s.served.Before(f.After) })
	s.replayed = other
	return nil
}

// mistaken returns a running session with which this one may exchange records, or nil: each record begins like the
// other session. Sessions that are opened at the same time begin in any order.
func (s *realtime) mistaken(c *call, messages int) *realtime {
	t := s.r.run.tape
	for _, other := range s.r.realtimes {
		if other == s || other.replayed == nil || other.over || other.opening.key != s.opening.key {
			continue
		}
		theirs, said := t.request(other.replayed.record), max(other.compared, other.served.Messages)
		if s.beginAlike(theirs, c.request, messages) && s.beginAlike(theirs, t.request(s.replayed.record), said) {
			return other
		}
	}
	return nil
}

// conclude compares the complete session with its record.
func (s *realtime) conclude() error {
	c, err := s.call()
	if err != nil {
		return err
	}
	r := s.r
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	s.over = true
	p := s.replayed
	if r.run.tape.key(p.record) != c.key {
		return s.driftError(c)
	}
	p.openProof.call = c
	r.run.proofs = append(r.run.proofs, p.openProof)
	r.run.answered = append(r.run.answered, testCall{record: p.record})
	r.run.prove(p.openProof) // proveRest reports what differs
	return nil
}

// fallSilent fails the test and ends the session if the client does not send its next recorded message.
func (s *realtime) fallSilent() {
	at, r := s.place(), s.r
	r.run.mu.Lock()
	p := s.replayed
	recorded := r.run.tape.request(p.record).Messages
	owes := at.Messages < len(recorded) ||
		slices.ContainsFunc(p.frames, func(f provider.Frame) bool { return at.Before(f.After) })
	brief := ""
	if owes && len(recorded) > 0 {
		next := max(0, min(at.Messages, len(recorded)-1))
		brief = fmt.Sprintf("%s session waits at %s: the client has said nothing for %v, and the recording goes on with frame %d to the server: %s",
			s.opening.provider, r.run.recordName(p.record), realtimePatience, next+1, frameName(&recorded[next]))
	}
	r.run.mu.Unlock()
	if brief != "" {
		s.silent.Store(true)
		s.failTest(failuref(brief, "accept: "+r.run.Accept))
		s.stream.Close()
	}
}
