// Package httprr records and replays HTTP in the format of httprr. All copies of httprr are internal to their modules.
package httprr

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

const head = "httprr trace v1\n"

// A RecordReplay answers from a trace, or makes calls and writes them to one.
type RecordReplay struct {
	live   http.RoundTripper
	scrub  func(*http.Request)
	trace  *os.File          // nil in replay
	replay map[string]string // answers by requests
}

// Open opens a trace.
func Open(file string, _ http.RoundTripper) (*RecordReplay, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rest, ok := strings.CutPrefix(string(data), head)
	if !ok {
		return nil, errors.New(file + " is no trace")
	}
	rr := &RecordReplay{replay: map[string]string{}}
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		asked, answered := 0, 0
		if _, err := fmt.Sscan(line, &asked, &answered); err != nil || asked+answered > len(after) {
			return nil, fmt.Errorf("%s is corrupt: %q", file, line)
		}
		rr.replay[after[:asked]] = after[asked : asked+answered]
		rest = after[asked+answered:]
	}
	return rr, nil
}

// Create records the calls of live into a new trace.
func Create(file string, live http.RoundTripper) (*RecordReplay, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, err
	}
	trace, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(trace, head)
	return &RecordReplay{live: live, trace: trace}, err
}

// ScrubReq sets a function that changes requests before they are written and looked up.
func (rr *RecordReplay) ScrubReq(scrub func(*http.Request)) { rr.scrub = scrub }

// Close closes the trace.
func (rr *RecordReplay) Close() error {
	if rr.trace == nil {
		return nil
	}
	return rr.trace.Close()
}

// RoundTrip implements [http.RoundTripper].
func (rr *RecordReplay) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	var asked, answered bytes.Buffer
	key := req.Clone(req.Context())
	if rr.scrub != nil {
		rr.scrub(key)
	}
	key.Body, key.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if err := key.WriteProxy(&asked); err != nil {
		return nil, err
	}
	if rr.trace == nil {
		answer, ok := rr.replay[asked.String()]
		if !ok {
			return nil, fmt.Errorf("no answer for %s %s", req.Method, req.URL)
		}
		return http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), req)
	}
	live := req.Clone(req.Context())
	live.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := rr.live.RoundTrip(live)
	if err != nil {
		return nil, err
	}
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(said))
	if err := resp.Write(&answered); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(rr.trace, "%d %d\n%s%s", asked.Len(), answered.Len(), &asked, &answered); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(said))
	return resp, nil
}
