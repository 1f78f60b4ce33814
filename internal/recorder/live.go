package recorder

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/traceforge/traceforge-go/snapshot"
)

// writables are the directories of stores that this process could write. It asks before the first live call that it
// records.
var writables sync.Map

// startTake begins a live call.
func (r *Recorder) startTake(c *call, lifted string) (*servedRecord, error) {
	if r.ended {
		return nil, r.tooLate(c.what)
	}
	if _, known := writables.Load(r.Dir); !known && modes[r.Mode].writes {
		if err := r.store.Writable(); err != nil {
			return nil, failuref(fmt.Sprintf("%s was not made, as what it brings could not be kept: %s", c.asking(), r.shown(err.Error())))
		}
		writables.Store(r.Dir, true)
	}
	tk := r.newTake(c)
	tk.source, tk.lifted, tk.keepsCuts = r.Source(), lifted, r.allows(CutStreams) || c.step != nil
	tk.steps, tk.began = &r.steps, r.steps.Add(1)
	if modes[r.Mode].writes {
		tk.complete = func() { r.pending.keep(tk) }
	}
	r.learn(c.what)
	r.takes = append(r.takes, tk)
	r.answered = append(r.answered, testCall{take: tk})
	return &servedRecord{take: tk}, nil
}

// live makes a call, whose answer a take keeps.
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
func (r *Recorder) keepAnswer(req *http.Request, w *wire, tk *take, resp *http.Response, err error) (*http.Response, error) {
	if resp == nil && err == nil {
		err = fmt.Errorf("traceforge: the upstream, a %T, returned neither an answer nor an error", r.Upstream)
	}
	if err != nil {
		tk.end(failed, ofContext(req.Context(), err))
		return nil, err
	}
	resp.Request = req
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	tk.noteProvenance(resp.Header)
	tk.begin(resp.StatusCode, resp.Header)
	if isRetryable(resp.StatusCode) && !r.allows(RetryableErrors) && !tk.isScripted() {
		tk.end(retryable, nil)
		return resp, nil
	}
	if err := r.refusedServed(tk, w, resp); err != nil {
		return nil, err
	}
	resp.Body = &recordedBody{upstream: resp.Body, take: tk, ctx: req.Context()}
	return resp, nil
}

// isRetryable reports whether an answer says: not now (design R11).
func isRetryable(status int) bool {
	return status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500
}

// An upstreamKey is the key of a request's context under which that stands which makes its live call.
type upstreamKey struct{}

// Over returns a transport whose live calls are made by upstream instead of the recorder's.
func (r *Recorder) Over(upstream http.RoundTripper) http.RoundTripper {
	return markedTransport{r, upstreamKey{}, upstream}
}

// upstreamOf returns what makes the live call of a request.
func (s *setup) upstreamOf(ctx context.Context) http.RoundTripper {
	if upstream, ok := ctx.Value(upstreamKey{}).(http.RoundTripper); ok {
		return upstream
	}
	return s.Upstream
}
