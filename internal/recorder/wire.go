package recorder

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/content"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A wire is an HTTP request with its body read and decoded, and without the secrets in its URL.
type wire struct {
	provider.Wire
	sent  []byte   // the body as sent, or nil
	asked *url.URL // the URL as sent, with its secrets
	lane  string

	codec *provider.Codec // see codecOf; nil until it is looked up
	known bool            // whether a codec takes it, including the generic one
}

// String returns the request's name in messages.
func (w *wire) String() string { return w.Method + " " + w.URL.String() }

// isGRPC reports whether the request is a call of gRPC, whose answer has its status in a trailer, which no record has.
func (w *wire) isGRPC() bool {
	kind, _, _ := strings.Cut(w.Header.Get("Content-Type"), "+")
	return kind == "application/grpc"
}

// names reports whether the request has an id, as a text of its body or in its URL, or as its URL.
func (w *wire) names(id string) bool {
	return bytes.Contains(w.Body, jsontext.Text(id)) || strings.Contains(w.URL.Path+"?"+w.URL.RawQuery, id) ||
		w.URL.String() == id
}

// readWire reads and closes the request's body, as a RoundTripper must. A body in an unknown encoding is taken as it
// is.
func (s *setup) readWire(req *http.Request) (*wire, error) {
	w := &wire{asked: req.URL, lane: nameIn(req.Context(), laneKey{}), Wire: provider.Wire{
		Method:      req.Method,
		URL:         PublicURL(req.URL),
		Header:      req.Header,
		ContentType: req.Header.Get("Content-Type"),
	}}
	if req.Body == nil {
		return w, nil
	}
	ctx := req.Context()
	if req.ContentLength <= 0 && req.Body != http.NoBody { // a stream, which may never end
		defer context.AfterFunc(ctx, func() { req.Body.Close() })()
	}
	var err error
	if w.sent, err = readAtMost(req.Body, req.ContentLength, s.store.MaxBytes(), "the request's body"); err != nil {
		req.Body.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return w, fmt.Errorf("traceforge: reading the request's body: %w", err)
	}
	req.Body.Close()
	if w.Body, err = s.decodeContent(req.Header.Get("Content-Encoding"), w.sent); err != nil {
		w.Body = w.sent
	}
	return w, nil
}

// live returns the request to send, with a body of its own.
func (w *wire) live(req *http.Request) *http.Request {
	live := req.Clone(req.Context())
	if _, limited := req.Context().Deadline(); limited {
		// An http.Client with a timeout sets both, and the error would be of the one that is faster.
		//lint:ignore SA1019 it is set by net/http itself
		live.Cancel = nil
	}
	if w.sent != nil {
		live.Body, live.ContentLength = io.NopCloser(bytes.NewReader(w.sent)), int64(len(w.sent))
	}
	return live
}

// keepsSent says that receipts list what calls sent.
var keepsSent = os.Getenv(usage.SentEnv) == "1"

// noteSent notes what a call sent. It keeps only the names of most headers: their values vary with the machine and the
// SDK's release, or are credentials. Of a call with a credential in its URL, or whose record has placeholders, it keeps
// only the name.
func noteSent(r *Recorder, req *http.Request, w *wire, record *snapshot.Snapshot) {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	core, _ := snapshot.RequestCore(&record.Request, nil)
	s := usage.Sent{Record: record.ID}
	s.Secret = w.asked.User != nil || len(w.asked.Query()) != len(w.URL.Query()) || len(scrub.Names(string(core))) > 0
	if !s.Secret {
		s.Method, s.URL, s.Host, s.Proto, s.Length = req.Method, w.asked.String(), req.Host, req.Proto, req.ContentLength
		s.Encoding, s.Body, s.Values = req.TransferEncoding, w.sent, maps.Clone(req.Header)
		maps.DeleteFunc(s.Values, func(name string, _ []string) bool {
			return name != "Accept" && name != "Content-Type" && !provider.ChangesAnswers(name)
		})
		s.Headers = slices.Collect(maps.Keys(req.Header))
	}
	r.run.sent = append(r.run.sent, s)
}

// PublicURL returns u without credentials and fragment.
func PublicURL(u *url.URL) *url.URL {
	public := *u
	public.User, public.Fragment, public.RawFragment = nil, "", ""
	if u.RawQuery == "" {
		return &public
	}
	query := u.Query()
	maps.DeleteFunc(query, func(name string, _ []string) bool { return provider.IsCredential(name) })
	public.RawQuery = query.Encode()
	return &public
}

// decodeContent undoes a Content-Encoding, since stored content must be readable. Calls are sent without their caller's
// Accept-Encoding, so an encoding that the standard library lacks only comes from servers that ignore it.
func (s *setup) decodeContent(encodings string, body []byte) ([]byte, error) {
	return content.Decode(encodings, body, s.Decoders, func(plain io.Reader) ([]byte, error) {
		return readAtMost(plain, 0, s.store.MaxBytes(), "the content")
	})
}
