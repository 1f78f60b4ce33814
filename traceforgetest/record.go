package traceforgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/provider"
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
	if err := r.add(tk); err != nil {
		return nil, err
	}

	live := req.Clone(req.Context())
	live.Header.Del("Accept-Encoding") // the transport's own choice, which it undoes itself
	if w.sent != nil {
		live.Body = io.NopCloser(bytes.NewReader(w.sent))
		live.ContentLength = int64(len(w.sent))
	}
	resp, err := upstream.RoundTrip(live)
	if resp == nil && err == nil {
		err = fmt.Errorf("traceforge: the upstream, a %T, returned neither an answer nor an error", upstream)
	}
	if err != nil {
		tk.end(failed, err)
		return nil, err
	}
	resp.Request = req
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	tk.begin(resp)
	if isRetryable(resp.StatusCode) {
		tk.end(retryable, nil)
		return resp, nil
	}
	resp.Body = &recordedBody{upstream: resp.Body, take: tk, ctx: req.Context()}
	return resp, nil
}

// add adds a take to those of the test, which must not have ended.
func (r *Recorder) add(tk *take) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return r.tooLate(tk.wire)
	}
	r.takes = append(r.takes, tk)
	r.answered = append(r.answered, answered{take: tk})
	return nil
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
func zero(n json.Number) bool {
	value, err := n.Float64()
	return err == nil && value >= 0 && value < 1e-6
}
