package traceforgetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// replay answers a call from the tape. There is no upstream here.
func (r *Recorder) replay(req *http.Request, w *wire) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, sealed, how, err := r.tape.find(w.hash, func() (key, error) {
		c, err := r.identify(w)
		if err != nil {
			return key{}, err
		}
		return c.key, nil
	})
	switch {
	case err != nil:
		return nil, err
	case how == exhausted:
		return nil, r.oneTooMany(w, i)
	case how == missing:
		return nil, r.unrecorded(w)
	}
	if sealed.RawOutputRef == "" {
		return nil, r.replayError(i, sealed)
	}
	sealed, body, err := r.rawOutput(i, sealed)
	if err != nil {
		return nil, err
	}
	r.tape.played[i] = true
	r.answered = append(r.answered, answered{record: i})
	resp := answer(req, sealed, body)
	if r.timing {
		return resp, pace(resp, sealed)
	}
	return resp, nil
}

// rawOutput returns the body that a record names. Where the body went since the record was loaded,
// as another process recorded the test again, it is the new record's.
func (r *Recorder) rawOutput(i int, sealed *snapshot.Sealed) (*snapshot.Sealed, []byte, error) {
	const most = 10 // each further try takes another recording in between
	for try := 1; ; try++ {
		body, err := r.store.Blob(sealed.RawOutputRef)
		if err == nil {
			return sealed, body, nil
		}
		err = fmt.Errorf("%w\nnamed by %s: /snapshots/0/response/raw_output_ref", err, r.file(sealed.Entry))
		if !errors.Is(err, fs.ErrNotExist) || try == most {
			return nil, nil, err
		}
		now, changed := r.tape.record(i)
		switch {
		case changed != nil:
			return nil, nil, changed
		case now.RawOutputRef == sealed.RawOutputRef || now.RawOutputRef == "":
			return nil, nil, err
		}
		sealed = now
	}
}

// replayError gives the recorded error of the transport again.
func (r *Recorder) replayError(i int, sealed *snapshot.Sealed) error {
	s, err := sealed.Snapshot()
	if err != nil {
		return err
	}
	recorded := replayedTransportError(s)
	if recorded == nil {
		return failuref(r.file(sealed.Entry)+": /snapshots/0/response: there is no raw_output_ref, so there is nothing to replay", "record again: "+r.accept())
	}
	r.tape.played[i] = true
	r.answered = append(r.answered, answered{record: i})
	return recorded
}

// answer makes the HTTP response of a snapshot.
func answer(req *http.Request, s *snapshot.Sealed, body []byte) *http.Response {
	resp := &http.Response{
		Status:     fmt.Sprintf("%d %s", s.Status, http.StatusText(s.Status)),
		StatusCode: s.Status,
		Proto:      "HTTP/1.1",
		ProtoMajor: 1,
		ProtoMinor: 1,
		Header:     make(http.Header, len(s.Headers)),
		Request:    req,
	}
	for name, values := range s.Headers {
		resp.Header[http.CanonicalHeaderKey(name)] = values
	}
	replayed := &replayBody{ctx: req.Context(), rest: body, cut: s.Incomplete != ""}
	resp.Body, resp.ContentLength = replayed, int64(len(body))
	recorded := provider.Answer{Status: s.Status, ContentType: resp.Header.Get("Content-Type"), Body: body}
	if replayed.events = recorded.Events(); replayed.events != nil {
		replayed.rest = nil
	}
	if replayed.events != nil || replayed.cut {
		resp.ContentLength = -1
	}
	return resp
}

// A replayBody serves a recorded body. A stream comes event by event: no Read goes beyond the
// event that it began in.
type replayBody struct {
	ctx    context.Context
	rest   []byte                      // of the body, or of the event being read
	events *provider.Events            // nil: no stream
	pause  func(context.Context) error // before each event; nil: none
	cut    bool                        // the recorded body ended before its end
}

func (b *replayBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b.rest) == 0 && b.events != nil {
		event, err := b.events.Next()
		if err == nil && b.pause != nil {
			if err := b.pause(b.ctx); err != nil {
				return 0, err
			}
		}
		if err != nil && err != io.EOF { // unreachable: the body is in memory
			return 0, err
		}
		b.rest = event.Raw
	}
	if len(b.rest) == 0 && len(p) > 0 {
		if b.cut {
			return 0, io.ErrUnexpectedEOF
		}
		return 0, io.EOF
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *replayBody) Close() error { return nil }

// refusal is the answer to a client that would repeat a call that failed.
func refusal(req *http.Request, err error) *http.Response {
	body := fmt.Sprintf(`{"error":{"type":"traceforge","message":%s}}`, quote(err.Error()))
	return &http.Response{
		Status:        "400 Bad Request",
		StatusCode:    http.StatusBadRequest,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        http.Header{"Content-Type": {"application/json"}, "X-Should-Retry": {"false"}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       req,
	}
}
