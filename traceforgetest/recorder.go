package traceforgetest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio"
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
	place place
	opts  recorder.Options
	calls *recorder.Recorder
	kept  atomic.Int32 // how many requests are among the artifacts

	stack   stack // of the call of New
	found   sync.Once
	askedAt snapshot.Source // the line of the test that called New; origin finds it once

	given []Option
	wrong error         // why the options do not go together; nil means they do
	mode  recorder.Mode // of the option Check or Live, for a run that replays
	kinds []Kind        // which calls that option makes live
}

// running holds the recorders of running tests, by package and test. Two in one test would each see the other's
// snapshots as not called.
var running sync.Map // of func() (*Recorder, error), as several goroutines may ask for one at once

// New returns a recorder for the test t. It replays, unless the run updates: see [Updating].
//
// Without options, or with equal ones, it returns the recorder that t has already, if it has one, so that each of
// several agents can ask for one; a subtest's t has its own. Other options than those of the first call fail the
// test. Options are equal where their data is; recordings of other tools by their files, other upstreams if they are
// the same pointer, functions if one line gave them. A setting that cannot work, such as an unknown mode, fails the
// test too. New may be called by several goroutines at once.
//
// Everything ends in t's cleanup, where the test fails on
// drift, on calls without a snapshot, on snapshots that were not called and on a test that made
// no call at all (design R10).
//
// In replay, and where calls are answered from another tool's recording, API keys that are not in the environment are
// placeholders there until t ends, since some SDKs refuse to work without one.
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

// shared returns the recorder that the test has, or makes r that of the test.
func (r *Recorder) shared() (*Recorder, error) {
	var err error
	r.stack = callers()
	if r.place, err = findPlace(r.stack); err != nil {
		return r, err
	}
	if r.wrong != nil {
		return r, r.wrong
	}
	r.opts.Package, r.opts.Test = r.place.pkg, r.t.Name()
	start := sync.OnceValues(func() (*Recorder, error) { return r, r.start() })
	open, again := running.LoadOrStore(r.runningKey(), start)
	first, err := open.(func() (*Recorder, error))()
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

// origin returns the line of the test that asked for the recorder. It is looked up when it is first needed.
func (r *Recorder) origin() snapshot.Source {
	r.found.Do(func() {
		if r.stack != nil {
			r.askedAt = r.place.origin(r.stack)
		}
	})
	return r.askedAt
}

// start opens a recorder, which ends with its test.
func (r *Recorder) start() error {
	if err := r.open(); err != nil {
		return err
	}
	if r.replays(false) || r.calls.Imports() {
		r.t.Cleanup(lendKeys())
	}
	r.t.Cleanup(func() {
		r.t.Helper()
		r.finish()
	})
	return nil
}

// misuseTold says that the way out of a package pattern behind -update was printed: each test of the process fails by it.
var misuseTold atomic.Bool

func (r *Recorder) open() error {
	var err error
	if err = r.readMode(); errors.Is(err, errFlagInCI) && toldFlagInCI.Swap(true) {
		return errors.New("-update is refused in CI, as another test says")
	} else if err != nil {
		return err
	}
	if r.opts.Mode != recorder.Replay || os.Getenv(usage.ReceiptEnv) != "" {
		uncached()
	}
	if r.opts.Mode == recorder.Check {
		r.opts.Deadline = deadlineOf(r.t)
	}
	if _, whole := r.t.(*testing.F); !whole && flagText("test.fuzzworker") == "true" { // a process that go test -fuzz starts
		return errors.New("go test -fuzz makes inputs up, which have no snapshots: " +
			"without -fuzz a fuzz target runs with its seeds, each of which is a test")
	}
	if pattern := misplacedPackages(flag.Args()); r.opts.Mode != recorder.Replay && pattern != "" {
		brief := fmt.Sprintf("go test -update %s tests only the current directory", pattern)
		if misuseTold.Swap(true) {
			return errors.New(brief + ", as another test says")
		}
		return fmt.Errorf("%s, since go passes %[2]s to the test binary: write TRACEFORGE_UPDATE=1 go test %[2]s", brief, pattern)
	}
	if r.opts.Dir, r.opts.Shown, err = r.place.storeDir(r.opts.Dir); err != nil {
		return err
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
	if at := os.Getenv(recorder.RecordingsEnv); at != "" && r.opts.Upstream == nil && r.opts.Mode == recorder.UpdateNew {
		r.opts.Upstream = &recorder.Recordings{URL: at, Package: r.opts.Package, Test: r.opts.Test}
	}
	if r.opts.Known, err = knownTo(r.opts.Dir); err != nil {
		return err
	}
	r.calls, err = recorder.Open(r.opts)
	return err
}

func (r *Recorder) runningKey() string { return r.opts.Package + " " + r.opts.Test }

// replays reports whether the program is served recorded answers alone: of tools, or of models.
func (r *Recorder) replays(tools bool) bool {
	switch r.opts.Mode {
	case recorder.Replay, recorder.Rekey, recorder.Check:
		return true
	case recorder.Mixed:
		return !r.opts.Checking.Covers(tools)
	}
	return false
}

// finish makes the checks that need the whole test, and commits what was recorded.
func (r *Recorder) finish() {
	r.t.Helper()
	defer running.Delete(r.runningKey())
	if !r.t.Failed() && !r.t.Skipped() && unwinding() {
		r.t.Fail() // it panicked
	}
	note := r.calls.Finish(recorder.TestEnd{
		Failed: r.t.Failed(), Skipped: r.t.Skipped(), Partial: isPartial(r.opts.Test), Subtests: r.failedBelow(),
	})
	if r.t.Failed() {
		failed.Store(r.runningKey(), r.opts.Test)
	}
	if note != "" {
		r.note(note)
	}
	r.mark()
	if err := errors.Join(receipts.Leave(r.place.root, r.receipt), r.keepReceipt()); err != nil {
		r.t.Errorf("traceforge: %v", err)
	}
}

// failed are the names of the tests with a recorder that failed in this process, by package and test.
var failed sync.Map

// failedBelow returns the names of the subtests with a recorder that failed, and so made the test fail.
func (r *Recorder) failedBelow() (names []string) {
	for key, name := range failed.Range {
		if strings.HasPrefix(key.(string), r.runningKey()+"/") {
			failed.Delete(key) // the test may run again
			names = append(names, name.(string))
		}
	}
	return inorder.Strings(names)
}

// Client returns an HTTP client whose calls go through the recorder, for any SDK that takes
// an *http.Client. It sets no timeout.
func (r *Recorder) Client() *http.Client { return &http.Client{Transport: r} }

// Lane returns an HTTP client whose calls get only answers that were recorded in the lane. The lane's name stands in
// the snapshots. It is for callers that ask the same at once and go on with their own answers, such as workers:
// nothing else tells their calls apart. A name is a short word ("worker-1"), which must be the same in each run; the
// same name gives the same lane. Calls of [Recorder.Client], [Recorder.URL] and [Recorder.Model] are in no lane: a
// model over HTTP takes the lane's client.
func (r *Recorder) Lane(name string) *http.Client {
	r.t.Helper()
	if !snapshot.LegalLane(name) {
		r.t.Errorf("traceforge: Lane(%q): want at most 32 letters a to z, digits, and . _ -, "+
			"of which the first is a letter or a digit", name)
	}
	return &http.Client{Transport: r.calls.Lane(name)}
}

// Recording reports whether live calls may be made, so that a test can skip looking up its API
// key otherwise. It is false too while calls are answered from another tool's recording (package cassette).
func (r *Recorder) Recording() bool {
	return r.opts.Mode.Live() && !r.calls.Imports()
}

// ClientOver returns an HTTP client as [Recorder.Client], whose live calls are made by upstream. It is for what
// has a way of its own, such as a server in the test's process or one that is no HTTP underneath.
func (r *Recorder) ClientOver(upstream http.RoundTripper) *http.Client {
	return &http.Client{Transport: r.calls.Over(upstream)}
}

// RoundTrip answers an HTTP request from the snapshots of the test, or makes and records the
// call when the run updates. It implements [http.RoundTripper].
//
// An answer that cannot be given fails the test. The client gets one of status 400 that names the cause,
// in the shape of its provider's errors, so that nothing tries again.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	return r.calls.RoundTrip(req)
}

// URL returns the base URL of a local server that stands for the named provider ("openai", "anthropic"). It is for
// code and child processes that take only a URL. A request to it goes through the recorder as if it had been sent to
// the provider. The URL is the root of the provider's host, so an SDK's own path, such as /v1, is appended to it. The
// server ends with the test. An unknown provider fails the test at once.
func (r *Recorder) URL(provider string) string {
	r.t.Helper()
	url, closeServer, err := r.calls.Serve(provider)
	if err != nil {
		r.t.Fatalf("traceforge: %v", err)
	}
	r.t.Cleanup(closeServer)
	return url
}

// Model returns a model whose calls are recorded from m and replayed without it, chunks included. They are in the
// same store, by the same rules as HTTP calls. The name is "provider/model"; the provider is lower-case letters,
// digits and hyphens. In replay m may be nil.
func (r *Recorder) Model(name string, m modelio.Model) modelio.Model {
	r.t.Helper()
	return r.action("", name, m)
}

// Action returns a model that stands for another kind of action, which a framework calls as it calls models, such as
// an embedder of Genkit's. Where kind is "embed", the API of its calls is "genkit.embed". The rest is as for models,
// except that no answer is held to be deterministic, and that a check leaves the calls alone. The kind is a word of
// lower-case letters.
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
	call  recorder.Generation // without what is asked
}

// Info is what the live model declares of itself.
func (m *recordedModel) Info() modelio.ModelInfo { return modelio.InfoOf(m.call.Live) }

// Generate answers from the snapshots of the test, or calls the model and records.
func (m *recordedModel) Generate(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (
	*modelio.GenerateResponse, error) {
	call := m.call
	call.Request, call.Stream = req, stream
	return m.calls.Generate(ctx, call)
}

// Tool returns a tool whose calls are recorded from run and replayed without it. They are in the document of the
// model calls, by the same rules. A call is identified by the tool's name and its input; the name is what the model
// calls the tool. In replay run may be nil. Input and output are JSON; an input that is nil is absent. run is called
// by several goroutines where a model asks for several tools, also where its context has ended. A check calls it on a
// goroutine of its own: t.FailNow fails the test there, and does not end it.
//
// An error of the tool is recorded by its text, and replayed as an error with that text alone; one that ends
// the call with its context is not recorded. The output is given back as JSON of the same values.
func (r *Recorder) Tool(name string, run func(context.Context, json.RawMessage) (json.RawMessage, error)) func(context.Context, json.RawMessage) (json.RawMessage, error) {
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

// Now returns the time of the first call of Now in the recording, in UTC and to the millisecond. It is stored with
// the snapshots, so that a prompt with a date says the same in each run. It is the same for all calls of one test.
// Replays and updates return what is stored; TRACEFORGE_UPDATE=all takes a new one. A test whose snapshots have no
// time yet gets one from the next update, and fails in replay. It is safe for concurrent use.
func (r *Recorder) Now() time.Time {
	r.t.Helper()
	now, err := r.calls.Now()
	if err != nil {
		r.t.Fatalf("traceforge: %s", r.calls.Plain(err.Error()))
	}
	return now
}

// Calls returns the requests and answers so far, in the order of the calls. It is for assertions on what a program
// did: which tools it used, how often it asked which model, what that cost. Each is a copy, which the caller may
// change. A recording and its replays give the same calls, with the latency of the recording. Tools that one answer
// asked for are in the order of that answer. Other calls that may have overlapped when they were recorded are in the
// order of the document, since which comes first differs in each run. A call that has no whole answer is not among
// them; a snapshot that cannot be read fails the test at once.
func (r *Recorder) Calls() []*modelio.Call {
	r.t.Helper()
	calls, err := r.calls.Calls()
	if err != nil {
		r.t.Fatalf("traceforge: calls: %s", r.calls.Plain(err.Error()))
	}
	return calls
}

// Snapshots returns the records of the calls so far that have a whole answer, in their order, and whether they were
// replayed. Each names its provider. It implements [github.com/traceforge/traceforge-go/modelio/session.Recording].
// Records of this run's own calls have no hashes yet. A snapshot that cannot be read fails the test at once.
func (r *Recorder) Snapshots() (records []snapshot.Snapshot, replayed bool) {
	r.t.Helper()
	records, err := r.calls.Snapshots()
	if err != nil {
		r.t.Fatalf("traceforge: snapshots: %s", r.calls.Plain(err.Error()))
	}
	return records, r.replays(false)
}
