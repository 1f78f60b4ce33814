// Package cassette reads other tools' recordings of HTTP calls, and answers from them.
package cassette

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/traceforge/traceforge-go/internal/conflict"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/secret"
)

// The limits of a recording in bytes (design R16).
const (
	maxBytes  = 64 << 20     // of the file
	mostInAll = 8 * maxBytes // of all bodies: aliases repeat them, and they may be compressed
)

// A Recording answers from one file of another tool. It is safe for concurrent use, and is a [recorder.Archive].
type Recording struct {
	Tool    string // the tool that recorded it: "go-vcr"
	Nearest bool   // a request that was not recorded gets the nearest answer of its API, in order

	Calls []*Call // in the order of the file
	Lost  []Lost  // calls that cannot be read

	file   string       // as records name it
	path   string       // absolute
	served callSet      // calls that have answered
	more   []*Recording // recordings that answer what this one does not contain

	byURL     bool // the tool ignores the body: the next call with the same method and URL answers
	repeats   bool // the tool has one answer for equal requests, the last
	leavesOut bool // skips calls that cannot be read
	size      int  // bytes of all bodies

	mu sync.Mutex
}

// A Call is one call of a recording.
type Call struct {
	Number int // in the file, from 1
	Line   int // in the file

	of      *Recording
	request request
	sent    http.Header // of the request
	asked   []byte      // body of the request, as recorded

	status  int
	header  http.Header
	body    []byte
	time    time.Time
	latency time.Duration
}

// A callSet is a set of calls.
type callSet map[*Call]bool

// Open reads a recording. Its content tells which tool made it.
func Open(file string) (*Recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open a recording: %w", err)
	}
	defer f.Close()
	data, err := readAtMost(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	r, err := Read(file, data)
	if err == nil {
		r.path, err = filepath.Abs(file)
	}
	return r, err
}

// Named returns the path of another tool's file in the form of records: relative, and without the directory in which
// others keep their files.
func Named(file string) string {
	named := filepath.ToSlash(file)
	if filepath.IsLocal(file) {
		return path.Clean(named)
	}
	return path.Join(path.Base(path.Dir(named)), path.Base(named))
}

// Read reads a recording. file is used only as its name.
func Read(file string, data []byte) (*Recording, error) { return read(file, data, false) }

// ReadCalls is Read, except that it skips and reports calls that cannot be read.
func ReadCalls(file string, data []byte) (*Recording, error) { return read(file, data, true) }

func read(file string, data []byte, leavesOut bool) (*Recording, error) {
	r := &Recording{file: Named(file), served: callSet{}, leavesOut: leavesOut}
	if err := r.read(data); err != nil {
		if line, kinds := conflict.Line(data); kinds == 3 {
			err = wrong(line, "is a conflict marker of a merge; check one side out, or record the calls again with -update")
		}
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	return r, nil
}

func (r *Recording) read(data []byte) error {
	if bytes.HasPrefix(data, gzipMagic) { // some traces of httprr are compressed
		plain, err := unzip(data)
		if err != nil {
			return fmt.Errorf(" decompress: %w", err)
		}
		data = plain
	}
	switch first := bytes.TrimLeft(data, "\ufeff \t\r\n"); {
	case bytes.HasPrefix(first, []byte("httprr trace ")):
		return r.readHTTPRR(first)
	case bytes.HasPrefix(first, []byte("{")):
		return r.readJSON(data)
	}
	return r.readYAML(data)
}

// SameAs reports whether another upstream is a recording of the same files that answers in the same way.
func (r *Recording) SameAs(other http.RoundTripper) bool {
	o, ok := other.(*Recording)
	return ok && r.path == o.path && r.Nearest == o.Nearest &&
		slices.EqualFunc(r.more, o.more, func(a, b *Recording) bool { return a.SameAs(b) })
}

// A layoutError reports the line of a file that has an unexpected form.
type layoutError struct {
	line int
	what string
}

func (e *layoutError) Error() string { return fmt.Sprintf("%d: %s", e.line, e.what) }

func wrong(line int, format string, args ...any) error {
	return &layoutError{line, fmt.Sprintf(format, args...)}
}

const readable = "traceforge reads cassettes of go-vcr v1 to v4 (YAML), of httprr, and of vcrpy (YAML, JSON): " +
	"convert it to one of them, or record the calls again with -update"

const whole = "get the whole file, or take the cassette from the test and record the calls again with -update"

// next returns the number of the next call in the file.
func (r *Recording) next() int { return len(r.Calls) + len(r.Lost) + 1 }

// take appends a call, or notes that it cannot be read.
func (r *Recording) take(c *Call, err error) error {
	if err == nil {
		err = r.add(c)
	}
	var wrong *layoutError
	if r.leavesOut && errors.As(err, &wrong) {
		r.Lost = append(r.Lost, Lost{r.next(), wrong.line, wrong.what})
		return nil
	}
	return err
}

// add appends a call if its answer is valid.
func (r *Recording) add(c *Call) error {
	c.Number, c.of = r.next(), r
	if c.status < 100 || c.status > 599 {
		return wrong(c.Line, "interaction %d has the status %d: want an HTTP status, 100 to 599; "+
			"correct or remove the interaction", c.Number, c.status)
	}
	if c.request.method == "" || c.request.url == nil || c.request.url.Host == "" {
		return wrong(c.Line, "interaction %d names no request: want its method and its whole URL; "+
			"correct or remove the interaction", c.Number)
	}
	c.decode()
	if r.size += len(c.asked) + len(c.request.body) + len(c.body); r.size > mostInAll {
		return fmt.Errorf(" has bodies of more than %d MB: split the recording, or record its calls again", mostInAll>>20)
	}
	c.time, _ = http.ParseTime(c.header.Get("Date")) // zero if unknown
	r.Calls = append(r.Calls, c)
	return nil
}

// parsed returns the URL of a request, or nil if it is not valid.
func parsed(text string) *url.URL {
	u, _ := url.Parse(text)
	return u
}

var gzipMagic = []byte{0x1f, 0x8b, 8}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return readAtMost(r)
}

func readAtMost(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("more than %d MB: split the recording, or record its calls again", maxBytes>>20)
	}
	return data, err
}

// Lost is a call that cannot be read.
type Lost struct {
	Number, Line int // in the file, from 1
	Why          string
}

// Method returns the request's method.
func (c *Call) Method() string { return c.request.method }

// URL returns the URL without secrets.
func (c *Call) URL() string { return recorder.PublicURL(c.request.url).String() }

// Request returns the request as it was recorded. It contains only credentials that look real, which no record may
// contain: placeholders of a tool are no secrets to search for.
func (c *Call) Request() *http.Request {
	header := c.sent.Clone()
	for name, values := range header {
		if (provider.IsCredential(strings.TrimPrefix(name, "X-Amz-")) || name == "Cookie") && !holdsKey(values) {
			header.Del(name)
		}
	}
	at := recorder.PublicURL(c.request.url)
	if user := c.request.url.User; user != nil {
		password, _ := user.Password()
		if key := cmp.Or(password, user.Username()); holdsKey([]string{key}) {
			at.User = url.UserPassword("", key)
		}
	}
	query := at.Query()
	for name, values := range c.request.url.Query() {
		if provider.IsCredential(name) && holdsKey(values) {
			query[name] = values
			at.RawQuery = query.Encode()
		}
	}
	req, _ := http.NewRequest(http.MethodGet, "/", bytes.NewReader(c.asked))
	req.Method, req.URL, req.Header = c.request.method, at, header
	req.Host = req.URL.Host
	return req
}

// holdsKey reports whether values contain a word that may be a key.
func holdsKey(values []string) bool {
	words := strings.FieldsFunc(strings.Join(values, " "), func(r rune) bool { return strings.ContainsRune(` ,;"'`, r) })
	return slices.ContainsFunc(words, secret.IsOpaque)
}

// Answer returns the recorded answer to a request. A header tells which recording it comes from.
func (c *Call) Answer(req *http.Request) *http.Response { return c.answer(req, "") }

// answer is Answer for a call that differs from the request; why explains the difference.
func (c *Call) answer(req *http.Request, why string) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", c.status, http.StatusText(c.status)), StatusCode: c.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.head(why), Body: io.NopCloser(bytes.NewReader(c.body)), ContentLength: int64(len(c.body)), Request: req,
	}
}

// head returns the headers of the answer, with the header that tells which recording it comes from.
func (c *Call) head(why string) http.Header {
	return recorder.Provenance{From: c.origin() + why, Time: c.time, Latency: c.latency}.In(c.header.Clone())
}

// origin is how records name a call that they were taken from.
func (c *Call) origin() string {
	return fmt.Sprintf("imported from %s, interaction %d", c.of.what(), c.Number)
}
