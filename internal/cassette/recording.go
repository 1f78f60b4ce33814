// Package cassette reads what other tools recorded of HTTP calls, and answers from it.
package cassette

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/traceforge/traceforge-go/internal/recorder"
)

// maxBytes bounds a recording (design R16).
const maxBytes = 64 << 20

// A Recording answers from one file of another tool. It is safe for concurrent use, and a [recorder.Archive].
type Recording struct {
	Tool    string // that recorded it: "go-vcr"
	Nearest bool   // a request that is not there gets the nearest answer of its API, by order

	file    string // as records name it
	path    string // absolute
	entries []*entry
	served  callSet // that answered
	rule    rule

	more      []*Recording // that answer what it does not hold
	leavesOut bool         // calls that cannot be read
	lost      []Lost

	mu sync.Mutex
}

// An entry is one call of a recording.
type entry struct {
	number  int // in the file; the first is 1
	line    int // in the file
	request request
	sent    http.Header // of the request
	asked   []byte      // the request's body, as it was recorded

	status  int
	header  http.Header
	body    []byte
	time    time.Time
	latency time.Duration
}

// A callSet is a set of calls.
type callSet map[*entry]bool

// A rule is how a tool finds the call that answers a request.
type rule struct {
	byURL   bool // the body does not matter: the next call of the same method and URL answers
	repeats bool // the last call answers again
}

// Open reads a recording, of which the content says what tool made it.
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

// Read reads a recording. The file is only named.
func Read(file string, data []byte) (*Recording, error) {
	r, err := read(&Recording{file: recorder.Named(file)}, data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	return r, nil
}

// read reads a recording into r.
func read(r *Recording, data []byte) (*Recording, error) {
	if bytes.HasPrefix(data, gzipMagic) { // httprr keeps some so
		plain, err := unzip(data)
		if err != nil {
			return nil, fmt.Errorf(" decompress: %w", err)
		}
		data = plain
	}
	r.served = callSet{}
	var err error
	switch first := bytes.TrimLeft(data, "\ufeff \t\r\n"); {
	case bytes.HasPrefix(first, []byte("httprr trace ")):
		err = r.readHTTPRR(first)
	case bytes.HasPrefix(first, []byte("{")):
		err = r.readJSON(data)
	default:
		err = r.readYAML(data)
	}
	return r, err
}

// SameAs reports whether another upstream is a recording of the same files that answers in the same way.
func (r *Recording) SameAs(other http.RoundTripper) bool {
	o, ok := other.(*Recording)
	return ok && r.path == o.path && r.Nearest == o.Nearest &&
		slices.EqualFunc(r.more, o.more, func(a, b *Recording) bool { return a.SameAs(b) })
}

// Len returns how many calls there are.
func (r *Recording) Len() int { return len(r.entries) }

// A layoutError says at which line of a file is something else than expected.
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

const whole = "get the whole file, or record the calls again with -update"

// next returns the number of the next call in the file.
func (r *Recording) next() int { return len(r.entries) + len(r.lost) + 1 }

// take appends a call, or leaves out one that cannot be read.
func (r *Recording) take(e *entry, err error) error {
	if err == nil {
		err = r.add(e)
	}
	var wrong *layoutError
	if r.leavesOut && errors.As(err, &wrong) {
		r.lost = append(r.lost, Lost{r.next(), wrong.line, wrong.what})
		return nil
	}
	return err
}

// add appends a call, whose answer must be one.
func (r *Recording) add(e *entry) error {
	e.number = r.next()
	if e.status < 100 || e.status > 599 {
		return wrong(e.line, "interaction %d has the status %d: want an HTTP status, 100 to 599; "+
			"correct or remove the interaction", e.number, e.status)
	}
	if e.request.method == "" || e.request.url == nil || e.request.url.Host == "" {
		return wrong(e.line, "interaction %d names no request: want its method and its whole URL; "+
			"correct or remove the interaction", e.number)
	}
	e.decode()
	if at, err := http.ParseTime(e.header.Get("Date")); err == nil {
		e.time = at
	}
	r.entries = append(r.entries, e)
	return nil
}

// response returns the answer of a call.
func (e *entry) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", e.status, http.StatusText(e.status)), StatusCode: e.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: e.header.Clone(), Body: io.NopCloser(bytes.NewReader(e.body)), ContentLength: int64(len(e.body)), Request: req,
	}
}

// parsed returns the URL of a request, nil where it is none.
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
