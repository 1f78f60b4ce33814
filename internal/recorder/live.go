package recorder

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/secret"
	"github.com/traceforge/traceforge-go/internal/websocket"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// writables are the directories of stores that this process can write. startTake asks before the first live call that
// is recorded.
var writables locked.Map[string, bool]

// startTake begins a live call.
func (r *Recorder) startTake(c *call, lifted string) (*servedRecord, error) {
	if r.run.ended {
		return nil, r.run.lateFailure(c.what)
	}
	if _, known := writables.Get(r.run.Dir); !known && modes[r.run.Mode].writes {
		if err := r.run.store.Writable(); err != nil {
			return nil, failuref(
				fmt.Sprintf("%s was not made, as what it brings could not be kept: %s", c.title(), r.run.shown(err.Error())))
		}
		writables.Add(r.run.Dir, true)
	}
	for _, t := range []*tape{r.run.tape, r.pending.earlier} {
		if f := r.report.turnFailure(c, t); f != nil {
			return nil, f
		}
	}
	tk := r.run.newTake(c)
	tk.source, tk.lifted, tk.keepsCuts = r.run.Source(), lifted, r.run.allows(CutStreams) || c.step != nil
	tk.steps, tk.began = &r.run.steps, r.run.steps.Add(1)
	if modes[r.run.Mode].writes {
		tk.complete = func() { r.pending.keep(tk) }
	}
	r.run.learn(c.what)
	r.run.takes = append(r.run.takes, tk)
	r.run.answered = append(r.run.answered, testCall{take: tk})
	return &servedRecord{take: tk}, nil
}

// live makes a call and keeps its answer in a take.
func (r *Recorder) live(req *http.Request, w *wire, tk *take) (*http.Response, error) {
	if err := r.repliesToServed(w, tk); err != nil {
		return nil, err
	}
	live := w.live(req)
	live.Header.Del("Accept-Encoding") // the transport's own choice, which it undoes itself
	tk.setProvenance(snapshot.ProvenanceOf(req.Context()))
	resp, err := r.upstream(live, w, tk)
	if asA[*Failure](err) != nil { // it was told, and is not one of the transport
		return nil, err
	}
	return r.keepAnswer(req, w, tk, resp, err)
}

// keepAnswer has a take keep the answer of a live call, or its error. The body is kept as the caller reads it.
func (r *Recorder) keepAnswer(req *http.Request, w *wire, tk *take, resp *http.Response,
	err error) (*http.Response, error) {
	if resp == nil && err == nil {
		err = fmt.Errorf("traceforge: the upstream, a %T, returned neither an answer nor an error", r.run.Upstream)
	}
	if err != nil {
		tk.end(failed, ofContext(req.Context(), err))
		return nil, err
	}
	resp.Request = req
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	if resp.StatusCode == http.StatusSwitchingProtocols && websocket.Asked(req.Method, req.Header) {
		resp.Body.Close()
		tk.end(dropped, nil)
		return nil, r.report.failCall(w, tk.id(), failuref(
			w.String()+" is a session of an API whose sessions are not recorded",
			"use the API without a WebSocket, or record the model itself: tf.Model"))
	}
	tk.noteProvenance(resp.Header)
	tk.begin(resp.StatusCode, resp.Header)
	if r.run.asksForRetry(tk, nil) {
		tk.end(retryable, nil)
		return resp, nil
	}
	if err := r.refusedServed(tk, w, resp); err != nil {
		return nil, err
	}
	body := &recordedBody{upstream: resp.Body, take: tk, ctx: req.Context()}
	if req.Method == http.MethodDelete || resp.Body == http.NoBody {
		sent, err := readAtMost(resp.Body, 0, tk.limit, "the answer")
		if err == nil {
			tk.unopened = sent
		}
		body.upstream = rewound(sent, resp.Body) // which says again how it ended
	}
	resp.Body = body
	return resp, nil
}

// asksForRetry reports whether another try of a call replaces its answer (design R11). e is the error in the answer;
// nil if it has none, or is not read yet.
func (s *setup) asksForRetry(tk *take, e *modelio.ProviderError) bool {
	return !s.allows(RetryableErrors) && !tk.isScripted() && provider.AsksForRetry(tk.status, e)
}

// An upstreamKey is the context key of the transport that makes a request's live call.
type upstreamKey struct{}

// Over returns a transport whose live calls are made by upstream instead of the recorder's.
func (r *Recorder) Over(upstream http.RoundTripper) http.RoundTripper {
	return markedTransport{r, upstreamKey{}, upstream}
}

// isLed reports whether a stored answer led the program to the host of a request. The answer names the host, to which
// the program made no call before. A pull request can change where stored answers lead, and clients send their key
// along.
func (r *run) isLed(at *url.URL) bool {
	host := strings.ToLower(at.Hostname())
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.Mode.Live() || r.own[host] {
		return false
	}
	named := func(a testCall) bool { return a.take == nil && r.tape.names(a.record, at.Hostname()) }
	if !plainWord.MatchString(host) && slices.ContainsFunc(r.answered, named) {
		return true
	}
	if r.own == nil {
		r.own = map[string]bool{}
	}
	r.own[host] = true
	return false
}

// plainWord matches hosts that any text may name, such as localhost. A number may be an address, and other letters may
// stand for dots.
var plainWord = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// names reports whether the stored answer of a record contains a host, in whatever spelling.
func (t *tape) names(i int, host string) bool {
	raw, _ := t.doc.Raw(i) // it was served
	for _, values := range t.records[i].Response.Headers {
		raw = append(slices.Clip(raw), " "+strings.Join(values, " ")...)
	}
	return secret.Names(raw, host)
}

// A ledTransport is the upstream of a request to a host that a stored answer names. It makes no call.
type ledTransport struct{ wayOut string }

func (t ledTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		req.Body.Close()
	}
	return nil, fmt.Errorf("a stored answer names %s, and nothing is sent there before that answer is bought again: %s",
		req.URL.Hostname(), t.wayOut)
}

// upstreamOf returns the transport that makes the live call of a request.
func (s *setup) upstreamOf(ctx context.Context) http.RoundTripper {
	if upstream, ok := ctx.Value(upstreamKey{}).(http.RoundTripper); ok {
		return upstream
	}
	return s.Upstream
}
