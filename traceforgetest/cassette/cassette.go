// Package cassette answers calls from what another tool recorded, so that a test suite moves to traceforge without a
// network and without keys.
//
// A recording is an upstream of a recorder. One update takes its answers into the store; then the recording, its tool
// and this package go:
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
// Such a record names the recording (source.nondeterministic), so that no rule of determinism is asked of it (design
// R7). It has the date of the old answer, where that has one, and the latency, where the tool kept it; else 0. The
// rules of recordings hold for it otherwise: an answer that asks to try again, or that holds a secret, is not taken.
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

// Nearest answers an unknown request with the next unused answer of the same method and URL, else of the same method
// and path. The record says so, since such an answer may not fit. It is for requests that changed since they were
// recorded: their answers are those of before.
func Nearest() Option {
	return Option{func(r *cassette.Recording) error {
		r.Nearest = true
		return nil
	}}
}

// And opens more recordings of the same test, as where each of its agents has one. A request is answered by the first that
// holds it.
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

// Open opens a recording of another tool as an upstream that answers from it. It takes cassettes of go-vcr v1 to v4
// (YAML), traces of httprr (also gzipped), and cassettes of vcrpy (YAML, JSON). The content says which it is.
// Fixtures of aimock are for script.Open of package script. A file has at most 64 MB.
//
// A request is answered as its tool did: by method, URL and body; by method and URL alone, the same body first, where the
// default of the tool asks for no more, which is so for vcrpy and for go-vcr before v4. Bodies that say the same are the
// same: JSON in any order of its members, forms, multipart of any boundary. Credentials in URLs, the headers of the
// request, and ports of loopback addresses are not compared, so that what was redacted does no harm. Each recorded call
// answers once, in their order; httprr's answer again.
//
// A request that is not there fails the test, and names the nearest calls. The upstream is safe for concurrent use. A
// transport that is put around it keeps where an answer is from.
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
