// Package traceforgebench lends httprr to benchmarks. All copies of it are internal to their modules, so the module is
// named as if it were a part of one.
package traceforgebench

import (
	"flag"
	"net/http"
	"testing"

	"github.com/tmc/langchaingo/internal/httprr"
)

// A RecordReplay is httprr's.
type RecordReplay = httprr.RecordReplay

// Open opens a recording as httprr does in a test: it replays file unless record is set.
func Open(file string, live http.RoundTripper, record bool) (*RecordReplay, error) {
	if testing.Testing() && record {
		if err := flag.Set("httprecord", "."); err != nil {
			return nil, err
		}
		defer flag.Set("httprecord", "")
	}
	return httprr.Open(file, live)
}
