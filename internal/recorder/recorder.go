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
	Shown       string // how messages name it
	Package     string // import path of the test's package
	Test        string // the test's full name
	Accept      string // the command that records the test again
	TestCommand string // the command that runs the tests of the package
	TestFlags   string // its flags that select the test alone
	Mode        Mode
	Program     func(mode string) string    // the command that runs a program in a mode of --update; nil: a test makes the calls
	Masked      func(command string) string // its command without secrets

	Source   func() snapshot.Source // where the call under way comes from
	Fail     func()                 // marks the test as failed at once
	Tell     func(*Failure)         // prints a failure; not called after the test has ended
	Late     func(*Failure)         // prints the failure of a call that comes after the test has ended; nil: it is not printed
	Waiting  func(holder string)    // is called with who holds the store's lock, after 2 seconds; may be nil
	Missed   func(Miss)             // is called for each request that no record answers, also of a fork's live calls; may be nil
	Upstream http.RoundTripper      // makes the live calls

	Ignored          []string // RFC 6901 pointers that keys leave out
	Nondeterministic string   // the reason given for lifting design R7
	Origin           string   // where all answers of the upstream are imported from; empty: it says so itself, or makes calls
	Lifted           bool     // design R7 is lifted
	Allowed          Allowance
	Timing           bool     // streams are replayed at the pace of the recording
	Recorded         []string // hosts, each with its subdomains, whose calls are recorded also where they are no model calls
	PassThrough      []string // hosts, each with its subdomains, whose calls are not recorded
	KeptHeaders      []string // of responses, besides the list
	Decoders         map[string]func(io.Reader) (io.Reader, error)
	Scrub            []scrub.Rule // what is kept as a placeholder, besides what config.json says

	Checking usage.CheckOptions // which calls Check and Mixed make live, and what Check compares
	Deadline time.Time          // when the test must have ended; zero: never

	Known   []usage.Known   // documents that may be the test's under another name
	Sources func() [][]byte // reads the test files of its package; nil: nobody knows them
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
	needsKeys bool // the upstream does: a check makes no call with what stands for a key that is not there
}

// A run is what the calls of a test have come to so far: what its tape answered, and what was recorded. Where a method
// does not lock, its caller holds the lock.
type run struct {
	setup
	steps atomic.Int64 // counts what begins and what is heard of answers, in their order

	mu       sync.Mutex
	ended    bool
	now      time.Time       // that the test was told; zero: it asked for none
	calls    int             // all calls so far
	astray   string          // why a request was turned away, the last one
	tape     *tape           // nil until the first call
	takes    []*take         // what was recorded, in the order of the calls
	answered []testCall      // those that got their answer, in order
	due      []*due          // what was served, to be proven
	sent     []usage.Sent    // where it is asked for
	compare  *drift.Comparer // nil until a call drifts
	causes   causes
	faults   faults
	scripts  []Script // of models that the test wraps

	sought    bool    // whether a document of another name was looked for, see inherit
	inherited string  // its name; empty means none
	above     []*tape // see parents; nil until it is asked for
}

// A Recorder answers the calls of one test, or records them. It is safe for concurrent use. The run's lock guards all
// but checks and sessions, which have their own.
type Recorder struct {
	report
	revision
	pending  pending
	checks   checks
	sessions sessions
	spoken   []*realtime // sessions over WebSockets
}

// A testCall is a call of the test that got its answer, from a record of the tape or from a take.
type testCall struct {
	record int   // its index, where take is nil
	take   *take // nil: the record answered
	faulty bool  // a fault took the place of the record
}

// Open returns a recorder. It reads nothing of the store but config.json: that is for the first call.
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
	err := errors.Join(o.checkHosts("Record", o.Recorded), o.checkHosts("PassThrough", o.PassThrough), o.checkKeptHeaders(o.KeptHeaders))
	if err != nil {
		return nil, err
	}
	s, err := store.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	s.Waiting = o.Waiting
	r := &Recorder{report: report{run: run{setup: setup{Options: o, store: s, name: snapshot.DocumentName(o.Package, o.Test)}}}}
	if o.Upstream == nil { // another one may need no key
		r.Upstream, r.needsKeys = http.DefaultTransport, true
	}
	if o.Mode != Replay { // a replay writes nothing, and what it prints is masked by the environment of then
		r.mask.environment = os.Environ()
	}
	r.pending.report, r.revision.report, r.revision.pending = &r.report, &r.report, &r.pending
	r.checks.report, r.sessions.report = &r.report, &r.report
	return r, r.readConfig()
}

// RoundTrip answers an HTTP request from the document of the test, or makes and records the call.
//
// An answer that cannot be given fails the test. Its client gets an answer of status 400 that names the
// cause, in the shape of its provider's errors, since many clients and programs try an error of the
// transport again, with pauses. An error is only what no answer can say: the request's own context has
// ended, its body cannot be read, the recorded call ended so.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if covers(r.PassThrough, req.URL.Hostname()) {
		return r.pass(req)
	}
	w, err := r.readWire(req)
	var resp *http.Response
	if err == nil {
		resp, err = r.roundTrip(req, w)
	} else if long := asA[*tooLong](err); long != nil {
		resp, err = r.tooLongToKeep(req, w, long)
	}
	if err == nil {
		return resp, nil
	}
	r.sessions.giveUp()
	if f := asA[*Failure](err); f != nil {
		return r.refusal(req, w, f), nil
	}
	if err == req.Context().Err() { // who ended it may have said why, which the transport of net/http tells too
		err = context.Cause(req.Context())
	}
	return resp, err
}

func (r *Recorder) roundTrip(req *http.Request, w *wire) (*http.Response, error) {
	if resp, err := r.sessions.passThrough(req, w); resp != nil || err != nil {
		return resp, err
	}
	if err := r.begin(req.Context(), w); err != nil {
		return nil, err
	}
	c, err := r.identify(w)
	if err != nil {
		return nil, r.failCall(w, w.String(), r.asFailure(err))
	}
	r.takesStep(c, req, w)
	if err := r.endedBefore(req.Context(), c); err != nil {
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
		return nil, inItsTime(req.Context(), err)
	case served.take != nil:
		if r.asksOther(c) {
			other := *w
			req, w = askInstead(req, &other, r.Checking), &other
		}
		return r.live(req, w, served.take)
	case c.over != nil:
		return nil, c.over
	}
	if keepsSent {
		noteSent(r, req, w, served.record)
	}
	if r.Mode == Check {
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
	return r.responseOf(req, s)
}

// answer returns what a call is served, or a take for what a live call will answer.
func (r *Recorder) answer(c *call) (s *servedRecord, err error) {
	if f := r.failedBefore(c); f != nil {
		return nil, f
	}
	if err = r.inherit(c); err == nil {
		err = r.ask(c)
	}
	if err == nil {
		s, err = r.find(c)
	}
	return s, r.refused(c, err)
}

// find asks the sources of the mode for what answers a call.
func (r *Recorder) find(c *call) (s *servedRecord, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.matchUnknown(c)
	for _, answers := range sources[r.Mode] {
		if s, err = answers(r, c); s != nil || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// isRecorded reports whether a call ends as its record says: with an answer, with an error of the transport, or by its
// context.
func isRecorded(err error) bool {
	return err == nil || err == context.Canceled || err == context.DeadlineExceeded || isA[*transportError](err)
}

// refused makes an error the answer to a call, unless it is one that was recorded.
func (r *report) refused(c *call, err error) error {
	if isRecorded(err) {
		return err
	}
	return r.failCall(c.what, c.id(), r.asFailure(err))
}

// begin counts a call of a test that has not ended.
func (r *report) begin(ctx context.Context, what fmt.Stringer) error {
	r.mu.Lock()
	ended := r.ended
	r.calls++
	r.mu.Unlock()
	if ended {
		return r.tooLate(what)
	}
	if tool := nameIn(ctx, insideKey{}); tool != "" && modes[r.Mode].writes {
		return r.failCall(what, what.String(), nested(tool, what))
	}
	return nil
}

// endedBefore notes how the context of a call had ended when it was made, and returns that where no such call counts. Where
// errors of the transport are recorded, one that its caller cancelled does: chance says whether it is sent before that.
func (s *setup) endedBefore(ctx context.Context, c *call) error {
	c.over = ctx.Err()
	isSession := c.codec.Session != nil || c.codec.Realtime != nil
	if c.over == context.Canceled && s.allows(TransportErrors) && s.Mode != Rekey && !isSession && c.nextStep == nil {
		return nil
	}
	return c.over
}

// tooLate is the error of a call of a goroutine that outlives the test, which cannot fail any more. It is told beside
// all tests, once a call: SDKs keep the text of an answer to themselves.
func (s *setup) tooLate(what fmt.Stringer) *Failure {
	f := s.plain(failuref(fmt.Sprintf("%s was called after %s had ended, to which its client belongs: make a client in each test, "+
		"traceforgetest.New(t).Client(), as one that tests share (sync.Once, a variable, a suite) outlives the first of them", what, s.Test)))
	if s.Late != nil && s.first(f.brief) {
		s.Late(f)
	}
	return f
}

// failedBefore returns the failure of a call that is made once more: an SDK that tries again does
// not make a second failure.
func (r *report) failedBefore(c *call) *Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failed) == 0 {
		return nil
	}
	return r.failed[c.id()]
}

// hasFailed reports whether a call failed.
func (r *report) hasFailed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failed) > 0
}

// failCall makes f the answer to a call and to every repetition of it.
func (r *report) failCall(what fmt.Stringer, id string, f *Failure) error {
	return r.failAt(what, id, f, r.Source())
}

// failAt is failCall for a call that comes from elsewhere than the one under way.
func (r *report) failAt(what fmt.Stringer, id string, f *Failure, source snapshot.Source) error {
	r.learn(what)
	f = r.plain(f)
	f.Source = source
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return r.tooLate(what)
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

// fail fails the test, and prints the first failures at once, so that they stand before what the code under test
// prints.
func (r *report) fail(f *Failure) {
	r.Fail()
	r.failures = append(r.failures, r.plain(f))
	if r.told < wholeFailures && f.Text != "" {
		r.told++
		if f.recipe != "" && !r.first(orSay) { // tests that fail for want of a reason are many
			f.Text = f.recipe
		}
		r.Tell(f)
	}
}

// A TestEnd says how a test ended.
type TestEnd struct {
	Failed, Skipped bool
	Partial         bool     // the run left parts of the test out, so that calls which were not made say nothing
	Subtests        []string // names of the subtests that failed and have a recorder of their own, in order
}

// Finish makes the checks that need the whole test, and commits what was recorded if the test
// passed. It tells the failures that were not told yet, and returns what is worth a line in the test's log.
func (r *Recorder) Finish(o TestEnd) string {
	r.endRealtime()
	r.checks.end()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.proveRest()
	if !o.Failed && !o.Skipped {
		r.checkCalls(o.Partial)
	}
	n := notes{report: &r.report}
	switch {
	case modes[r.Mode].writes:
		note := r.settle(o)
		n.say("%s", r.pending.torn)
		n.say("%s", note)
	case r.Mode == Mixed:
		n.ranLive()
	default:
		n.say("%s", r.checks.failAll())
	}
	r.tellRest()
	if o.Failed {
		n.goneWayOut()
	}
	n.injected()
	n.teach()
	n.misses(o)
	return strings.Join(slices.DeleteFunc(n.lines, func(line string) bool { return line == "" }), "\n")
}

// checkCalls fails a test that made no call, or not all of the recorded ones. It is not asked
// where the test has failed already, was skipped, or was run in part (design R10).
func (r *report) checkCalls(partial bool) {
	if len(r.failures) > 0 || partial {
		return
	}
	if f := cmp.Or(r.unused(), r.unasked()); f != nil {
		r.fail(f)
		return
	}
	r.unusedSteps()
	switch {
	case len(r.failures) > 0:
	case r.calls == 0:
		if f := r.noCall(); f != nil {
			r.fail(f)
		}
	case r.tape != nil && !modes[r.Mode].drops && r.Mode != Mixed:
		for i := range r.tape.records {
			if r.tape.isUncalled(i) && !r.faults.excuses(i) {
				r.fail(r.notCalled(i))
			}
		}
	}
}

// openTape opens the test's document with its first call, which names the provider in whose
// directory it is.
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
