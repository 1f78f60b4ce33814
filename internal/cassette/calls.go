package cassette

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// Lost is a call that cannot be read.
type Lost struct {
	Number, Line int // in the file; the first is 1
	Why          string
}

// Method returns that of the request.
func (c *Call) Method() string { return c.request.method }

// URL returns the URL without what is secret in it.
func (c *Call) URL() string { return recorder.PublicURL(c.request.url).String() }

// Request returns the request as it was recorded, without its credentials: what a tool has put in their place is no secret
// to look for.
func (c *Call) Request() *http.Request {
	header := c.sent.Clone()
	for name := range header {
		if provider.IsCredential(strings.TrimPrefix(name, "X-Amz-")) || name == "Cookie" {
			header.Del(name)
		}
	}
	req, _ := http.NewRequest(http.MethodGet, "/", bytes.NewReader(c.asked))
	req.Method, req.URL, req.Header = c.request.method, recorder.PublicURL(c.request.url), header
	req.Host = req.URL.Host
	return req
}

// Answer returns the recorded answer to a request. A header says where it is from.
func (c *Call) Answer(req *http.Request) *http.Response { return c.answer(req, "") }

// answer is Answer of a call that differs from the request as why says.
func (c *Call) answer(req *http.Request, why string) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", c.status, http.StatusText(c.status)), StatusCode: c.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.head(why), Body: io.NopCloser(bytes.NewReader(c.body)), ContentLength: int64(len(c.body)), Request: req,
	}
}

// head returns the headers of the answer, with that which says where it is from.
func (c *Call) head(why string) http.Header {
	from := fmt.Sprintf("imported from %s, interaction %d%s", c.of.what(), c.Number, why)
	return recorder.Provenance{From: from, Time: c.time, Latency: c.latency}.In(c.header.Clone())
}
