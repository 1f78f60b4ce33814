package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Options say how a recorder works.
type Options struct {
	Dir         string // the store's directory
	Shown       string // its name in messages
	Package     string // import path of the test's package
	Test        string // the test's full name
	Accept      string // the command that records the test again
	TestCommand string // the command that runs the tests of the package
	TestFlags   string // the flags that select the test alone
	Mode        Mode
	// the command that runs a program in a mode of --update; nil if a test makes the calls
	Program func(mode string) string
	Masked  func(command string) string // the program's command without secrets

	Source   func() snapshot.Source // the source of the call under way
	Fail     func()                 // marks the test as failed at once
	Tell     func(*Failure)         // prints a failure; not called after the test has ended
	Late     func(*Failure)         // prints the failure of a call after the end of the test; may be nil
	Foreign  func() bool            // reports that another test makes the call under way; may be nil
	Namesake bool                   // a test of this name has ended in this process
	Waiting  func(holder string)    // is called with the holder of the store's lock, after 2 seconds; may be nil
	// is called for each request without a record, including a fork's live calls; may be nil
	Missed   func(Miss)
	Upstream http.RoundTripper // makes the live calls

	Ignored          []string // RFC 6901 pointers that keys leave out
	Nondeterministic string   // the given reason for lifting design R7
	Origin           string   // the origin of all imported answers; empty if the upstream says it for each, or makes calls
	Lifted           bool     // design R7 is lifted
	Allowed          Allowance
	Timing           bool     // streams are replayed at the recorded pace
	Recorded         []string // hosts, with their subdomains, whose calls are recorded even if they are no model calls
	PassThrough      []string // hosts, with their subdomains, whose calls are not recorded
	KeptHeaders      []string // of responses, besides the standard list
	Decoders         map[string]func(io.Reader) (io.Reader, error)
	Scrub            []scrub.Rule // values that are kept as placeholders, besides those of config.json

	Checking usage.CheckOptions // which calls Check and Mixed make live, and what Check compares
	Deadline time.Time          // when the test must have ended; zero for never

	Known   []usage.Known   // documents that the test may have had under another name
	Sources func() [][]byte // reads the test files of the package; may be nil
}

// A setup is what a recorder is given, and does not change. It has options, the test that makes the calls, the store
// with its rules, and secrets that must not be printed.
type setup struct {
	Options
	mask
	store     *store.Store
	name      string // of the test's document
	config    *store.Config
	rules     *scrub.Rules
	needsKeys bool // whether the upstream needs keys: a check makes no call with a placeholder for a missing key
}

// A run is the state of a test's calls so far: the played tape and the new records. Unless a method locks, its caller
// holds the lock.
type run struct {
	setup
	steps atomic.Int64 // orders the beginnings of calls and the arrivals of answers

	mu sync.Mutex
	traffic
	ended    bool
	now      time.Time    // the time that the test was told; zero if it asked for none
	tape     *tape        // nil until the first call
	takes    []*take      // the live calls, in order
	answered []testCall   // the calls that got their answer, in order
	proofs   []*openProof // served answers that need a proof
	given    givenIDs
	compare  *drift.Comparer // nil until a call drifts
	causes   causes
	faults   faults
	scripts  []Script // of models that the test wraps

	sought    bool    // whether another test has the records, see renamedFrom
	inherited string  // the name of the inherited document, or ""
	above     []*tape // see parents; nil until it is needed
}

// A traffic is what the requests of a run show, even those that get no answer.
type traffic struct {
	called bool            // a call was made, even if it was refused
	astray string          // why the last request was turned away
	own    map[string]bool // hosts that the program calls by itself, see isLed
	sent   []usage.Sent    // if it is asked for
}

// A Recorder answers the calls of one test, or records them. It is safe for concurrent use. The run's lock guards
// everything but checks and sessions, which have their own.
type Recorder struct {
	run       run
	report    report
	revision  revision
	pending   pending
	checks    checks
	sessions  sessions
	realtimes []*realtime // sessions over WebSockets
}

// A testCall is a call of the test that got its answer, from a record of the tape or from a take.
type testCall struct {
	record int   // index of the record, if take is nil
	take   *take // nil if a record answered
	faulty bool  // a fault replaced the record
}

// Open returns a recorder. It reads only config.json of the store; the first call reads more.
func Open(o Options) (*Recorder, error) {
	if o.Lifted && o.Nondeterministic == "" {
		return nil, errors.New("option Nondeterministic needs a reason: it is stored in the snapshot for its reviewers")
	}
	for _, pointer := range o.Ignored {
		if pointer != "" && pointer[0] != '/' {
			return nil, fmt.Errorf("%s: a JSON pointer begins with a slash (RFC 6901), as in %s",
				o.option("Ignore", pointer), o.option("Ignore", "/"+pointer))
		}
	}
	err := errors.Join(o.checkHosts("Record", o.Recorded), o.checkHosts("PassThrough", o.PassThrough),
		o.checkKeptHeaders(o.KeptHeaders))
	if err != nil {
		return nil, err
	}
	s, err := store.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	s.Waiting = o.Waiting
	r := &Recorder{run: run{setup: setup{Options: o, store: s, name: snapshot.DocumentName(o.Package, o.Test)}}}
	r.run.given = givenIDs{stored: map[string]bool{}, live: map[string]bool{}}
	if o.Upstream == nil { // another upstream may need no key
		r.run.Upstream, r.run.needsKeys = http.DefaultTransport, true
	}
	if o.Mode != Replay { // a replay writes nothing, and masks its output by the environment at that time
		r.run.mask.environment = os.Environ()
	}
	r.report.run = &r.run
	r.pending = pending{run: &r.run, report: &r.report}
	r.revision = revision{run: &r.run, report: &r.report, pending: &r.pending}
	r.checks, r.sessions = checks{run: &r.run, report: &r.report}, sessions{run: &r.run, report: &r.report}
	r.checks.oneLess = sync.NewCond(&r.checks.mu)
	return r, r.run.readConfig()
}

// RoundTrip answers an HTTP request from the document of the test, or makes and records the call.
//
// A call that cannot be answered fails the test. Its client gets an answer of status 400 that names the cause, in the
// shape of its provider's errors, since many clients and programs retry errors of the transport, with pauses. RoundTrip
// returns an error only if no answer can express it: the request's own context has ended, its body cannot be read, or
// the recorded call ended with an error.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if covers(r.run.PassThrough, req.URL.Hostname()) {
		return r.run.passThrough(req)
	}
	if r.run.isLed(req.URL) {
		req = req.WithContext(context.WithValue(req.Context(), upstreamKey{}, ledTransport{r.run.with(UpdateAll.String())}))
	}
	w, err := r.run.readWire(req)
	var resp *http.Response
	if err == nil {
		resp, err = r.roundTrip(req, w)
	} else if long := asA[*tooLong](err); long != nil {
		if err = r.report.begin(req.Context(), w); err == nil {
			err = r.report.failCall(w, w.String(), failuref(fmt.Sprintf("%s: %v", w, long), raiseLimit))
		}
	}
	if err == nil {
		return resp, nil
	}
	r.sessions.wakeAll()
	if f := asA[*Failure](err); f != nil {
		return r.run.response400(req, w, f), nil
	}
	// whoever cancelled it may have given a cause, which the transport of net/http reports too
	if err == req.Context().Err() {
		err = context.Cause(req.Context())
	}
	return resp, err
}

func (r *Recorder) roundTrip(req *http.Request, w *wire) (*http.Response, error) {
	if resp, err := r.sessions.answerAside(req, w); resp != nil || err != nil {
		return resp, err
	}
	if err := r.report.begin(req.Context(), w); err != nil {
		return nil, err
	}
	c, err := r.run.identify(w)
	if err != nil {
		return nil, r.report.failCall(w, w.String(), r.run.asFailure(err))
	}
	r.run.setStep(c, req, w)
	if err := r.run.endedBefore(req.Context(), c); err != nil {
		return nil, err
	}
	if c.codec.Realtime != nil {
		if resp, err := r.realtime(req, w, c); resp != nil || err != nil {
			return resp, err
		}
	}
	if resp, err := r.listenEmpty(req, w, c); resp != nil || err != nil {
		return resp, err
	}
	served, err := r.answer(c)
	switch {
	case err != nil:
		return nil, r.run.inItsTime(req.Context(), c, err)
	case served.take != nil:
		if r.run.asksOther(c) {
			other := *w
			req, w = askInstead(req, &other, r.run.Checking), &other
		}
		return r.live(req, w, served.take)
	case c.over != nil:
		return nil, c.over
	}
	if keepsSent {
		noteSent(r, req, w, served.record)
	}
	if r.run.Mode == Check {
		r.checkHTTP(req, w, c, served)
	}
	if served.fault != nil {
		return r.playFaulty(req, w, c, served)
	}
	return r.play(req, w, c, served)
}

// play makes the HTTP response of a record, within its session if its API has sessions.
func (r *Recorder) play(req *http.Request, w *wire, c *call, s *servedRecord) (*http.Response, error) {
	if c.codec.Session != nil {
		return r.sessions.play(req, w, c, s)
	}
	resp, err := r.report.responseOf(req, s)
	if err == nil && c.codec.Listens != nil {
		r.sessions.note(nil, nil, "")
		r.sessions.paceStream(resp, c, s)
	}
	return resp, err
}

// answer returns the record that a call is served, or a take for a live call.
func (r *Recorder) answer(c *call) (s *servedRecord, err error) {
	if f := r.report.repeatedFailure(c); f != nil {
		return nil, f
	}
	if err = r.run.inherit(c); err == nil {
		err = r.takeStep(c)
	}
	if err == nil {
		s, err = r.askSources(c)
	}
	return s, r.report.failUnlessRecorded(c, err)
}

// askSources asks the sources of the mode for the answer to a call.
func (r *Recorder) askSources(c *call) (s *servedRecord, err error) {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	r.run.matchUnknown(c)
	r.run.nameGiven(c)
	for _, answers := range sources[r.run.Mode] {
		if s, err = answers(r, c); s != nil || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// isRecorded reports whether a call ends as its record says: with an answer, an error of the transport, or the end of
// its context.
func isRecorded(err error) bool {
	return err == nil || err == context.Canceled || err == context.DeadlineExceeded || isA[*transportError](err)
}

// failUnlessRecorded makes an error the answer to a call, unless the error was recorded.
func (r *report) failUnlessRecorded(c *call, err error) error {
	if isRecorded(err) {
		return err
	}
	f := r.run.asFailure(err)
	f.ofModel = c.codec.Generates
	return r.failCall(c.what, c.id(), f)
}

// begin notes a call. It refuses one after the end of the test, and one that a tool makes while its call is recorded.
func (r *report) begin(ctx context.Context, what fmt.Stringer) error {
	r.run.mu.Lock()
	ended := r.run.ended
	r.run.called = true
	r.run.mu.Unlock()
	switch {
	case ended:
		return r.run.lateFailure(what)
	case r.run.Foreign != nil && r.run.Foreign():
		return r.run.plain(failuref(fmt.Sprintf("%s was made by a seed of %s, which is a test of its own", what, r.run.Test)))
	}
	if tool := nameIn(ctx, insideKey{}); tool != "" && modes[r.run.Mode].writes {
		return r.failCall(what, what.String(), nestedFailure(tool, what))
	}
	return nil
}

// endedBefore returns the error of a call whose context ended before the call was made, if such a call does not count.
// If errors of the transport are recorded, it does count, since chance decides whether the call or the end of its
// context comes first.
func (s *setup) endedBefore(ctx context.Context, c *call) error {
	c.over = ctx.Err()
	isSession := c.codec.Session != nil || c.codec.Realtime != nil
	if c.over != nil && s.allows(TransportErrors) && s.Mode != Rekey && !isSession && c.nextStep == nil {
		return nil
	}
	return c.over
}

// lateFailure is the error of a call by a goroutine that outlives the test, which can no longer fail. Each such call is
// reported apart from all tests, since SDKs do not show the text of an answer.
func (s *setup) lateFailure(what fmt.Stringer) *Failure {
	f := s.plain(
		failuref(fmt.Sprintf("%s was called after %s had ended, to which its client belongs: make a client in each test, "+
			"traceforgetest.New(t).Client(), as one that tests share (sync.Once, a variable, a suite) outlives the first of them; "+
			"register a cleanup that makes calls after New", what, s.Test)))
	if s.Late != nil && s.saysFirst(f.brief) {
		s.Late(f)
	}
	return f
}

// repeatedFailure returns the failure of a repeated call: an SDK's retry does not cause a second failure.
func (r *report) repeatedFailure(c *call) *Failure {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	if len(r.failed) == 0 {
		return nil
	}
	return r.failed[c.id()]
}

// hasFailed reports whether a call failed.
func (r *report) hasFailed() bool {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	return len(r.failed) > 0
}

// failCall makes f the answer to a call and to each repetition of it.
func (r *report) failCall(what fmt.Stringer, id string, f *Failure) error {
	return r.failAt(what, id, f, r.run.Source())
}

// failAt is failCall for a call with another source than the one under way.
func (r *report) failAt(what fmt.Stringer, id string, f *Failure, source snapshot.Source) error {
	r.run.learn(what)
	f = r.run.plain(f)
	f.Source = source
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	if r.run.ended {
		return r.run.lateFailure(what)
	}
	if before := r.failed[id]; before != nil && before.brief == f.brief {
		return before
	}
	if r.failed == nil {
		r.failed = map[string]*Failure{}
	}
	r.failed[id] = f
	r.fail(f)
	return f
}

// fail fails the test, and prints the first failures at once, so that they come before the output of the code under
// test.
func (r *report) fail(f *Failure) {
	r.run.Fail()
	r.failures = append(r.failures, r.run.plain(f))
	if r.told < wholeFailures && f.Text != "" {
		r.told++
		r.run.Tell(f)
	}
}

// A TestEnd says how a test ended.
type TestEnd struct {
	Failed, Skipped bool
	Partial         bool     // the run left out parts of the test, so missing calls mean nothing
	Subtests        []string // names of the failed subtests with a recorder of their own, in order
}

// Finish makes the checks that need the whole test, and commits the recording if the test passed. It reports the
// failures that were not reported yet, and returns a note for the test's log.
func (r *Recorder) Finish(o TestEnd) string {
	r.endRealtime()
	r.checks.end()
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	r.run.ended = true
	r.report.proveRest()
	if !o.Failed && !o.Skipped {
		r.report.checkCalls(o.Partial)
		r.checkTurns(o.Partial)
	}
	n := notes{run: &r.run, report: &r.report}
	switch {
	case modes[r.run.Mode].writes:
		note := r.revision.settle(o)
		n.say("%s", r.pending.torn)
		n.say("%s", note)
	case r.run.Mode == Mixed:
		n.sayLiveCalls()
	default:
		n.say("%s", r.checks.failAll())
	}
	r.report.tellRest()
	if o.Failed {
		n.sayGoneModels()
	}
	n.sayFaults()
	n.sayRefusedSettings()
	n.sayLosses(o)
	return strings.Join(slices.DeleteFunc(n.lines, func(line string) bool { return line == "" }), "\n")
}

// checkCalls fails a test that made no call, or not all recorded calls. It is not called for a test that failed, was
// skipped, or ran in part (design R10).
func (r *report) checkCalls(partial bool) {
	if len(r.failures) > 0 || partial {
		return
	}
	if f := cmp.Or(r.unusedFaultsFailure(), r.unreplacedModelFailure()); f != nil {
		r.fail(f)
		return
	}
	r.unusedSteps()
	switch {
	case len(r.failures) > 0:
	case !r.run.called:
		if f := r.run.noCallFailure(); f != nil {
			r.fail(f)
		}
	case r.run.tape != nil && !modes[r.run.Mode].drops && r.run.Mode != Mixed:
		for i := range r.run.tape.records {
			if r.run.tape.isUncalled(i) && !r.run.faults.excuses(i) {
				r.fail(r.uncalledFailure(i))
			}
		}
	}
}

// openTape opens the test's document at its first call, which names the provider in whose directory the document is.
func (r *run) openTape(provider string) error {
	if r.tape != nil {
		return nil
	}
	doc, err := r.store.Load(r.name, provider)
	if errors.Is(err, fs.ErrNotExist) {
		doc, err = r.former(provider)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.tape = newTape(doc, r.rules)
	return nil
}
