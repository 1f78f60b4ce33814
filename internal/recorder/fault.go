package recorder

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/provider"
)

// A Fault is what a replay does to one answer of a call. The zero value does nothing.
type Fault struct {
	name   string // as messages have it: "CutAfter(3)"
	breaks bool   // the client may try again, and then gets the recording

	status int // the status of an answer in place of the recorded one; 0 means none
	retry  time.Duration
	err    error // ends the call in place of an answer; nil means none
	delay  time.Duration
	event  int // of the stream
	least  int // that it can be
	stream func(*provider.Stream) faultyBody
	split  bool
}

// Status answers with a status instead of the recording.
func Status(status int, retryAfter time.Duration) Fault {
	return Fault{name: fmt.Sprintf("Status(%d)", status), breaks: true, status: status, retry: retryAfter}
}

// Disconnect ends the call with an error of the transport instead of the recording.
func Disconnect(err error) Fault {
	return Fault{name: fmt.Sprintf("Disconnect(%v)", err), breaks: true, err: &net.OpError{Op: "read", Net: "tcp", Err: err}}
}

// Delay lets the answer wait.
func Delay(d time.Duration) Fault { return Fault{name: fmt.Sprintf("Delay(%v)", d), delay: d} }

// Split ends a read inside each character of more than one byte.
func Split() Fault { return Fault{name: "Split()", split: true} }

// CutAfter breaks the connection behind an event of a stream; 0 means before the first.
func CutAfter(event int) Fault { return changed("CutAfter", event, 0, upTo, io.ErrUnexpectedEOF) }

// EndAfter ends a stream behind an event, as if it were whole.
func EndAfter(event int) Fault { return changed("EndAfter", event, 0, upTo, io.EOF) }

// Drop leaves an event of a stream out.
func Drop(event int) Fault { return changed("Drop", event, 1, (*provider.Stream).Drop, io.EOF) }

// Repeat sends an event of a stream twice.
func Repeat(event int) Fault { return changed("Repeat", event, 1, (*provider.Stream).Repeat, io.EOF) }

// changed returns a fault that serves of a stream what change returns. event must be at least least.
func changed(name string, event, least int, change func(*provider.Stream, int) []byte, end error) Fault {
	return Fault{name: fmt.Sprintf("%s(%d)", name, event), breaks: true, event: event, least: least,
		stream: func(s *provider.Stream) faultyBody {
			return faultyBody{pieces: [][]byte{change(s, event)}, end: end}
		}}
}

func upTo(s *provider.Stream, event int) []byte {
	until, _ := s.Bytes(event)
	return until
}

// Stall lets a stream wait behind an event; 0 means before the first.
func Stall(event int, d time.Duration) Fault {
	return Fault{name: fmt.Sprintf("Stall(%d, %v)", event, d), event: event, stream: func(s *provider.Stream) faultyBody {
		until, behind := s.Bytes(event)
		return faultyBody{pieces: [][]byte{until, behind}, pause: d, end: io.EOF}
	}}
}

// faults are those of a test.
type faults struct {
	all  []*injection
	owed map[key]*injection // by call: a fault that broke it, whose record its next try gets
}

// An injection is a fault of a call, which is used once.
type injection struct {
	Fault
	call     int
	used     bool
	unfitted bool // the answer is not such that it can be injected
	record   int  // the index of the record that it was used on
}

func (in *injection) String() string { return fmt.Sprintf("call %d: %s", in.call, in.name) }

// Inject has a fault injected into the answer of a record, by its number. The faults of one record are used in their
// order, one a try. It reports whether the run injects faults.
func (r *Recorder) Inject(call int, f Fault) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults.all = append(r.faults.all, &injection{Fault: f, call: call})
	return modes[r.Mode].injects
}

// next returns what is to be injected into a record; nil: nothing.
func (f *faults) next(number int) *injection {
	for _, in := range f.all {
		if in.call == number && !in.used {
			return in
		}
	}
	return nil
}

// inject answers a call with its record and a fault.
func (r *run) inject(d *due, in *injection) (*servedRecord, error) {
	in.used, in.record = true, d.record
	if in.breaks {
		if r.faults.owed == nil {
			r.faults.owed = map[key]*injection{}
		}
		r.faults.owed[d.call.knownKey()] = in
	}
	s := &servedRecord{}
	if in.status == 0 && in.err == nil {
		var err error
		if s, err = r.serve(d, d.raw); err != nil {
			return nil, err
		}
		r.answered = r.answered[:len(r.answered)-1]
	}
	if why := in.unfit(d.call, rawAnswer(&r.tape.records[d.record], s.body)); why != "" {
		in.unfitted = true
		delete(r.faults.owed, d.call.knownKey())
		return nil, failuref(fmt.Sprintf("fault cannot be injected: %s, %s: %s", r.record(d.record), in.name, why))
	}
	r.tape.played[d.record] = true
	r.answered = append(r.answered, testCall{record: d.record, faulty: in.breaks})
	s.fault = in
	return s, nil
}

// unfit says why a fault cannot be injected into an answer; "": it can.
func (in *injection) unfit(c *call, answer *provider.Answer) string {
	direct := isDirect(c.codec.API)
	switch {
	case direct && (in.status != 0 || in.split):
		return "the call is no HTTP"
	case in.status != 0 && (in.status < 400 || in.status > 599):
		return "want a status from 400 to 599"
	case in.split && splits(answer.Body) == nil:
		return "the answer has no character of more than one byte"
	case in.stream == nil:
		return ""
	}
	s := provider.StreamOf(answer)
	if s == nil {
		return "the answer is no stream"
	}
	if n := s.Len(); in.event < in.least || in.event > n {
		return fmt.Sprintf("want an event from %d to %d", in.least, n)
	}
	return ""
}

// before waits as a fault says, and returns the error with which the fault ends the call, or nil.
func (in *injection) before(ctx context.Context) error {
	if in.delay > 0 && !pause(ctx, in.delay) {
		return ctx.Err()
	}
	return in.err
}

// playFaulty makes the HTTP response of a record with a fault.
func (r *Recorder) playFaulty(req *http.Request, w *wire, c *call, s *servedRecord) (*http.Response, error) {
	in := s.fault
	if err := in.before(req.Context()); err != nil {
		return nil, err
	}
	if in.status != 0 {
		resp := failedWith(req, in.status, provider.Fail(&w.Wire, r.config.Hosts, in.status, fmt.Sprintf("a fault of the test, %s", in)))
		resp.Header.Set("Retry-After", strconv.Itoa(int((in.retry+time.Second-1)/time.Second)))
		return resp, nil
	}
	resp, err := r.play(req, w, c, s)
	if err != nil || in.stream == nil && !in.split {
		return resp, err
	}
	whole, err := io.ReadAll(resp.Body) // which proves itself at its end
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	body := in.body(&provider.Answer{ContentType: resp.Header.Get("Content-Type"), Body: whole})
	if body.ctx = req.Context(); err != nil {
		body.end = err // the recording was cut
	}
	resp.Body, resp.ContentLength = &body, -1
	return resp, nil
}

// body returns what a fault, which fits the answer, leaves of it.
func (in *injection) body(a *provider.Answer) faultyBody {
	if in.split {
		return faultyBody{pieces: splits(a.Body), end: io.EOF}
	}
	return in.stream(provider.StreamOf(a))
}

// direct is what a fault does to the answer of a call that is no HTTP.
func (in *injection) direct(ctx context.Context, s *servedRecord) error {
	if err := in.before(ctx); err != nil || in.stream == nil {
		return err
	}
	body := in.body(&provider.Answer{ContentType: "application/x-ndjson", Body: s.body})
	body.ctx = ctx
	var err error
	if s.body, err = io.ReadAll(&body); err == io.ErrUnexpectedEOF {
		return nil // its reader misses the end
	}
	return err
}

// splits cuts a body inside each character of more than one byte; nil means it has none.
func splits(body []byte) (pieces [][]byte) {
	rest := body
	for i := 0; i < len(rest); {
		_, size := utf8.DecodeRune(rest[i:])
		if size == 1 {
			i++
			continue
		}
		pieces, rest, i = append(pieces, rest[:i+1]), rest[i+1:], size-1
	}
	if pieces != nil {
		pieces = append(pieces, rest)
	}
	return pieces
}

// A faultyBody serves what a fault left of a body, piece by piece.
type faultyBody struct {
	ctx    context.Context
	pieces [][]byte
	pause  time.Duration // behind the first piece
	end    error
}

func (b *faultyBody) Read(p []byte) (int, error) {
	for len(b.pieces) > 0 && len(b.pieces[0]) == 0 {
		b.pieces = slices.Delete(b.pieces, 0, 1)
		wait := b.pause
		b.pause = 0
		if wait > 0 && !pause(b.ctx, wait) {
			return 0, context.Cause(b.ctx)
		}
	}
	if err := context.Cause(b.ctx); err != nil {
		return 0, err
	}
	if len(b.pieces) == 0 {
		return 0, b.end
	}
	n := copy(p, b.pieces[0])
	b.pieces[0] = b.pieces[0][n:]
	return n, nil
}

func (b *faultyBody) Close() error { return nil }

// injected returns the faults that were.
func (f *faults) injected() []*injection {
	return slices.DeleteFunc(slices.Clone(f.all), func(in *injection) bool { return !in.used || in.unfitted })
}

// owedTo returns the fault that has broken a call before; this try of it gets the fault's record. nil: none has.
func (f *faults) owedTo(c *call) *injection {
	if len(f.owed) == 0 {
		return nil
	}
	return f.owed[c.knownKey()]
}

// givenUp returns the fault of the first record whose client never got it; nil: there is none. The recording does not
// say what a program does then.
func (f *faults) givenUp() (first *injection) {
	for _, in := range f.owed {
		if first == nil || in.record < first.record {
			first = in
		}
	}
	return first
}

// excuses reports whether a record needs no call, as the program gave up on an earlier one.
func (f *faults) excuses(i int) bool {
	gaveUp := f.givenUp()
	return gaveUp != nil && gaveUp.record < i
}

// isUncalled reports whether no call played a record that needs one.
func (t *tape) isUncalled(i int) bool {
	return !t.played[i] && !needsNoCall(&t.records[i]) && !t.spares(i)
}

// injected says which faults were injected.
func (n *notes) injected() {
	if len(n.faults.all) > 0 && !modes[n.Mode].injects {
		n.say("faults are injected in replay only: %s", n.faults.all[0])
		return
	}
	all := n.faults.injected()
	inorder.By(all, func(a, b *injection) int { return cmp.Compare(a.call, b.call) })
	var said []string
	times := 1
	for i, in := range all {
		name := in.String()
		if i+1 < len(all) && all[i+1].String() == name {
			times++
			continue
		}
		if times > 1 {
			name += fmt.Sprintf(", %d times", times)
		}
		said, times = append(said, name), 1
	}
	if len(said) == 0 {
		return
	}
	excused := n.tape.numbers(func(i int) bool { return n.tape.isUncalled(i) && n.faults.excuses(i) })
	if len(excused) > 0 && n.Mode == Replay {
		said = append(said, "not made behind it: "+calls(excused))
	}
	n.say("%s", n.Plain("injected: "+strings.Join(said, "; ")))
}

// wayOut says how a difference from the recording is accepted, as a verb and a command, or what caused it if no update
// helps.
func (r *report) wayOut(verb string) string {
	if in := r.faults.givenUp(); in != nil {
		return fmt.Sprintf("call %d had the fault %s, and what the program does behind it is not recorded: no update accepts it\n"+
			"end the test there, or record a test of its own whose tool or upstream fails so, without the fault", in.call, in.name)
	}
	if r.Mode == Mixed {
		return verb + ": " + r.acceptLive()
	}
	return verb + ": " + r.Accept
}

// unused is the failure of faults that no call came for; nil: all were used.
func (r *report) unused() *Failure {
	var below []string
	for _, in := range r.faults.all {
		if !in.used {
			below = append(below, "  "+in.String())
		}
	}
	if len(below) == 0 || !modes[r.Mode].injects {
		return nil
	}
	brief := count(len(below), "fault") + " of the test met no call"
	if recorded := r.tape.numbers(func(int) bool { return true }); recorded != nil {
		below = append(below, "recorded in "+r.file()+": "+calls(recorded))
	}
	return failuref(brief, below...)
}
