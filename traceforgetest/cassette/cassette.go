// Package cassette answers calls from another tool's recordings, so that a test suite moves to traceforge without a
// network and without keys.
//
// A recording is used as a recorder's upstream. One update copies its answers into the store; after that the recording,
// its tool and this import can be deleted:
//
//	func newRecorder(t *testing.T) *traceforgetest.Recorder {
//		t.Helper()
//		old, err := cassette.Open("testdata/" + t.Name() + ".yaml")
//		if err != nil {
//			t.Fatal(err)
//		}
//		return traceforgetest.New(t, traceforgetest.Upstream(old))
//	}
//
//	$ TRACEFORGE_UPDATE=1 go test ./...
//
// Such a record names the recording in source.nondeterministic, so that no determinism rule applies to it (design R7).
// It has the date of the old answer if that had one, and the latency if the tool kept it; otherwise 0. All other rules
// of recording apply: an answer that asks the client to retry, or that contains a secret, is not taken.
//
// docs/migrating.md has a recipe for each tool.
package cassette

import (
	"net/http"

	"github.com/traceforge/traceforge-go/internal/cassette"
)

// An Option changes how requests are answered. Options are made by the functions of this package.
type Option struct {
	set func(*cassette.Recording) error
}

// Nearest answers an unknown request with the next unused answer for the same method and URL, or else for the same
// method and path. The record says so, because such an answer may not fit. Use it for requests that have changed since
// they were recorded: they keep their old answers.
func Nearest() Option {
	return Option{func(r *cassette.Recording) error {
		r.Nearest = true
		return nil
	}}
}

// And opens more recordings for the same test, for example one for each of its agents. A request is answered by the
// first recording that contains it.
func And(paths ...string) Option {
	return Option{func(r *cassette.Recording) error {
		for _, path := range paths {
			other, err := cassette.Open(path)
			if err != nil {
				return err
			}
			r.Add(other)
		}
		return nil
	}}
}

// Open opens a recording of another tool as an upstream. It reads cassettes of go-vcr v1 to v4 (YAML), traces of httprr
// (plain or gzipped), and cassettes of vcrpy (YAML, JSON), and tells them apart by their content. For aimock fixtures
// use script.Open in package script. A file may have at most 64 MB.
//
// A request is matched as the tool matched it: by method, URL and body, or, for vcrpy and for go-vcr before v4, whose
// defaults compare no more, by method and URL, preferring an equal body. Bodies are equal if they mean the same: JSON
// with its members in any order, forms, multipart with any boundary. Request headers, credentials in URLs and ports of
// loopback addresses are not compared, so that redacted values do no harm. Each recorded call answers once, in the
// recorded order; of equal calls of httprr the last one answers, any number of times.
//
// A request that was not recorded fails the test, which names the nearest calls. The upstream is safe for concurrent
// use. A transport wrapped around it does not lose which recording an answer comes from.
func Open(path string, opts ...Option) (http.RoundTripper, error) {
	r, err := cassette.Open(path)
	if err != nil {
		return nil, err
	}
	for _, opt := range opts {
		if err := opt.set(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}
