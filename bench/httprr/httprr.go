// Package traceforgebench makes httprr available to benchmarks. All copies of httprr are internal to their modules, so
// this module has a name below one of them.
package traceforgebench

import (
	"flag"
	"net/http"
	"testing"

	"github.com/tmc/langchaingo/internal/httprr"
)

// A RecordReplay is httprr's type of that name.
type RecordReplay = httprr.RecordReplay

// Open opens a recording like httprr does in a test. It replays file, or records it if record is set.
func Open(file string, live http.RoundTripper, record bool) (*RecordReplay, error) {
	if testing.Testing() && record {
		if err := flag.Set("httprecord", "."); err != nil {
			return nil, err
		}
		defer flag.Set("httprecord", "")
	}
	return httprr.Open(file, live)
}
