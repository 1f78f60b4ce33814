package cassette

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/recorder"
)

// A request is the part of a call that requests are matched by.
type request struct {
	method string
	url    *url.URL
	body   string // see meaning
}

// MakesNoCalls makes a recording a [recorder.Archive].
func (r *Recording) MakesNoCalls() {}

// RoundTrip answers a request from the recording. A header tells the recorder which recording the answer comes from,
// even through other transports.
func (r *Recording) RoundTrip(req *http.Request) (*http.Response, error) {
	asked, err := requestOf(req)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := append([]*Recording{r}, r.more...)
	for _, of := range all {
		maps.Copy(of.served, of.passed(of.served, recorder.Taken(req)))
	}
	for _, sameBody := range []bool{true, false} {
		for _, of := range all {
			if c, why := of.find(asked, of.served); c != nil && (why == "" || !sameBody) {
				maps.Copy(of.served, of.upTo(c))
				return c.answer(req, why), nil
			}
		}
	}
	var said strings.Builder
	for _, of := range all {
		said.WriteString(of.missing(asked) + "\n")
	}
	return nil, errors.New(said.String() + "record the call live, without this upstream, or take the nearest " +
		"answer of its API: cassette.Open(path, cassette.Nearest())")
}

// Add lets another recording answer requests that r does not contain.
func (r *Recording) Add(other *Recording) { r.more = append(r.more, other) }

func (r *Recording) what() string { return r.Tool + " " + r.file }

// requestOf returns the matched part of a request, and closes its body.
func requestOf(req *http.Request) (*request, error) {
	asked := &request{method: cmp.Or(req.Method, http.MethodGet), url: req.URL}
	if req.Body == nil {
		return asked, nil
	}
	defer req.Body.Close()
	body, err := io.ReadAll(req.Body)
	asked.body = meaning(req.Header.Get("Content-Type"), body)
	return asked, err
}

// alike returns three tests of a call: for the same request, the same method and URL, and the same method and path.
func (asked *request) alike() []func(*Call) bool {
	at := place(asked.url)
	sameURL := func(c *Call) bool { return c.request.method == asked.method && place(c.request.url) == at }
	same := func(c *Call) bool { return sameURL(c) && c.request.body == asked.body }
	sameAPI := func(c *Call) bool { return c.request.method == asked.method && c.request.url.Path == asked.url.Path }
	return []func(*Call) bool{same, sameURL, sameAPI}
}

// find returns the call that answers a request, after those that were served; nil if there is none. If the call is for
// a different request, why explains it for the record.
func (r *Recording) find(asked *request, served callSet) (c *Call, why string) {
	like := asked.alike()
	same, sameURL := like[0], like[1]
	if c := r.nextOf(served, same, r.repeats); c != nil {
		return c, ""
	}
	if r.byURL {
		if c := r.nextOf(served, sameURL, false); c != nil {
			return c, ", which has the same method and URL, and another body"
		}
	}
	if !r.Nearest {
		return nil, ""
	}
	for _, is := range like {
		if c := r.nextOf(served, is, false); c != nil {
			return c, ", the nearest by order: it is of another request"
		}
	}
	if c := r.nextOf(served, same, true); c != nil {
		return c, ", once more"
	}
	return nil, ""
}

// nextOf returns the first matching call that was not served, or nil. With again it returns the last one, served or
// not.
func (r *Recording) nextOf(served callSet, is func(*Call) bool, again bool) (last *Call) {
	for _, c := range r.Calls {
		switch {
		case !is(c):
		case again:
			last = c
		case !served[c]:
			return c
		}
	}
	return last
}

// passed returns the calls up to those that records were taken from.
func (r *Recording) passed(served callSet, taken []string) callSet {
	passed := callSet{}
	for _, c := range r.Calls {
		begin := c.origin() + ","
		if !served[c] && slices.ContainsFunc(taken, func(of string) bool { return strings.HasPrefix(of+",", begin) }) {
			maps.Copy(passed, r.upTo(c))
		}
	}
	return passed
}

// upTo returns a call, and those before it that have the same request. The tool would serve them first, or never.
func (r *Recording) upTo(c *Call) callSet {
	calls, same := callSet{}, c.request.alike()[0]
	for _, other := range r.Calls {
		if other.Number <= c.Number && same(other) {
			calls[other] = true
		}
	}
	return calls
}

// place returns the part of a URL that is matched: without credentials and ports of loopback addresses, and with its
// query sorted.
func place(u *url.URL) string {
	host := u.Host
	if name := u.Hostname(); name == "localhost" || net.ParseIP(name).IsLoopback() {
		host = "loopback"
	}
	text := u.Scheme + "://" + strings.ToLower(host) + u.EscapedPath()
	if query := recorder.PublicURL(u).Query(); len(query) > 0 {
		text += "?" + query.Encode()
	}
	return text
}

// missing is the message that no call answers a request. It names the nearest calls.
func (r *Recording) missing(asked *request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has no answer for %s %s", r.what(), asked.method, place(asked.url))
	like := append(asked.alike(), func(*Call) bool { return true })
	far := func(c *Call) int { return slices.IndexFunc(like, func(is func(*Call) bool) bool { return is(c) }) }
	near := slices.Clone(r.Calls)
	slices.SortStableFunc(near, func(x, y *Call) int { return cmp.Compare(far(x), far(y)) })
	const most = 3
	for _, c := range near[:min(most, len(near))] {
		fmt.Fprintf(&b, "\n  line %d, interaction %d: %s %s: %s",
			c.Line, c.Number, c.request.method, place(c.request.url), c.unlike(asked))
	}
	if more := len(near) - most; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	if len(near) == 0 {
		b.WriteString(": it holds no call")
	}
	return b.String()
}

// unlike says why a call does not answer a request.
func (c *Call) unlike(asked *request) string {
	switch {
	case c.request.method != asked.method:
		return "is another method"
	case place(c.request.url) != place(asked.url):
		return "is another URL"
	case c.request.body == asked.body:
		return "has been given already, or is before one that a record has"
	}
	recorded, got := []byte(c.request.body), []byte(asked.body)
	if json.Valid(recorded) && json.Valid(got) {
		for _, first := range drift.First(1, recorded, got) {
			return "its body is another at " + cmp.Or(first.Pointer, "its root")
		}
	}
	return "its body is another"
}
