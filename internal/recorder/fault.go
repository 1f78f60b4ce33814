package recorder

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/provider"
)

// A Fault is what a replay does to one answer of a call. The zero value does nothing. Package traceforgetest/fault
// makes faults, so that a test without them links none.
type Fault struct{ damage Damage }

// A Damage describes a fault.
type Damage struct {
	Name   string // its name in messages: "CutAfter(3)"
	Breaks bool   // the client may retry, and then gets the recording
	OfHTTP bool   // not for models and tools

	Status int // status in place of the recorded one; 0 for none
	Retry  time.Duration
	Err    error // ends the call in place of an answer, unless nil
	Delay  time.Duration
	// Body returns what is left of an answer's body, which ends with the error end, or why the fault does not fit. A
	// nil Body leaves all of it.
	Body func(ctx context.Context, a *provider.Answer, end error) (left io.Reader, unfit string)
}

// Fault returns the fault for the damage.
func (d Damage) Fault() Fault { return Fault{d} }

// faults are the faults of a test.
type faults struct {
	all  []*injection
	owed map[key]*injection // faults that broke a call, whose next attempt gets their record
}

// An injection is a fault for a call. It is used once.
type injection struct {
	Damage
	call     int
	used     bool
	unfitted bool // the fault does not fit the answer
	record   int  // index of the record that it was used for
}

func (in *injection) String() string { return fmt.Sprintf("call %d: %s", in.call, in.Name) }

// Inject adds a fault for the answer of a record, by the record's number. The faults of one record are used in order,
// one per attempt. It reports whether the run injects faults.
func (r *Recorder) Inject(call int, f Fault) bool {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	r.run.faults.all = append(r.run.faults.all, &injection{Damage: f.damage, call: call})
	return modes[r.run.Mode].injects
}

// next returns the next fault for a record, or nil.
func (f *faults) next(number int) *injection {
	for _, in := range f.all {
		if in.call == number && !in.used {
			return in
		}
	}
	return nil
}

// inject answers a call with its record and a fault.
func (r *run) inject(d *openProof, in *injection) (*servedRecord, error) {
	in.used, in.record = true, d.record
	if in.Breaks {
		if r.faults.owed == nil {
			r.faults.owed = map[key]*injection{}
		}
		r.faults.owed[d.call.knownKey()] = in
	}
	s := &servedRecord{}
	if in.Status == 0 && in.Err == nil {
		var err error
		if s, err = r.serve(d, d.raw); err != nil {
			return nil, err
		}
		r.answered = r.answered[:len(r.answered)-1]
	}
	if why := in.unfit(d.call, rawAnswer(&r.tape.records[d.record], s.body)); why != "" {
		in.unfitted = true
		delete(r.faults.owed, d.call.knownKey())
		return nil, failuref(fmt.Sprintf("fault cannot be injected: %s, %s: %s", r.recordName(d.record), in.Name, why))
	}
	r.tape.plays[d.record].played = true
	r.answered = append(r.answered, testCall{record: d.record, faulty: in.Breaks})
	s.fault = in
	return s, nil
}

// unfit says why a fault does not fit an answer; "" if it does.
func (in *injection) unfit(c *call, answer *provider.Answer) (why string) {
	switch {
	case in.OfHTTP && isDirect(c.codec.API):
		return "the call is no HTTP"
	case in.Status != 0 && (in.Status < 400 || in.Status > 599):
		return "want a status from 400 to 599"
	case in.Body != nil:
		_, why = in.Body(context.Background(), answer, io.EOF)
	}
	return why
}

// before waits as the fault says, and returns the error with which the fault ends the call, or nil.
func (in *injection) before(ctx context.Context) error {
	if in.Delay > 0 && !pause(ctx, in.Delay) {
		return ctx.Err()
	}
	return in.Err
}

// playFaulty makes the HTTP response of a record with a fault.
func (r *Recorder) playFaulty(req *http.Request, w *wire, c *call, s *servedRecord) (*http.Response, error) {
	in := s.fault
	if err := in.before(req.Context()); err != nil {
		return nil, err
	}
	if in.Status != 0 {
		resp := failedWith(req, in.Status,
			provider.Fail(&w.Wire, r.run.config.Hosts, in.Status, fmt.Sprintf("a fault of the test, %s", in)))
		resp.Header.Set("Retry-After", strconv.Itoa(int((in.Retry+time.Second-1)/time.Second)))
		return resp, nil
	}
	resp, err := r.play(req, w, c, s)
	if err != nil || in.Body == nil {
		return resp, err
	}
	whole, end := io.ReadAll(resp.Body) // proves itself at the end
	switch end {
	case nil:
		end = io.EOF
	case io.ErrUnexpectedEOF: // the recording was cut
	default:
		return nil, end
	}
	body, _ := in.Body(req.Context(), &provider.Answer{ContentType: resp.Header.Get("Content-Type"), Body: whole}, end)
	resp.Body, resp.ContentLength = io.NopCloser(body), -1
	return resp, nil
}

// direct applies a fault to the answer of a call that is not HTTP.
func (in *injection) direct(ctx context.Context, s *servedRecord) error {
	if err := in.before(ctx); err != nil || in.Body == nil {
		return err
	}
	body, _ := in.Body(ctx, &provider.Answer{ContentType: "application/x-ndjson", Body: s.body}, io.EOF)
	var err error
	if s.body, err = io.ReadAll(body); err == io.ErrUnexpectedEOF {
		return nil // the reader misses the end
	}
	return err
}

// injected returns the faults that were injected.
func (f *faults) injected() []*injection {
	return slices.DeleteFunc(slices.Clone(f.all), func(in *injection) bool { return !in.used || in.unfitted })
}

// owedTo returns the fault that has broken an earlier attempt of a call: this one gets the fault's record. nil if there
// is none.
func (f *faults) owedTo(c *call) *injection {
	if len(f.owed) == 0 {
		return nil
	}
	return f.owed[c.knownKey()]
}

// givenUp returns the fault of the first record whose client never got it, or nil. The recording does not say what a
// program does after that.
func (f *faults) givenUp() (first *injection) {
	for _, in := range f.owed {
		if first == nil || in.record < first.record {
			first = in
		}
	}
	return first
}

// excuses reports whether a record needs no call, because the program gave up on an earlier one.
func (f *faults) excuses(i int) bool {
	gaveUp := f.givenUp()
	return gaveUp != nil && gaveUp.record < i
}

// isUncalled reports whether no call played a record that needs one.
func (t *tape) isUncalled(i int) bool {
	return !t.plays[i].played && (!needsNoCall(&t.records[i]) || t.isUnheard(i)) && !t.spares(i) && !t.isCached(i)
}

// sayFaults notes which faults were injected, or are while the test replays.
func (n *notes) sayFaults() {
	all, how := n.run.faults.injected(), "injected: "
	if !modes[n.run.Mode].injects {
		all, how = slices.Clone(n.run.faults.all), "faults are injected in replay only: "
	}
	inorder.By(all, func(a, b *injection) int { return cmp.Compare(a.call, b.call) })
	var said []string
	for len(all) > 0 {
		name, times := all[0].String(), 1
		for times < len(all) && all[times].String() == name {
			times++
		}
		if all = all[times:]; times > 1 {
			name += fmt.Sprintf(", %d times", times)
		}
		said = append(said, name)
	}
	if len(said) == 0 {
		return
	}
	excused := n.run.tape.numbers(func(i int) bool { return n.run.tape.isUncalled(i) && n.run.faults.excuses(i) })
	if len(excused) > 0 && n.run.Mode == Replay {
		said = append(said, "not made behind it: "+calls(excused))
	}
	n.say("%s", n.run.plainText(how+strings.Join(said, "; ")))
}

// wayOut says how to accept a difference from the recording, as a verb and a command, or what caused it if no update
// helps.
func (r *report) wayOut(verb string) string {
	if in := r.run.faults.givenUp(); in != nil {
		return fmt.Sprintf(
			"call %d had the fault %s, and what the program does behind it is not recorded: no update accepts it\n"+
				"end the test there, or record a test of its own whose tool or upstream fails so, without the fault",
			in.call, in.Name)
	}
	if r.run.Mode == Mixed {
		return verb + ": " + r.acceptLive()
	}
	return verb + ": " + r.run.Accept
}

// unusedFaultsFailure returns the failure for faults that met no call, or nil.
func (r *report) unusedFaultsFailure() *Failure {
	var below []string
	for _, in := range r.run.faults.all {
		if !in.used {
			below = append(below, "  "+in.String())
		}
	}
	if len(below) == 0 || !modes[r.run.Mode].injects {
		return nil
	}
	brief := count(len(below), "fault") + " of the test met no call"
	if recorded := r.run.tape.numbers(func(int) bool { return true }); recorded != nil {
		below = append(below, "recorded in "+r.run.file()+": "+calls(recorded))
	}
	return failuref(brief, below...)
}
