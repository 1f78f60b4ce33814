package cassette

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// A Call is one call of a recording, for who makes it again.
type Call struct {
	of *Recording
	*entry
}

// Lost is a call that cannot be read.
type Lost struct {
	Number, Line int // in the file; the first is 1
	Why          string
}

// ReadCalls is Read, but a call that cannot be read is left out, and said.
func ReadCalls(file string, data []byte) (*Recording, []Lost, error) {
	r, err := read(&Recording{file: recorder.Named(file), leavesOut: true}, data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s:%w", file, err)
	}
	return r, r.lost, nil
}

// Calls returns the calls in their order.
func (r *Recording) Calls() (calls []Call) {
	for _, e := range r.entries {
		calls = append(calls, Call{r, e})
	}
	return calls
}

// Number returns which call of its file it is; the first is 1.
func (c Call) Number() int { return c.number }

// Line returns where the call begins in its file.
func (c Call) Line() int { return c.line }

// Method returns that of the request.
func (c Call) Method() string { return c.request.method }

// URL returns the URL without what is secret in it.
func (c Call) URL() string { return recorder.PublicURL(c.request.url).String() }

// Request returns the request as it was recorded, without its credentials: what a tool has put in their place is no secret
// to look for.
func (c Call) Request() *http.Request {
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
func (c Call) Answer(req *http.Request) *http.Response { return c.answer(req, "") }

// answer is Answer of a call that differs from the request as why says.
func (c Call) answer(req *http.Request, why string) *http.Response {
	resp := c.response(req)
	resp.Header = c.provenance(why).In(resp.Header)
	return resp
}

func (c Call) provenance(why string) recorder.Provenance {
	from := fmt.Sprintf("imported from %s, interaction %d%s", c.of.what(), c.number, why)
	return recorder.Provenance{From: from, Time: c.time, Latency: c.latency}
}
