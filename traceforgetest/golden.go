package traceforgetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/envelope"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// storedHeaders are the response headers that SDKs and [http.Client] act on; no other is stored
// (design R5).
var storedHeaders = []string{
	"Content-Type", "Location", "Retry-After", "X-Should-Retry", "X-Amzn-Errortype",
	"X-Goog-Upload-Url", "X-Goog-Upload-Status",
}

// A golden is a take as it would be stored.
type golden struct {
	take     *take
	snapshot snapshot.Snapshot
	blobs    [][]byte
}

// add adds a blob.
func (g *golden) add(blob []byte) canon.Hash {
	g.blobs = append(g.blobs, blob)
	return canon.Sum(blob)
}

// golden makes the golden of a take that ended as it should, and says why one that did not
// cannot be kept.
func (r *Recorder) golden(tk *take) (*golden, *failure) {
	resp, body, f := r.answerOf(tk)
	if f != nil {
		return nil, f
	}
	g := &golden{take: tk, snapshot: r.frame(tk)}
	stored := &g.snapshot.Response
	if tk.outcome != failed {
		stored.RawOutputRef = g.add(body)
	}
	if r.timing {
		stored.TimingMS = timing(tk.answer(body), tk.arrivals)
	}
	if len(resp.Candidates) > 0 {
		output, err := envelope.Of(tk.request.Messages, resp)
		if err != nil {
			return nil, r.unkept(tk, err)
		}
		stored.OutputRef = output.Ref
		g.blobs = append(g.blobs, output.Blobs...)
	}
	if err := storedResponse(stored, resp, tk.request.Messages, tk.values); err != nil {
		return nil, r.unkept(tk, err)
	}
	for _, hash := range tk.values.media.order { // of the request and of the answer
		g.snapshot.Request.Blobs = append(g.snapshot.Request.Blobs, hash)
		g.add(tk.values.media.blobs[hash])
	}
	return g, nil
}

// answerOf decodes what a take received: resp as it is understood, body as it came but for its
// content encoding.
func (r *Recorder) answerOf(tk *take) (resp *modelio.Response, body []byte, f *failure) {
	if f := r.unfinished(tk); f != nil {
		return nil, nil, f
	}
	if tk.outcome == failed {
		return recordedTransportError(tk.err), nil, nil
	}
	body, err := tk.plain()
	if err == nil {
		resp, err = tk.codec.DecodeResponse(tk.answer(body))
	}
	if err != nil {
		return nil, nil, r.unkept(tk, err)
	}
	if tk.outcome == whole && !resp.Complete && resp.Error == nil {
		tk.become(broken)
		if f := r.unfinished(tk); f != nil {
			return nil, nil, f
		}
	}
	resp.Metadata = nil // is not stored, and shares the memory of the whole answer
	return resp, body, nil
}

// frame returns the snapshot of a take without what the model said.
func (r *Recorder) frame(tk *take) snapshot.Snapshot {
	s := snapshot.Snapshot{
		Timestamp: tk.started.UTC().Truncate(time.Millisecond),
		Source:    tk.source,
		Request:   tk.stored,
		Response: snapshot.Response{
			LatencyMS:  tk.finished.Sub(tk.started).Milliseconds(),
			Headers:    headersOf(tk.header),
			Incomplete: map[outcome]string{aborted: "aborted", broken: "error"}[tk.outcome],
		},
	}
	s.Source.Package, s.Source.Test = r.place.pkg, r.t.Name()
	s.Source.Nondeterministic, s.Source.Ignored = r.nondeterministic, r.ignored
	s.Request.Blobs = nil
	if tk.codec.API() != modelAPI {
		s.Response.Status = tk.status
	}
	return s
}

// headersOf returns what is stored of a response's header; nil: nothing.
func headersOf(header http.Header) map[string][]string {
	var stored map[string][]string
	for _, name := range storedHeaders {
		values := header.Values(name)
		if name == "Location" || name == "X-Goog-Upload-Url" {
			values = publicLocations(values)
		}
		if len(values) == 0 {
			continue
		}
		if stored == nil {
			stored = map[string][]string{}
		}
		stored[strings.ToLower(name)] = values
	}
	return stored
}

// publicLocations returns the URLs that a response leads to, without credentials.
func publicLocations(locations []string) (public []string) {
	for _, location := range locations {
		if u, err := url.Parse(location); err == nil {
			public = append(public, publicURL(u).String())
		}
	}
	return public
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
