package recorder

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// A session is one that the store began for a program. If a call in it must be made live, a session at the server is
// opened to replace it.
type session struct {
	provider *provider.Session
	opening  *http.Request
	body     []byte // of the opening request

	mu sync.Mutex
	id string // at the server; empty if it is not open there
}

// isLive reports whether a session is open at the server, and not only in the store.
func (l *sessions) isLive(s *provider.Session, w *wire) bool {
	if opened, ok := l.served.Get(w.Header.Get(s.Header)); ok {
		opened.mu.Lock()
		defer opened.mu.Unlock()
		return opened.id != ""
	}
	return !l.run.Mode.Serves() && !l.run.Imports() &&
		(w.Header.Get(s.Header) != "" || l.run.hasAsked(s))
}

// noteOpened notes a session that the store began.
func (l *sessions) noteOpened(s *provider.Session, req *http.Request, w *wire, id string) {
	opening := req.Clone(context.WithoutCancel(req.Context()))
	l.served.Set(id, &session{provider: s, opening: opening, body: w.sent})
}

// join replaces the served id of the session by the server's in a live request. The first such request opens the
// session.
func (l *sessions) join(s *provider.Session, live *http.Request) error {
	if s == nil {
		return nil
	}
	opened, ok := l.served.Get(live.Header.Get(s.Header))
	if !ok {
		return nil
	}
	opened.mu.Lock()
	defer opened.mu.Unlock()
	if opened.id == "" {
		if err := opened.open(live.Context(), l.run.upstreamOf(opened.opening.Context())); err != nil {
			return fmt.Errorf("traceforge: opening the session again that the store began: %w", err)
		}
	}
	live.Header.Set(s.Header, opened.id)
	return nil
}

// open opens the session at the server.
func (s *session) open(ctx context.Context, upstream http.RoundTripper) error {
	send := func(header http.Header, body []byte) (*http.Response, error) {
		req := s.opening.Clone(ctx)
		maps.Copy(req.Header, header)
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp, err := upstream.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		const most = 1 << 20 // bytes of a server's answer
		_, _ = io.CopyN(io.Discard, resp.Body, most)
		if resp.StatusCode >= 300 { // even if it breaks off
			return nil, fmt.Errorf("answered %s", statusText(resp.StatusCode))
		}
		return resp, nil
	}
	resp, err := send(nil, s.body)
	if err != nil {
		return err
	}
	s.id = resp.Header.Get(s.provider.Header)
	_, err = send(http.Header{s.provider.Header: {s.id}}, s.provider.Opened)
	return err
}
