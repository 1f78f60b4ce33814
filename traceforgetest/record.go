package traceforgetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/envelope"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A take is one live call while recording.
type take struct {
	*call
	wire          *wire
	source        snapshot.Source
	started       time.Time
	decodeContent func(encodings string, body []byte) ([]byte, error)

	mu       sync.Mutex
	outcome  outcome
	err      error // of the transport
	status   int
	header   http.Header
	body     received
	arrivals []arrival
	finished time.Time
}

// An outcome says how a take ended.
type outcome int

const (
	unread    outcome = iota // the caller neither read the answer to its end nor closed it
	whole                    // the answer was read to its end
	aborted                  // the caller ended it early
	broken                   // the network ended it early
	retryable                // an answer that asks to try again: not recorded (design R11)
	failed                   // no answer: the transport failed
)

// clock is where time enters.
var clock = time.Now

// record makes a live call and keeps it as a take.
func (r *Recorder) record(req *http.Request, w *wire, upstream http.RoundTripper) (*http.Response, error) {
	c, err := r.identify(w)
	if err == nil {
		if f := r.undetermined(c); f != nil {
			err = f
		}
	}
	if err != nil {
		return nil, r.refuse(w, r.asFailure(err))
	}
	tk := &take{call: c, wire: w, source: r.place.source(r.made), started: clock(), decodeContent: r.decodeContent}
	r.mu.Lock()
	r.takes = append(r.takes, tk)
	r.answered = append(r.answered, answered{take: tk})
	r.mu.Unlock()

	live := req.Clone(req.Context())
	live.Header.Del("Accept-Encoding") // the transport's own choice, which it undoes itself
	if w.Body != nil {
		live.Body = io.NopCloser(bytes.NewReader(w.Body))
		live.ContentLength = int64(len(w.Body))
	}
	resp, err := upstream.RoundTrip(live)
	if err != nil {
		tk.end(failed, err)
		return nil, err
	}
	resp.Request = req
	tk.status, tk.header = resp.StatusCode, resp.Header.Clone()
	if isRetryable(resp.StatusCode) {
		tk.end(retryable, nil)
		return resp, nil
	}
	resp.Body = &recordedBody{upstream: resp.Body, take: tk, ctx: req.Context()}
	return resp, nil
}

// isRetryable reports whether an answer says: not now (design R11).
func isRetryable(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500
}

// undetermined is the failure of a call whose answer may be another one each time
// (SF "Determinism Requirements").
func (r *Recorder) undetermined(c *call) *failure {
	if r.lifted || !provider.Generates(c.request.API) {
		return nil
	}
	var missing []string
	switch t := c.request.Temperature; {
	case t == nil:
		missing = append(missing, "temperature is not set, so the provider's default applies: set it to 0")
	case !zero(*t):
		missing = append(missing, fmt.Sprintf("temperature is %s: set it to 0", *t))
	}
	if c.codec.Seeded() && c.request.Seed == nil {
		missing = append(missing, "seed is not set: set it to any fixed number")
	}
	if len(missing) == 0 {
		return nil
	}
	return failuref(fmt.Sprintf("%s request is not deterministic, so it was not sent: %s", c.provider, strings.Join(missing, "; ")),
		indent(summary(&c.stored)),
		`or say why it cannot be: traceforgetest.New(t, traceforgetest.Nondeterministic("…"))`)
}

// zero reports whether a temperature is 0, or so small that it can be nothing else: clients that
// leave zeros out, as go-openai does, are given the smallest number instead.
func zero(n provider.Number) bool {
	value, err := n.Float64()
	return err == nil && value >= 0 && value < 1e-6
}

func (tk *take) end(how outcome, err error) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if tk.outcome == unread {
		tk.outcome, tk.err, tk.finished = how, err, clock()
	}
}

func (tk *take) ended() outcome {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	return tk.outcome
}

func (tk *take) keep(p []byte) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	tk.body.add(p)
	tk.arrivals = append(tk.arrivals, arrival{tk.body.size, clock().Sub(tk.started)})
}

// A recordedBody passes a live answer on as it arrives, and keeps it.
type recordedBody struct {
	upstream io.ReadCloser
	take     *take
	ctx      context.Context
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.upstream.Read(p)
	b.take.keep(p[:n])
	switch {
	case err == io.EOF:
		b.take.end(whole, nil)
	case err != nil:
		b.take.end(b.cutBy(err), err)
	}
	return n, err
}

func (b *recordedBody) cutBy(err error) outcome {
	if b.take.streams() && b.take.terminated() {
		return whole // nothing of weight was cut
	}
	if b.ctx.Err() != nil || errors.Is(err, context.Canceled) || errors.Is(err, errByCaller) {
		return aborted
	}
	return broken
}

// Close keeps what the caller left unread of an answer that is complete but for it, such as
// the empty line behind a stream's last event or behind a JSON value. A stream that has more
// to come was ended by the caller.
func (b *recordedBody) Close() error {
	if b.take.ended() == unread {
		b.take.end(b.drain(), nil)
	}
	return b.upstream.Close()
}

// drainTime bounds how long closing an answer waits for its unread rest.
const drainTime = 2 * time.Second

func (b *recordedBody) drain() outcome {
	if !b.take.terminated() || b.ctx.Err() != nil && !b.take.streams() {
		return aborted
	}
	timer := time.AfterFunc(drainTime, func() { b.upstream.Close() })
	defer timer.Stop()
	rest, err := io.ReadAll(b.upstream)
	b.take.keep(rest)
	if err != nil && b.take.streams() {
		return whole // its terminal event has been seen
	}
	if err != nil {
		return broken
	}
	return whole
}

// streams reports whether the answer comes event by event, as far as its beginning tells.
func (tk *take) streams() bool {
	body, err := tk.plain()
	return err == nil && tk.answer(body).Events() != nil
}

// terminated reports whether nothing of weight can follow: a stream's terminal event has been
// read, or the answer is no stream and its rest only has to be fetched. What cannot be decoded
// is another failure than a cut.
func (tk *take) terminated() bool {
	if !tk.streams() {
		return true
	}
	resp, err := tk.decode()
	return err != nil || resp.Complete || resp.Error != nil
}

// decode decodes what was received so far.
func (tk *take) decode() (*provider.Response, error) {
	body, err := tk.plain()
	if err != nil {
		return nil, err
	}
	return tk.codec.DecodeResponse(tk.answer(body))
}

func (tk *take) answer(body []byte) *provider.Answer {
	return &provider.Answer{Status: tk.status, ContentType: tk.header.Get("Content-Type"), Body: body}
}

// plain returns the body received so far without its content encoding.
func (tk *take) plain() ([]byte, error) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	return tk.decodeContent(tk.header.Get("Content-Encoding"), tk.body.bytes())
}

// storedHeaders are the response headers that SDKs act on; no other is stored (design R5).
var storedHeaders = []string{"Content-Type", "Retry-After", "X-Should-Retry", "X-Amzn-Errortype"}

// A golden is a take as it would be stored.
type golden struct {
	take     *take
	snapshot snapshot.Snapshot
	blobs    [][]byte
}

// golden decodes a take that ended as it should, and says why one that did not cannot be kept.
func (r *Recorder) golden(tk *take) (*golden, *failure) {
	if tk.ended() == unread && tk.streams() && tk.terminated() {
		tk.end(whole, nil)
	}
	if f := r.unfinished(tk); f != nil {
		return nil, f
	}
	body, err := tk.plain()
	if err != nil {
		return nil, r.unkept(tk, err)
	}
	var resp *provider.Response
	if tk.outcome == failed {
		resp = recordedTransportError(tk.err)
	} else if resp, err = tk.codec.DecodeResponse(tk.answer(body)); err != nil {
		return nil, r.unkept(tk, err)
	}
	if tk.outcome == whole && !resp.Complete && resp.Error == nil {
		tk.outcome = broken
		if f := r.unfinished(tk); f != nil {
			return nil, f
		}
	}
	resp.Metadata = nil // is not stored, and shares the memory of the whole answer
	g := &golden{take: tk}
	s := &g.snapshot
	s.Timestamp = tk.started.UTC().Truncate(time.Millisecond)
	s.Source = tk.source
	s.Source.Package, s.Source.Test = r.place.pkg, r.t.Name()
	s.Source.Nondeterministic, s.Source.Ignored = r.nondeterministic, r.ignored
	s.Request = tk.stored
	s.Response.LatencyMS = tk.finished.Sub(tk.started).Milliseconds()
	if tk.codec.API() != modelAPI {
		s.Response.Status = tk.status
	}
	for _, name := range storedHeaders {
		if values := tk.header.Values(name); len(values) > 0 {
			if s.Response.Headers == nil {
				s.Response.Headers = map[string][]string{}
			}
			s.Response.Headers[strings.ToLower(name)] = values
		}
	}
	switch tk.outcome {
	case aborted:
		s.Response.Incomplete = "aborted"
	case broken:
		s.Response.Incomplete = "error"
	}
	if tk.outcome != failed {
		s.Response.RawOutputRef = canon.Sum(body)
		g.blobs = append(g.blobs, body)
	}
	if len(resp.Candidates) > 0 {
		output, err := envelope.Of(tk.request.Messages, resp)
		if err != nil {
			return nil, r.unkept(tk, err)
		}
		s.Response.OutputRef = output.Ref
		g.blobs = append(g.blobs, output.Blobs...)
	}
	if r.timing {
		s.Response.TimingMS = timing(tk.answer(body), tk.arrivals)
	}
	if err := storedResponse(&s.Response, resp, tk.request.Messages, tk.values); err != nil {
		return nil, r.unkept(tk, err)
	}
	s.Request.Blobs = tk.values.media.order // the answer's too
	for _, hash := range s.Request.Blobs {
		g.blobs = append(g.blobs, tk.values.media.blobs[hash])
	}
	return g, nil
}

// unfinished is the failure of a take that has no whole answer.
func (r *Recorder) unfinished(tk *take) *failure {
	switch tk.outcome {
	case unread:
		return failuref(fmt.Sprintf("%s answer was neither read to its end nor closed: it was not recorded", tk.provider), indent(summary(&tk.stored)))
	case aborted, broken:
		if r.incomplete {
			return nil
		}
		by := "by the caller"
		if tk.outcome == broken {
			by = "before its end"
			if tk.err != nil {
				by += ": " + tk.err.Error()
			}
		}
		return failuref(fmt.Sprintf("%s answer was cut %s: it was not recorded", tk.provider, by),
			indent(summary(&tk.stored)),
			"record again, or allow cut answers with the option Incomplete")
	case retryable:
		return failuref(fmt.Sprintf("%s answered %d %s, and no later try of the call did better: it was not recorded", tk.provider, tk.status, http.StatusText(tk.status)),
			indent(summary(&tk.stored)), "record again: "+r.accept())
	case failed:
		if r.transportErrors && !errors.Is(tk.err, context.Canceled) {
			return nil
		}
		return failuref(fmt.Sprintf("%s gave no answer: it was not recorded: %v", tk.provider, tk.err),
			indent(summary(&tk.stored)), "record again: "+r.accept())
	}
	return nil
}

func (r *Recorder) unkept(tk *take, err error) *failure {
	return failuref(fmt.Sprintf("%s answer cannot be kept: %v", tk.provider, err), indent(summary(&tk.stored)))
}
