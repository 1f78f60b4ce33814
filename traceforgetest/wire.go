package traceforgetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
)

// A wire is an HTTP request with its body read, and without its content encoding and what is
// secret in its URL.
type wire struct {
	provider.Wire
	sent  []byte         // the body as it was sent; nil: none
	codec provider.Codec // nil: the one that matches
	hash  canon.Hash     // of method, host, path, query and body
}

// readWire reads and closes the request's body, as a RoundTripper must. A body in an encoding that
// is not known is taken as it is.
func (r *Recorder) readWire(req *http.Request) (*wire, error) {
	if req.Body == nil {
		return newWire(req, nil, nil), nil
	}
	sent, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("traceforge: reading the request's body: %w", err)
	}
	body, err := r.decodeContent(req.Header.Get("Content-Encoding"), sent)
	if err != nil {
		body = sent
	}
	w := newWire(req, body, nil)
	w.sent = sent
	return w, nil
}

func newWire(req *http.Request, body []byte, codec provider.Codec) *wire {
	w := &wire{
		Wire: provider.Wire{
			Method:      req.Method,
			URL:         publicURL(req.URL),
			ContentType: req.Header.Get("Content-Type"),
			Body:        body,
		},
		codec: codec,
	}
	w.hash = w.sum()
	return w
}

// match returns the codec that speaks for w, and the provider's name.
func (w *wire) match() (codec provider.Codec, name string, ok bool) {
	if w.codec != nil {
		return w.codec, w.codec.Provider(), true
	}
	if codec, ok = provider.Match(&w.Wire); !ok {
		return nil, "", false
	}
	return codec, provider.Name(w.URL.Host, codec), true
}

// publicURL returns u without credentials and fragment.
func publicURL(u *url.URL) *url.URL {
	public := *u
	public.User, public.Fragment, public.RawFragment = nil, "", ""
	if u.RawQuery == "" {
		return &public
	}
	query := u.Query()
	for name := range query {
		if provider.IsCredential(name) {
			query.Del(name)
		}
	}
	public.RawQuery = query.Encode()
	return &public
}

// sum hashes the bytes that make up the call. A loopback host is left out: its port is
// another at every run.
func (w *wire) sum() canon.Hash {
	host := w.URL.Host
	if provider.IsLoopback(w.URL.Hostname()) {
		host = ""
	}
	h := sha256.New()
	for _, part := range []string{w.Method, host, w.URL.EscapedPath(), w.URL.RawQuery} {
		io.WriteString(h, part)
		h.Write([]byte{'\n'})
	}
	h.Write(w.Body)
	var sum [sha256.Size]byte
	return canon.Hash("sha256:" + hex.EncodeToString(h.Sum(sum[:0])))
}
