package bench

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tmc/langchaingo/traceforgebench"
	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

const ours = "traceforge"

// A tool records calls and replays them.
type tool struct {
	name string
	// open returns a client for the named test, and a function that ends the test. live answers while recording; nil means
	// replay.
	open func(dir, test string, live http.RoundTripper) (*http.Client, func() error, error)
}

var (
	traceforge = tool{ours, openTraceforge}
	httprr     = tool{"httprr", openHTTPRR}
	govcr      = tool{"go-vcr", openVCR}
)

func openTraceforge(dir, test string, live http.RoundTripper) (*http.Client, func() error, error) {
	tb := tbtest.New(test)
	options := []traceforgetest.Option{traceforgetest.Dir(filepath.Join(dir, ".ai-snapshots"))}
	if live != nil {
		os.Setenv("TRACEFORGE_UPDATE", "all")
		defer os.Setenv("TRACEFORGE_UPDATE", "") // an unset variable would stay in the list that os.Environ reads
		options = append(options, traceforgetest.Upstream(live))
	}
	client := traceforgetest.New(tb, options...).Client()
	return client, func() error {
		tb.End()
		if tb.Failed() {
			return failed(tb.Logged())
		}
		return nil
	}, nil
}

type failed string

func (f failed) Error() string { return string(f) }

func openHTTPRR(dir, test string, live http.RoundTripper) (*http.Client, func() error, error) {
	if live != nil {
		flag.Set("httprecord-delay", "1ns")
	}
	file := filepath.Join(dir, test+".httprr")
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil { // a subtest has its own directory
		return nil, nil, err
	}
	rr, err := traceforgebench.Open(file, live, live != nil)
	if err != nil {
		return nil, nil, err
	}
	return rr.Client(), rr.Close, nil
}

func openVCR(dir, test string, live http.RoundTripper) (*http.Client, func() error, error) {
	mode := recorder.ModeReplayOnly
	if live != nil {
		mode = recorder.ModeRecordOnly
	}
	r, err := recorder.New(filepath.Join(dir, test), recorder.WithMode(mode), recorder.WithSkipRequestLatency(true), recorder.WithRealTransport(live))
	if err != nil {
		return nil, nil, err
	}
	return r.GetDefaultClient(), r.Stop, nil
}

// A memory is the limit of replay, and the live side of recording. It reads the body, whose length it knows, into the
// buffer of the previous call, hashes it and looks the answer up.
type memory struct {
	header  http.Header
	answers map[[sha256.Size]byte][]byte
	body    []byte
}

func newMemory(calls []call) *memory {
	m := &memory{header: http.Header{"Content-Type": {calls[0].contentType}}, answers: map[[sha256.Size]byte][]byte{}}
	for _, c := range calls {
		m.answers[sha256.Sum256(c.body)] = c.answer
	}
	return m
}

func (m *memory) RoundTrip(r *http.Request) (*http.Response, error) {
	m.body = slices.Grow(m.body[:0], int(r.ContentLength))[:r.ContentLength]
	if _, err := io.ReadFull(r.Body, m.body); err != nil {
		return nil, err
	}
	answer := m.answers[sha256.Sum256(m.body)]
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: m.header, ContentLength: int64(len(answer)),
		Body: io.NopCloser(bytes.NewReader(answer)), Request: r,
	}, nil
}

// play makes calls with a tool, as one test. live answers while recording; nil means replay.
func (t tool) play(b *testing.B, dir, test string, live http.RoundTripper, calls ...call) {
	b.Helper()
	client, end, err := t.open(dir, test, live)
	if err == nil {
		for _, c := range calls {
			c.send(b, client)
		}
		err = end()
	}
	if err != nil {
		b.Fatalf("%s: %v", t.name, err)
	}
}

// record records calls with a tool, as one test.
func (t tool) record(b *testing.B, dir, test string, calls []call) {
	b.Helper()
	t.play(b, dir, test, newMemory(calls), calls...)
}
