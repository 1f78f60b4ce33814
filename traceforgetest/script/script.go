package script

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Script answers requests with its steps. It is safe for concurrent use; steps without a condition answer requests in
// the order of their arrival.
type Script struct {
	from      string                // names the fixture file; empty if the steps were given to New
	choose    func(*question) *step // chooses the step that answers, and marks it as used
	otherwise func() string         // describes the fixtures; nil if there are none

	mu       sync.Mutex
	steps    []*step
	asked    int
	requests []*modelio.Request
	failed   error // of the first request without an answer
	t        TB
}

// A step is a [Step] with its position.
type step struct {
	Step
	name string // "step 2 of 3"
	used bool
}

// TB is the part of testing.TB that [Script.Check] uses.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// New returns a script of these steps.
func New(steps ...Step) *Script {
	s := &Script{}
	for i, given := range steps {
		s.steps = append(s.steps, &step{Step: given, name: fmt.Sprintf("step %d of %d", i+1, len(steps))})
	}
	s.choose = s.chosen
	return s
}

// Check fails the test when no step answers a request or when the API could not give a step's answer. At the end, it
// fails the test if a step was not used. A recorder that has the script as its upstream makes these checks itself.
// Check returns the script.
func (s *Script) Check(t TB) *Script {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.t = t
	t.Cleanup(func() {
		t.Helper()
		if err := s.Unused(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return s
}

// Client returns an HTTP client that the script answers.
func (s *Script) Client() *http.Client { return &http.Client{Transport: s} }

// Requests returns the requests so far, in the order of their arrival. A request that cannot be decoded has only its
// API.
func (s *Script) Requests() []*modelio.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Unused returns an error that names the steps that were not used. It is nil if there are none, and if a request got no
// answer, because that may have kept the program from making other requests.
func (s *Script) Unused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []string
	for _, st := range s.steps {
		if !st.used {
			left = append(left, "\n  "+st.name+": "+st.said.String())
		}
	}
	if len(left) == 0 || s.failed != nil || s.from != "" {
		return nil
	}
	return fmt.Errorf("script: no request asked for this, of %d that came: remove it, or have it asked for%s",
		s.asked, strings.Join(left, ""))
}

// RoundTrip answers a request. A request without an answer gets an error in its API's format with status 400, which
// clients do not retry. RoundTrip implements [http.RoundTripper].
func (s *Script) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	t, err := s.takeHTTP(req)
	if err != nil {
		return nil, err
	}
	return t.asking.Respond(t.reply)
}

// ServeHTTP answers a request as RoundTrip does. It implements [http.Handler].
func (s *Script) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	t, err := s.takeHTTP(req)
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	t.asking.Serve(w, t.reply)
}

// A match is the step that answers a request.
type match struct {
	*step
	asking *fakeprovider.Asking
	reply  fakeprovider.Reply
	wrong  error // why there is no step; the reply contains it
}

// takeHTTP takes the step that answers a request. It returns an error if the request cannot be read.
func (s *Script) takeHTTP(req *http.Request) (*match, error) {
	t, err := s.ask(req)
	if err == nil && t.wrong != nil {
		s.tell(t.wrong)
	}
	return t, err
}

// ask is takeHTTP for callers that report failures themselves.
func (s *Script) ask(req *http.Request) (*match, error) {
	asking, err := fakeprovider.Ask(req, s.count())
	if err != nil {
		return nil, err
	}
	a := askedBy(req, asking)
	t := &match{asking: asking}
	if t.step, t.wrong = s.take(a); t.wrong == nil {
		t.reply, t.wrong = t.said.reply(asking.Call.API)
		t.reply.Delay, t.reply.Stream.Gap = t.pause, t.pause
	}
	if cut := t.reply.CutAfter; t.wrong == nil && t.reply.Cut != fakeprovider.CutNone {
		if events := asking.Events(t.reply); asking.Call.Stream && cut >= events {
			t.wrong = fmt.Errorf("it is cut after %d events, and the stream has %d", cut, events)
		}
	}
	if t.wrong != nil {
		t.wrong = s.failure(t.step, a, t.wrong)
		t.reply = fakeprovider.Reply{Failure: &fakeprovider.Failure{
			Status: http.StatusBadRequest, Type: "script_error", Message: t.wrong.Error(),
		}}
		return t, nil
	}
	t.reply.Header = withStep(t.reply.Header, t.said.hash())
	return t, nil
}

// count returns the number of the next request.
func (s *Script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.asked
}

// errNone means that no step answers a request.
var errNone = errors.New("no step takes it")

// take returns the step that answers a request and marks it as used. If the step does not fit, it is returned with the
// error.
func (s *Script) take(a *question) (*step, error) {
	s.mu.Lock()
	s.requests = append(s.requests, a.request)
	a.number = len(s.requests)
	s.mu.Unlock()
	st := s.choose(a)
	_, known := apis[a.call.API]
	switch {
	case st == nil && a.call.API == "":
		return nil, errors.New("it is no model call")
	case st == nil && !known:
		return nil, fmt.Errorf("a script has no answers of %s", a.call.API)
	case st == nil && a.refused != "":
		return nil, errors.New("the API refuses it: " + a.refused + "; script.Fail says that this is wanted")
	case st == nil:
		return nil, errNone
	case st.wrong != nil:
		return st, st.wrong
	}
	return st, a.takes(&st.said)
}

// chosen returns the step that answers a request: the first whose condition it meets, or else the next in order.
func (s *Script) chosen(a *question) *step {
	for _, st := range s.steps {
		if st.when != nil && a.may(&st.said) && st.when(a.request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			st.used = true
			return st
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if next := s.next(); next != nil && a.may(&next.said) {
		next.used = true
		return next
	}
	return nil
}

// next returns the next step in order, or nil.
func (s *Script) next() *step {
	for _, st := range s.steps {
		if st.when == nil && !st.used {
			return st
		}
	}
	return nil
}

// failure describes which request got no answer, why, and what was expected.
func (s *Script) failure(st *step, a *question, why error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := fmt.Sprintf("\n  asked: %s", a)
	var err error
	switch {
	case st != nil:
		err = fmt.Errorf("script: %s cannot answer request %d: %w\n  it says: %s%s", st.name, a.number, why, &st.said, asked)
	case why == errNone:
		err = fmt.Errorf("script: request %d gets no answer: %w%s\n  %s", a.number, why, asked, s.expected())
	default: // which no further step would answer
		err = fmt.Errorf("script: request %d gets no answer: %w%s", a.number, why, asked)
	}
	if s.failed == nil {
		s.failed = err
	}
	return err
}

// expected describes what the script has for the next request.
func (s *Script) expected() string {
	next := s.next()
	switch {
	case s.from != "":
		return "none of " + s.from + " matches: " + strings.ReplaceAll(s.otherwise(), "\n", "\n  ")
	case next != nil:
		return "next is " + next.name + ": " + next.said.String()
	case len(s.steps) == 0:
		return "the script has no steps: script.New(script.Say(…))"
	}
	return "each step is used, or has a condition that does not hold: add one, as script.Say(…)"
}

// tell fails the test that Check was called for.
func (s *Script) tell(err error) {
	s.mu.Lock()
	t := s.t
	s.mu.Unlock()
	if t != nil {
		t.Helper()
		t.Errorf("%v", err)
	}
}

// ForRecorder returns the script in the form that a recorder uses. Package traceforgetest calls it for upstreams and
// models.
func (s *Script) ForRecorder() recorder.Script { return asUpstream{s} }

// asUpstream is a script for a recorder, which reports failures itself.
type asUpstream struct{ *Script }

// TakeHTTP takes the step that answers a request.
func (u asUpstream) TakeHTTP(req *http.Request) (*recorder.Step, error) {
	t, err := u.ask(req)
	if err == nil {
		err = t.wrong
	}
	if err != nil {
		return nil, err
	}
	return &recorder.Step{
		Hash: t.said.hash(), Says: t.said.String(), Name: t.name,
		HTTP: func() (*http.Response, error) { return t.asking.Respond(t.reply) },
	}, nil
}

// TakeModel takes the step that answers a model call.
func (u asUpstream) TakeModel(req *modelio.GenerateRequest) (*recorder.Step, error) {
	st, err := u.takeModel(req)
	if err != nil {
		return nil, err
	}
	return &recorder.Step{
		Hash: st.said.hash(), Says: st.said.String(), Name: st.name,
		Model: modelio.ModelFunc(
			func(ctx context.Context, _ *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
				return st.generate(ctx, stream)
			}),
	}, nil
}
