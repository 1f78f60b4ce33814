package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A servedRecord answers a call: a record, or the take of a live call that is not made yet.
type servedRecord struct {
	take   *take // nil if the record answers
	record *snapshot.Snapshot
	tape   *tape      // of the record
	body   []byte     // of the answer, with this run's values
	proof  *openProof // nil if this run recorded the answer, which needs no proof
	fault  *injection // replaces the answer, unless nil
}

// replay answers a call from the tape, and never makes one.
func (r *Recorder) replay(c *call) (*servedRecord, error) {
	if err := r.run.openTape(c.provider); err != nil {
		return nil, err
	}
	i, how := search{&r.run, r.run.tape}.find(c)
	if in := r.run.faults.owedTo(c); in != nil {
		i, how = in.record, found
	}
	toldTo := r.run.Mode == Mixed && c.codec.Tools // a live model may ask for another tool, or repeat a call
	switch {
	case how != found && r.run.tape.cancels(c):
		return nil, context.Canceled
	case how != found && c.over != nil:
		return nil, c.over
	case how == missing && toldTo:
		return nil, r.report.offTapeFailure(c)
	case how == otherIDs:
		return nil, r.report.namingFailure(c, i)
	case how == exhausted && !toldTo:
		return nil, r.report.surplusFailure(i)
	case how == missing:
		return nil, r.report.unrecordedFailure(c)
	}
	if err := r.report.otherStep(c, i); err != nil {
		return nil, err
	}
	d, err := r.run.openProofOf(c, i)
	if err != nil {
		return nil, err
	}
	if rules := r.run.tape.hiding(i, d.raw); rules != nil {
		return nil, r.report.hiddenFailure(c, i, rules)
	}
	if in := r.run.faults.next(r.run.tape.records[i].Number()); in != nil && modes[r.run.Mode].injects {
		return r.run.inject(d, in)
	}
	if len(r.run.faults.owed) > 0 {
		delete(r.run.faults.owed, c.knownKey())
	}
	return r.run.serve(d, d.raw)
}

// A search looks for the records of a run's calls in a tape: the run's own, or one that it adopts answers from.
type search struct {
	run  *run
	tape *tape
}

// find returns the record that answers a call.
func (s search) find(c *call) (i int, how fit) {
	if i, how = s.tape.findCall(c); how == found {
		return s.withIDs(c, i)
	}
	return i, how
}

// findCall returns the first record with the request of a call. The record that needsNoKey found may have been played
// since.
func (t *tape) findCall(c *call) (i int, how fit) {
	if i, ok := t.findAsSent(c); ok {
		return i, found
	}
	return t.find(c.knownKey())
}

// withIDs returns the first unplayed record like the i-th that names the ids of a call, such as that of a
// conversation's last answer. Ids that no answer from the store gave out, such as a program's own, may be others than
// recorded, and so may those of a record without ids.
func (s search) withIDs(c *call, i int) (of int, how fit) {
	ids, t := c.stable, s.tape
	if len(ids) == 0 {
		return i, found
	}
	if j := t.withJustIDs(i, ids); j >= 0 {
		return j, found
	}
	mayBeIts := func(j int) bool {
		for n, id := range t.records[j].Source.IDs[:min(len(ids), len(t.records[j].Source.IDs))] {
			if id != ids[n] && (s.wasServed(id) || s.wasServed(ids[n])) {
				return false
			}
		}
		return true
	}
	if j := t.nextEqual(i, mayBeIts); j >= 0 {
		return j, found
	}
	return i, otherIDs
}

// wasServed reports whether an answer from the store gave out an id, and not only repeated it.
func (s search) wasServed(id string) bool {
	s.run.given.learn(s.run)
	return s.run.given.stored[id] || strings.HasPrefix(id, "{{") // see nameGiven
}

// withJustIDs returns the nextEqual record that names just these ids.
func (t *tape) withJustIDs(i int, ids []string) int {
	return t.nextEqual(i, func(j int) bool { return slices.Equal(t.records[j].Source.IDs, ids) })
}

// nextEqual returns the first unplayed record that is meant, from the i-th on, with the request of the i-th, which is
// unplayed too; or -1.
func (t *tape) nextEqual(i int, meant func(int) bool) int {
	if meant(i) {
		return i // the usual case; needs no keys
	}
	for _, j := range t.equalTo(t.key(i)) {
		if j > i && !t.plays[j].played && meant(j) {
			return j
		}
	}
	return -1
}

// serve answers a call with its record and raw answer.
func (r *run) serve(d *openProof, raw []byte) (s *servedRecord, err error) {
	i := d.record
	if r.tape.records[i].Response.RawOutputRef == "" {
		err = r.replayError(i)
	} else if s, err = r.restore(d.call, r.tape, i, raw); err == nil {
		s.proof = d
		r.proofs = append(r.proofs, d)
	}
	if isRecorded(err) {
		r.tape.plays[i].played = true
		r.answered = append(r.answered, testCall{record: i})
	}
	return s, err
}

// raw returns a record's bytes from the provider, or nil. If another process has recorded the test again since the
// document was read, raw reads it again; its requests must be the same.
func (r *run) raw(i int) ([]byte, error) {
	const most = 100 // each further try means another recording in between
	for try := 1; ; try++ {
		body, err := r.tape.doc.Raw(i)
		if !errors.Is(err, store.ErrReplaced) || try == most {
			return body, err
		}
		for j := range i + 1 {
			r.tape.identity(j) // the keys show whether the requests are the same
		}
		if err := r.reload(); err != nil {
			return nil, err
		}
	}
}

// reload reads the test's document again. Its calls must be the same.
func (r *run) reload() error {
	doc, err := r.store.Load(r.name, r.tape.doc.Provider)
	if err != nil {
		return err
	}
	now := newTape(doc, r.rules)
	same := len(now.records) == len(r.tape.records)
	for i := range r.tape.identities {
		isUsed := r.tape.identities[i].request != nil || r.tape.plays[i].parts != nil
		same = same && (!isUsed || r.tape.key(i) == now.key(i))
	}
	if !same {
		return fmt.Errorf("%s was recorded again, from other requests, while %s ran: run it again", r.file(), r.tested())
	}
	now.progress = r.tape.progress
	r.tape = now
	return nil
}

// replayError returns the recorded error of the transport.
func (r *run) replayError(i int) error {
	if recorded := replayedTransportError(&r.tape.records[i]); recorded != nil {
		return recorded
	}
	brief := fmt.Sprintf("%s: /snapshots/%d/response: there is no raw_output_ref, so there is nothing to replay",
		r.file(), i)
	return failuref(brief, "record again: "+r.Accept)
}

// responseOf makes the HTTP response of a record.
func (r *report) responseOf(req *http.Request, s *servedRecord) (*http.Response, error) {
	stored := &s.record.Response
	made := &struct { // one allocation for all
		resp http.Response
		body replayBody
	}{resp: response(req, stored.Status, len(stored.Headers))}
	resp, body := &made.resp, &made.body
	for name, values := range stored.Headers {
		resp.Header[http.CanonicalHeaderKey(name)] = values
	}
	*body = replayBody{ctx: req.Context(), rest: s.body, report: r, proof: s.proof}
	if stored.Incomplete != cut[unterminated] {
		body.cut = stored.Incomplete
	}
	resp.Body, resp.ContentLength = body, -1 // of a stream, and of an answer that was cut
	recorded := provider.Answer{Status: stored.Status, ContentType: resp.Header.Get("Content-Type"), Body: s.body}
	if body.events = recorded.Events(); body.events == nil {
		if err := r.proven(s.proof); err != nil {
			return nil, err
		}
		if body.cut == "" {
			resp.ContentLength = int64(len(s.body))
		}
		return resp, nil
	}
	body.rest = nil
	if r.run.Timing {
		body.pause = pace(stored.TimingMS)
	}
	return resp, nil
}

// response makes a response without a body, with room for the given number of headers.
func response(req *http.Request, status, headers int) http.Response {
	return http.Response{
		Status: statusLine(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header, headers), Request: req,
	}
}

// unrecordedResponse makes the HTTP response of an answer by the recorder itself.
func unrecordedResponse(req *http.Request, a *provider.Answer) *http.Response {
	resp := response(req, a.Status, 1)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(a.Body)), int64(len(a.Body))
	if a.ContentType != "" {
		resp.Header.Set("Content-Type", a.ContentType)
	}
	return &resp
}

// A replayBody serves a recorded body. A stream comes event by event: no Read goes past the event in which it began.
type replayBody struct {
	ctx    context.Context
	rest   []byte           // of the body, or of the event being read
	events *provider.Events // nil if it is no stream
	// waits before each event, and before each read of a body that is no stream; may be nil
	pause func(context.Context) error
	cut   string // how the recorded body was cut: Response.Incomplete; empty for an io.EOF at its end
	// ends a body that stays open until its client closes it; nil for a body that ends by itself
	stop context.CancelCauseFunc

	report *report
	proof  *openProof // compares the answer with the record
	closed atomic.Bool
}

func (b *replayBody) Read(p []byte) (int, error) {
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	if err := context.Cause(b.ctx); err != nil {
		return 0, err
	}
	begins := b.events == nil
	if len(b.rest) == 0 && b.events != nil {
		b.rest = b.events.NextRaw()
		begins = b.rest != nil
	}
	if begins && b.pause != nil {
		if err := b.pause(b.ctx); err != nil {
			return 0, err
		}
	}
	if len(b.rest) == 0 && len(p) > 0 {
		if err := b.report.proven(b.proof); err != nil {
			return 0, err
		}
		if b.cut != "" {
			return 0, cutError(b.ctx, b.cut)
		}
		if b.stop == nil {
			return 0, io.EOF
		}
		<-b.ctx.Done()
		return 0, context.Cause(b.ctx)
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close proves the answer, since clients close a stream at its last event, without reading to its end.
func (b *replayBody) Close() error {
	b.closed.Store(true)
	if b.stop != nil {
		b.stop(http.ErrBodyReadAfterClose)
	}
	return b.report.proven(b.proof)
}

// last keeps a body open after its last byte, until its client closes it.
func (b *replayBody) last() { b.ctx, b.stop = context.WithCancelCause(b.ctx) }

// response400 returns the response to a failed call: status 400, which clients do not retry.
func (s *setup) response400(req *http.Request, w *wire, err error) *http.Response {
	return failedWith(req, http.StatusBadRequest, provider.Refuse(&w.Wire, s.config.Hosts, err.Error()))
}

func failedWith(req *http.Request, status int, why *provider.Refusal) *http.Response {
	resp := unrecordedResponse(req, &provider.Answer{Status: status, Body: why.Body})
	resp.Header = why.Header
	return resp
}
