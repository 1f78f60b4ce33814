// Package client records and replays with go-vcr, with one cassette per test.
package client

import (
	"net/http"
	"path/filepath"
	"testing"

	"gopkg.in/dnaeon/go-vcr.v4/pkg/recorder"

	"github.com/traceforge/traceforge-go/bench/client/ask"
)

// New returns a client for the test t.
func New(t testing.TB) *http.Client {
	mode := recorder.ModeReplayOnly
	if ask.Recording() {
		mode = recorder.ModeRecordOnly
	}
	r, err := recorder.New(filepath.Join("testdata", t.Name()),
		recorder.WithMode(mode), recorder.WithSkipRequestLatency(true), recorder.WithRealTransport(ask.Provider{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r.GetDefaultClient()
}
