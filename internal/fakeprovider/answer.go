package fakeprovider

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
)

// Answer answers one call without a network: f says what, and the answer is in the wire format that the call asks for.
// Ids and times depend on nothing but the request and n, which tells equal requests apart. f is not called for what
// the provider would refuse.
func Answer(req *http.Request, n int, f func(Call) Reply) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	in := req.Clone(req.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	if in.Host == "" {
		in.Host = in.URL.Host
	}
	what := in.URL.Path + "\x00" + string(body)
	s := &Server{handler: f, fixed: true, seen: map[string]int{what: n}}
	w := &written{header: http.Header{}}
	s.serve(w, in)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header, Request: req,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}, nil
}

// written is what a handler writes, kept.
type written struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *written) Header() http.Header         { return w.header }
func (w *written) WriteHeader(status int)      { w.status = status }
func (w *written) Write(p []byte) (int, error) { return w.body.Write(p) }
func (w *written) Flush()                      {}
