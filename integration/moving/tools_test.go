package moving_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"

	vcr1 "github.com/dnaeon/go-vcr/recorder"
	vcr3 "gopkg.in/dnaeon/go-vcr.v3/recorder"
	vcr4 "gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"
)

// A tool records calls into a file.
type tool struct {
	name string
	file string                                                                                 // of a cassette
	open func(cassette string, live http.RoundTripper) (http.RoundTripper, func() error, error) // the function saves
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
		f, err := os.Create(cassette)
		if err != nil {
			return nil, nil, err
		}
		_, err = io.WriteString(f, "httprr trace v1\n")
		return httprr{f, live}, f.Close, err
	}},
}

// trim is the name of a cassette as go-vcr wants it.
func trim(file string) string { return file[:len(file)-len(".yaml")] }

// httprr writes a trace as httprr does, all copies of which are internal to their modules.
type httprr struct {
	trace *os.File
	live  http.RoundTripper
}

func (h httprr) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var asked, answered bytes.Buffer
	key := req.Clone(req.Context())
	key.Header.Del("Authorization")
	key.Body, key.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if err := key.WriteProxy(&asked); err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := h.live.RoundTrip(req)
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
	if _, err := fmt.Fprintf(h.trace, "%d %d\n%s%s", asked.Len(), answered.Len(), &asked, &answered); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(said))
	return resp, nil
}
