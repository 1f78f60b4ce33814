package traceforgetest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Recorder stands between one test and the models it calls. It replays the test's snapshots from the store, and fails
// the test when a call differs from them. When the run updates, it makes the calls and records them.
//
// A Recorder is safe for concurrent use by the goroutines and the parallel subtests of its test. It works until the
// test ends. The test's cleanup makes the final checks and, when recording, writes the snapshots in the order of the
// calls.
type Recorder struct {
	t     testing.TB
	place place
	named string // the store, if the command has to be told of it
	opts  recorder.Options
	calls *recorder.Recorder
	kept  atomic.Int32 // how many requests are among the artifacts

	seeded atomic.Bool // whether seeds of a fuzz target made calls of it, which cannot fail it then

	origin func() snapshot.Source // returns the line of the test that called New, which is looked up on first use

	given []Option
	wrong error         // why the options do not go together; nil means they do
	mode  recorder.Mode // of the option Check or Live, for a run that replays
	kinds []Kind        // which calls that option makes live
}

// running holds the recorders of running tests, by package and test. With two recorders in one test, each would report
// the other's snapshots as not called.
var running locked.Map[string, func() (*Recorder, error)] // functions, since several goroutines may call New at once

// New returns a recorder for the test t. It replays, unless the run updates: see [Updating].
//
// If t already has a recorder, New returns that one, so that each of several agents can call New; a subtest has its own
// t and so its own recorder. A repeated call must have no options or the same options as the first, or the test fails.
// Options are the same if their arguments are equal: recordings of other tools are compared by their files, other
// upstreams by identity, so that one of a func type equals none, and functions by the line that passed them. A setting
// that cannot work, such as an unknown mode, fails the test too. New is safe for concurrent use.
//
// The recorder ends in t's cleanup. There the test fails on drift, on calls without a snapshot, on snapshots that were
// not called, and if it made no call at all (design R10).
//
// In replay, and while calls are answered from another tool's recording, missing API keys are set to placeholders in
// the environment until t ends, because some SDKs refuse to work without a key.
func New(t testing.TB, opts ...Option) *Recorder {
	t.Helper()
	r := &Recorder{t: t}
	for _, opt := range opts {
		if opt.set != nil {
			opt.set(r)
			r.given = append(r.given, opt)
		}
	}
	r, err := r.shared()
	if err != nil {
		r.annotate(r.origin(), err.Error())
		t.Fatalf("traceforge: %v", err)
	}
	return r
}

// shared returns the test's recorder: the one it already has, or r.
func (r *Recorder) shared() (*Recorder, error) {
	var err error
	asking := callers()
	r.origin = sync.OnceValue(func() snapshot.Source { return r.place.origin(asking) })
	if r.place, err = findPlace(asking); err != nil {
		return r, err
	}
	if r.wrong != nil {
		return r, r.wrong
	}
	r.opts.Package, r.opts.Test = r.place.pkg, r.t.Name()
	start := sync.OnceValues(func() (*Recorder, error) { return r, r.start() })
	open, again := running.Add(r.runningKey(), start)
	first, err := open()
	if err != nil {
		running.Delete(r.runningKey())
	} else if again && len(r.given) > 0 {
		if name := differing(first.given, r.given); name != "" {
			return r, fmt.Errorf("New was called with options in %s, which has a recorder with others already: %s differs: "+
				"give each New of a test the same options, or all to the first and none to the others", r.opts.Test, name)
		}
	}
	return first, err
}

// start opens the recorder and registers its end with the test.
func (r *Recorder) start() error {
	if err := r.open(); err != nil {
		return err
	}
	if r.replays(false) || r.opts.Imports() {
		r.t.Cleanup(lendKeys(r.opts.Mode.Live()))
	}
	r.t.Cleanup(func() {
		r.t.Helper()
		r.finish()
	})
	return nil
}

// ended has the tests with a recorder that have ended in this process, by store, package and test.
var ended locked.Map[[2]string, bool]

// misuseTold is set once the way out of a package pattern after -update was printed, which every test of the process
// would repeat.
var misuseTold atomic.Bool

func (r *Recorder) open() error {
	var err error
	if err = r.readMode(); errors.Is(err, errFlagInCI) && toldFlagInCI.Swap(true) {
		return errors.New("-update is refused in CI, as another test says")
	} else if err != nil {
		return err
	}
	if r.opts.Mode == recorder.Check {
		r.opts.Deadline = deadlineOf(r.t)
	}
	if f, whole := r.t.(*testing.F); whole {
		r.opts.Foreign = func() bool {
			is := isFuzzing(f)
			r.seeded.Store(is || r.seeded.Load())
			return is
		}
	} else if flagText("test.fuzzworker") == "true" { // a process that go test -fuzz starts
		return errors.New("go test -fuzz makes inputs up, which have no snapshots: " +
			"without -fuzz a fuzz target runs with its seeds, each of which is a test")
	}
	if pattern := misplacedPackages(flag.Args()); r.opts.Mode != recorder.Replay && pattern != "" {
		brief := fmt.Sprintf("go test -update %s tests only the current directory", pattern)
		if misuseTold.Swap(true) {
			return errors.New(brief + ", as another test says")
		}
		return fmt.Errorf("%s, since go passes %[2]s to the test binary: write TRACEFORGE_UPDATE=1 go test %[2]s",
			brief, pattern)
	}
	if r.opts.Dir, r.opts.Shown, err = r.place.storeDir(r.opts.Dir); err != nil {
		return err
	}
	if r.opts.Shown != gotest.StoreName {
		r.named = r.opts.Dir
	}
	_, r.opts.Namesake = ended.Get([2]string{r.opts.Dir, r.runningKey()})
	isOutside := filepath.IsAbs(r.opts.Shown) // of the module, where go does not look whether files have changed
	if r.opts.Mode != recorder.Replay || isOutside || os.Getenv(usage.ReceiptEnv) != "" {
		uncached()
	}
	r.opts.TestCommand, r.opts.TestFlags = r.place.testCommand(), selection(r.opts.Test)
	r.opts.Accept = updating(r.opts.TestCommand + r.opts.TestFlags)
	r.opts.Fail, r.opts.Tell, r.opts.Late = r.t.Fail, r.tell, tellLate
	r.opts.Waiting = func(holder string) { r.note(fmt.Sprintf("waiting for the store, which %s holds", holder)) }
	if keepsArtifacts() {
		r.opts.Missed = r.keepMiss
	}
	r.opts.Source = func() snapshot.Source { return r.place.sourceIn(callers().frames(), r.origin()) }
	r.opts.Sources = r.place.sources
	if at := os.Getenv(recorder.RecordingsEnv); at != "" && !r.opts.Imports() && r.opts.Mode == recorder.UpdateNew {
		r.opts.Upstream = &recorder.Recordings{URL: at, Package: r.opts.Package, Test: r.opts.Test}
	}
	if r.opts.Known, err = knownTo(r.opts.Dir); err != nil {
		return err
	}
	r.calls, err = recorder.Open(r.opts)
	return err
}

// isFuzzing reports whether the function that was given to f.Fuzz runs, which f panics in.
func isFuzzing(f *testing.F) (is bool) {
	defer func() { is = recover() != nil }()
	f.Helper()
	return false
}

func (r *Recorder) runningKey() string { return r.opts.Package + " " + r.opts.Test }

// replays reports whether the program gets only recorded answers from tools, or from models.
func (r *Recorder) replays(tools bool) bool {
	return r.opts.Mode.Serves() || r.opts.Mode == recorder.Mixed && !r.opts.Checking.Covers(tools)
}

// finish makes the checks that need the complete test, and commits the recording.
func (r *Recorder) finish() {
	r.t.Helper()
	defer running.Delete(r.runningKey())
	if !r.t.Failed() && !r.t.Skipped() && unwinding() {
		r.t.Fail() // it panicked
	}
	if r.seeded.Load() {
		r.t.Errorf(
			"traceforge: a seed of %s made a call with its recorder, and is a test of its own: make a client in the function "+
				"that is given to f.Fuzz, traceforgetest.New(t).Client()", r.opts.Test)
	}
	note := r.calls.Finish(recorder.TestEnd{
		Failed: r.t.Failed(), Skipped: r.t.Skipped(), Partial: r.isPartial(), Subtests: r.failedBelow(),
	})
	if r.t.Failed() {
		failed.Add(r.runningKey(), r.opts.Test)
	} else if _, isTest := r.t.(*testing.T); isTest { // a framework may begin one again
		ended.Set([2]string{r.opts.Dir, r.runningKey()}, true)
	}
	if note != "" {
		r.note(note)
	}
	r.mark()
	if err := errors.Join(receipts.Leave(r.place.root, r.receipt), r.keepReceipt()); err != nil {
		r.t.Errorf("traceforge: %v", err)
	}
}

// failed holds the names of tests with a recorder that failed in this process, by package and test.
var failed locked.Map[string, string]

// failedBelow returns the names of subtests with a recorder whose failure made this test fail.
func (r *Recorder) failedBelow() (names []string) {
	below := r.runningKey() + "/" // once: every test that ends looks through those that failed
	for key, name := range failed.All() {
		if strings.HasPrefix(key, below) {
			failed.Delete(key) // the test may run again
			names = append(names, name)
		}
	}
	return inorder.Strings(names)
}

// Client returns an HTTP client whose calls go through the recorder, for any SDK that takes an *http.Client. The client
// has no timeout.
func (r *Recorder) Client() *http.Client { return &http.Client{Transport: r} }

// Lane returns an HTTP client whose calls are answered only from snapshots of the same lane. The snapshots name the
// lane. Use lanes for callers, such as workers, that send identical requests concurrently and continue with their own
// answers: nothing else tells their calls apart. The name is a short word ("worker-1") that must be the same in each
// run; the same name gives the same lane. Calls of [Recorder.Client], [Recorder.URL] and [Recorder.Model] are in no
// lane: give a model over HTTP the lane's client.
func (r *Recorder) Lane(name string) *http.Client {
	r.t.Helper()
	if !snapshot.LegalLane(name) {
		r.t.Errorf("traceforge: Lane(%q): want at most 32 letters a to z, digits, and . _ -, "+
			"of which the first is a letter or a digit", name)
	}
	return &http.Client{Transport: r.calls.Lane(name)}
}

// Recording reports whether live calls may be made, so that a test needs its API key only then. It is also false while
// calls are answered from another tool's recording (package cassette).
func (r *Recorder) Recording() bool {
	return r.opts.Mode.Live() && !r.opts.Imports()
}

// ClientOver is like [Recorder.Client], but upstream makes the live calls. Use it for a server that the default
// transport does not reach, such as one in the test's process or one behind another protocol.
func (r *Recorder) ClientOver(upstream http.RoundTripper) *http.Client {
	return &http.Client{Transport: r.calls.Over(upstream)}
}

// RoundTrip answers an HTTP request from the test's snapshots or, when the run updates, makes and records the call. It
// implements [http.RoundTripper].
//
// A request that cannot be answered fails the test. The client gets status 400 with the cause in the provider's error
// format, so that it does not retry.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	return r.calls.RoundTrip(req)
}

// URL returns the base URL of a local server that stands in for the named provider ("openai", "anthropic"). Use it for
// code and child processes that take only a URL. Requests to it go through the recorder as if they had been sent to the
// provider. The URL is the root of the provider's host, so append an SDK's own path to it, such as /v1. The server
// stops when the test ends. An unknown provider fails the test at once.
func (r *Recorder) URL(provider string) string {
	r.t.Helper()
	url, closeServer, err := r.calls.Serve(provider)
	if err != nil {
		r.t.Fatalf("traceforge: %v", err)
	}
	r.t.Cleanup(closeServer)
	return url
}

// Model returns a model whose calls, including their chunks, are recorded from m and replayed without it. The same
// rules and the same store apply as for HTTP calls. The name is "provider/model", where the provider consists of
// lower-case letters, digits and hyphens. In replay m may be nil.
func (r *Recorder) Model(name string, m modelio.Model) modelio.Model {
	r.t.Helper()
	return r.action("", name, m)
}

// Action is like [Recorder.Model] for another kind of action that a framework calls in the same way as a model, such as
// a Genkit embedder. With the kind "embed" the API of its calls is "genkit.embed". No determinism rule applies to these
// calls, and a check does not make them. The kind is a word of lower-case letters.
func (r *Recorder) Action(kind, name string, m modelio.Model) modelio.Model {
	r.t.Helper()
	if kind == "generate" || strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz") != "" || kind == "" {
		r.t.Fatalf("traceforge: Action: %q is no kind of action: want lower-case letters, such as embed, and Model for what generates", kind)
	}
	return r.action(kind, name, m)
}

func (r *Recorder) action(kind, name string, m modelio.Model) modelio.Model {
	r.t.Helper()
	provider, model, _ := strings.Cut(name, "/")
	if model == "" || !providerName.MatchString(provider) {
		r.t.Fatalf("traceforge: %q does not name a model: want provider/model, such as google/gemini-2.5-flash", name)
	}
	if m == nil && !r.replays(false) {
		r.t.Fatalf("traceforge: recording %s needs the model itself", name)
	}
	if script, ok := recorder.ScriptOf(m); ok {
		r.calls.Scripted(script)
		m = script
	}
	return &recordedModel{r.calls, recorder.Generation{Action: kind, Provider: provider, Model: model, Live: m}}
}

var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// A recordedModel passes the calls of a model through a recorder.
type recordedModel struct {
	calls *recorder.Recorder
	call  recorder.Generation // without the request
}

// Info returns what the live model declares about itself.
func (m *recordedModel) Info() modelio.ModelInfo { return modelio.InfoOf(m.call.Live) }

// Generate answers from the test's snapshots, or calls the model and records the call.
func (m *recordedModel) Generate(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (
	*modelio.GenerateResponse, error) {
	call := m.call
	call.Request, call.Stream = req, stream
	return m.calls.Generate(ctx, call)
}

// Tool returns a tool whose calls are recorded from run and replayed without it. They are stored in the document of the
// model calls, under the same rules. A call is identified by the tool's name, as the model knows it, and the input. In
// replay run may be nil. Input and output are JSON; a nil input means that there is none. run is called concurrently
// when a model asks for several tools, even after its context has ended. A check calls run on a separate goroutine,
// where t.FailNow fails the test but does not end it.
//
// An error of the tool is recorded by its text and replayed as an error with only that text. An error that comes from
// the end of the call's context is not recorded. Replay returns the output as JSON with the same values.
func (r *Recorder) Tool(
	name string, run func(context.Context, json.RawMessage) (json.RawMessage, error),
) func(context.Context, json.RawMessage) (json.RawMessage, error) {
	r.t.Helper()
	if name == "" {
		r.t.Fatalf("traceforge: Tool: the tool has no name")
	}
	if run == nil && !r.replays(true) {
		r.t.Fatalf("traceforge: recording tool %s needs the tool itself", name)
	}
	return func(ctx context.Context, input json.RawMessage) (json.RawMessage, error) {
		return r.calls.CallTool(ctx, recorder.ToolCall{Name: name, Run: run, Input: input})
	}
}

// Now returns the time at which Now was first called while recording, in UTC and rounded down to a millisecond. The
// time is stored with the snapshots, so that a prompt with a date is the same in each run. All calls of one test return
// the same time. Replays and updates return the stored time; TRACEFORGE_UPDATE=all stores a new one. If the snapshots
// have no time yet, replay fails and the next update adds one. Now is safe for concurrent use.
func (r *Recorder) Now() time.Time {
	r.t.Helper()
	now, err := r.calls.Now()
	if err != nil {
		r.fatal(err)
	}
	return now
}

// fatal ends the test with the whole text of an error of its recorder.
func (r *Recorder) fatal(err error) {
	r.t.Helper()
	text := err.Error()
	if f := (*recorder.Failure)(nil); errors.As(err, &f) && f.Text != "" {
		text = gotest.Spelled(f.Text, r.place.root, r.named)
	}
	r.t.Fatalf("traceforge: %s", r.calls.PlainText(text))
}

// Calls returns the requests and answers so far, in the order of the calls. Use it for assertions on what a program
// did: which tools it used, how often it called which model, what that cost. The calls are copies that the caller may
// change. A recording and its replays return the same calls, with the latency of the recording. Tool calls that one
// answer asked for are in the order of that answer. Other calls that overlapped while recording are in the order of the
// document, because their order may differ between runs. Calls without a complete answer are left out. A snapshot that
// cannot be read fails the test at once.
func (r *Recorder) Calls() []*modelio.Call {
	r.t.Helper()
	calls, err := r.calls.Calls()
	if err != nil {
		r.fatal(err)
	}
	return calls
}

// Snapshots returns the records of the calls so far that have a complete answer, in their order, and whether they were
// replayed. Each record names its provider. Snapshots implements
// [github.com/traceforge/traceforge-go/modelio/session.Recording]. Records of live calls have no hashes yet. A snapshot
// that cannot be read fails the test at once.
func (r *Recorder) Snapshots() (records []snapshot.Snapshot, replayed bool) {
	r.t.Helper()
	records, err := r.calls.Snapshots()
	if err != nil {
		r.fatal(err)
	}
	return records, r.replays(false)
}
