package traceforgetest

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/receipt"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Recorder stands between one test and the models it calls. It replays the test's snapshots
// from the store, and fails the test when a call differs from them; when the run updates, it
// makes the calls and records them.
//
// A Recorder is safe for concurrent use by the goroutines and the parallel subtests of its
// test. It works until the test ends; its checks and, when recording, its writes are made in
// the test's cleanup, in the order of the calls.
type Recorder struct {
	t     testing.TB
	mode  mode
	place place
	store *snapshot.Store
	shown string          // the store's directory in messages
	made  snapshot.Source // where New was called
	asked snapshot.Source // the line of the test that asked for the recorder, maybe through a helper

	// Options.
	dir              string
	upstream         http.RoundTripper
	ignored          []string
	nondeterministic string
	lifted           bool
	incomplete       bool
	transportErrors  bool
	timing           bool
	decoders         map[string]contentDecoder
	passThrough      []string

	mu       sync.Mutex
	ended    bool
	calls    int // all calls so far
	tape     *tape
	takes    []*take // what was recorded, in the order of the calls
	answered []answered
	failures []*failure
	failed   map[canon.Hash]*failure // by the bytes of the call that failed, so that a retry is the same failure
}

// running holds the tests that have a recorder: two in one test would each see the other's
// snapshots as not called.
var running sync.Map

// New returns a recorder for the test t. It replays, unless the run updates: see [Updating].
// What cannot work (an unknown mode, a broken manifest, an unreadable store, a second recorder in
// one test) fails the test at once. Everything ends in t's cleanup, where the test fails on
// drift, on calls without a snapshot, on snapshots that were not called and on a test that made
// no call at all (design R10).
//
// In replay, API keys that are not in the environment are placeholders there until t ends, since
// some SDKs refuse to work without one.
func New(t testing.TB, opts ...Option) *Recorder {
	t.Helper()
	r := &Recorder{t: t, upstream: http.DefaultTransport, failed: map[canon.Hash]*failure{}}
	for _, opt := range opts {
		opt.apply(r)
	}
	if err := r.open(); err != nil {
		r.annotate(err.Error())
		t.Fatalf("traceforge: %v", err)
	}
	if r.mode == replay {
		t.Cleanup(lendKeys())
	}
	t.Cleanup(func() {
		t.Helper()
		r.finish()
	})
	return r
}

func (r *Recorder) open() error {
	var err error
	if r.mode, err = currentMode(); err != nil {
		return err
	}
	if r.mode == update || os.Getenv(receipt.Env) != "" {
		uncached()
	}
	if r.place, err = findPlace(); err != nil {
		return err
	}
	if _, whole := r.t.(*testing.F); !whole && inFuzzWorker() {
		return errors.New("go test -fuzz makes inputs up, which have no snapshots: without -fuzz a fuzz target runs with its seeds, each of which is a test")
	}
	r.made, r.asked = r.place.origin()
	if pattern := misplacedPackages(flag.Args()); r.mode != replay && pattern != "" {
		return fmt.Errorf("go test -update %[1]s tests only the current directory, since go passes %[1]s to the test binary: write go test %[1]s -update", pattern)
	}
	if r.lifted && r.nondeterministic == "" {
		return errors.New("Nondeterministic needs a reason: it is stored in the snapshot for its reviewers")
	}
	for _, pointer := range r.ignored {
		if pointer != "" && pointer[0] != '/' {
			return fmt.Errorf("Ignore(%q): a JSON pointer begins with a slash (RFC 6901), as in Ignore(%q)", pointer, "/"+pointer)
		}
	}
	if r.dir, r.shown, err = r.place.storeDir(r.dir); err != nil {
		return err
	}
	if _, twice := running.LoadOrStore(r.runningKey(), true); twice {
		return fmt.Errorf("New was called twice in %s: share one recorder", r.t.Name())
	}
	if r.store, err = snapshot.Open(r.dir); err == nil {
		r.tape, err = openTape(r.store, r.place.pkg, r.t.Name())
	}
	if err != nil {
		running.Delete(r.runningKey())
		return r.explain(err)
	}
	return nil
}

// inFuzzWorker reports whether this process is one of those that go test -fuzz starts.
func inFuzzWorker() bool {
	worker := flag.Lookup("test.fuzzworker")
	return worker != nil && worker.Value.String() == "true"
}

func (r *Recorder) runningKey() string { return r.place.pkg + " " + r.t.Name() }

// Client returns an HTTP client whose calls go through the recorder, for any SDK that takes
// an *http.Client. It sets no timeout.
func (r *Recorder) Client() *http.Client { return &http.Client{Transport: r} }

// Recording reports whether live calls are made, so that a test can skip looking up its API
// key otherwise.
func (r *Recorder) Recording() bool { return r.mode != replay }

// RoundTrip answers an HTTP request from the snapshots of the test, or makes and records the
// call when the run updates. It implements [http.RoundTripper].
//
// An answer that cannot be given fails the test and is an error that names the cause. Clients
// made by Stainless (those of OpenAI and Anthropic) would try an error again, with pauses:
// they get the same text as an answer of status 400 that they do not try again.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.passesThrough(req.URL.Hostname()) {
		return r.pass(req)
	}
	w, err := r.readWire(req)
	if err != nil {
		return nil, err
	}
	resp, err := r.roundTrip(req, w, r.upstream)
	var f *failure
	if errors.As(err, &f) && req.Header.Get("X-Stainless-Lang") != "" {
		return refusal(req, f), nil
	}
	return resp, err
}

func (r *Recorder) roundTrip(req *http.Request, w *wire, upstream http.RoundTripper) (*http.Response, error) {
	if err := r.begin(w); err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	if r.mode == update {
		return r.record(req, w, upstream)
	}
	resp, err := r.replay(req, w)
	var f *failure
	var recorded *transportError
	switch {
	case err == nil, errors.As(err, &recorded):
		return resp, err
	case !errors.As(err, &f):
		f = r.asFailure(err)
	case f.missing && r.mode == updateNew:
		return r.record(req, w, upstream)
	}
	return nil, r.refuse(w, f)
}

func (r *Recorder) passesThrough(host string) bool {
	for _, listed := range r.passThrough {
		if host == listed || strings.HasSuffix(host, "."+listed) {
			return true
		}
	}
	return false
}

func (r *Recorder) pass(req *http.Request) (*http.Response, error) {
	if r.mode != replay {
		return r.upstream.RoundTrip(req)
	}
	if req.Body != nil {
		req.Body.Close()
	}
	return nil, fmt.Errorf("traceforge: %s is passed through while recording only: nothing is called in replay", req.URL.Hostname())
}

// begin counts a call, and stops one that failed before: an SDK that tries again does not
// make a second failure.
func (r *Recorder) begin(w *wire) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return r.tooLate(w)
	}
	if f := r.failed[w.hash]; f != nil {
		return f
	}
	r.calls++
	return nil
}

// tooLate is the error of a call of a goroutine that outlives the test, which cannot fail any more.
func (r *Recorder) tooLate(w *wire) *failure {
	return failuref(fmt.Sprintf("%s %s was called after %s had ended", w.Method, w.URL, r.t.Name()))
}

// refuse makes f the answer to this call and to every repetition of it.
func (r *Recorder) refuse(w *wire, f *failure) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return r.tooLate(w)
	}
	r.failed[w.hash] = f
	r.fail(f)
	return f
}

// finish makes the checks that need the whole test, and commits what was recorded.
func (r *Recorder) finish() {
	r.t.Helper()
	defer running.Delete(r.runningKey())
	defer r.store.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	if !r.t.Failed() && !r.t.Skipped() && unwinding() {
		r.t.Fail() // it panicked
	}
	if !r.t.Failed() && !r.t.Skipped() {
		r.checkCalls()
	}
	if r.mode != replay {
		r.commit()
	}
	for _, f := range r.failures {
		r.t.Errorf("traceforge: %s", f.text)
		r.annotate(f.text)
	}
	if err := r.leaveReceipt(); err != nil {
		r.t.Errorf("traceforge: %v", err)
	}
}

// checkCalls fails a test that made no call, or not all of the recorded ones. It is not asked
// where the test has failed already or was skipped (design R10).
func (r *Recorder) checkCalls() {
	switch {
	case r.calls == 0:
		r.fail(r.noCall())
	case r.mode != update:
		for i := range r.tape.entries {
			if !r.tape.played[i] {
				r.fail(r.notCalled(i))
			}
		}
	}
}

// fail marks the test as failed now; the text follows when the test ends, at the line of New.
func (r *Recorder) fail(f *failure) {
	r.t.Fail()
	r.failures = append(r.failures, f)
}
