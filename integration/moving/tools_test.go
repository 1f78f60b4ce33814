package moving_test

import (
	"net/http"

	vcr1 "github.com/dnaeon/go-vcr/recorder"
	vcr3 "gopkg.in/dnaeon/go-vcr.v3/recorder"
	vcr4 "gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/traceforge/traceforge-go/integration/moving/internal/httprr"
)

// A tool records calls into a file.
type tool struct {
	name string
	file string                                                                                 // of a cassette
	open func(cassette string, live http.RoundTripper) (http.RoundTripper, func() error, error) // the function saves it
}

var tools = []tool{
	{"go-vcr v1", "chat.yaml", func(cassette string, live http.RoundTripper) (http.RoundTripper, func() error, error) {
		r, err := vcr1.NewAsMode(trim(cassette), vcr1.ModeRecording, live)
		return r, r.Stop, err
	}},
	{"go-vcr v3", "chat.yaml", func(cassette string, live http.RoundTripper) (http.RoundTripper, func() error, error) {
		r, err := vcr3.NewWithOptions(&vcr3.Options{CassetteName: trim(cassette), Mode: vcr3.ModeRecordOnly, RealTransport: live})
		return r, r.Stop, err
	}},
	{"go-vcr v4", "chat.yaml", func(cassette string, live http.RoundTripper) (http.RoundTripper, func() error, error) {
		r, err := vcr4.New(trim(cassette), vcr4.WithMode(vcr4.ModeRecordOnly), vcr4.WithRealTransport(live))
		return r, r.Stop, err
	}},
	{"httprr", "chat.httprr", func(cassette string, live http.RoundTripper) (http.RoundTripper, func() error, error) {
		rr, err := httprr.Create(cassette, live)
		if err != nil {
			return nil, nil, err
		}
		rr.ScrubReq(func(req *http.Request) { req.Header.Del("Authorization") })
		return rr, rr.Close, nil
	}},
}

// trim returns the name that go-vcr expects for a cassette.
func trim(file string) string { return file[:len(file)-len(".yaml")] }
