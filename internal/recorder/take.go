package recorder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A take is one live call while recording.
type take struct {
	*call
	terms
	made []string // ids that its answer made; nil until madeIDs is asked
	// its body, where some SDKs neither read nor close it: they have no result for a deletion; may be nil
	unopened []byte
	note     string // why the generic codec decodes the answer, or ""
	retry    string // the error in a stream that asks for another try, or ""

	record *snapshot.Snapshot // the record of the take; nil until it is needed
	raw    []byte             // the record's raw answer, or nil
	sum    *[sha256.Size]byte // hash of the core of the record's answer; nil until answerSum computes it
	// how many secrets were known when the record was searched and had none; -1 before the search
	cleared int

	waits  bool // whether it is among the waiting answers
	number int  // its number there; 0 if not known yet
	logged int  // its number in the log of the run; 0 if it is not there
	place  int  // index of the record that it is to replace, or -1

	mu sync.Mutex // guards the reply
	reply
}

// The terms of a take say where its call comes from, how it is made, and how its answer is kept.
type terms struct {
	source  snapshot.Source
	lifted  string // why the model is exempt from a rule of determinism; "" if it is held to all
	started time.Time
	// the recorder's counter, which orders calls even if the clock stands still; nil if the order does not matter
	steps         *atomic.Int64
	began         int64 // its step when it began
	decodeContent func(encodings string, body []byte) ([]byte, error)
	limit         int64       // of the answer's bytes that are kept
	keepsCuts     bool        // the test is about streams that are cut, even after their last event
	origin        *origin     // of an adopted answer; nil for an answer from the wire
	imported      *Provenance // of an answer from an archive; nil for a live call
	complete      func()      // is called once, when the answer has ended and before its caller knows; may be nil
}

// A reply is what the caller of a take has received so far. It no longer changes once how is not underWay.
type reply struct {
	how        ending
	err        error // of the transport
	status     int   // 0 for a call without HTTP
	header     http.Header
	body       receivedBody
	arrivals   []arrival
	unreadable error     // why the content encoding cannot be undone
	read       time.Time // when its caller last received some of it: the end of a whole answer
	heard      int64     // the step at that time
	finished   time.Time
}

// An ending says how a take ended.
type ending int

const (
	underWay ending = iota // the caller is reading
	// the test ended before the answer came, or before its caller read it to its end or closed it
	unread
	whole        // the answer was read to its end
	aborted      // the caller ended it early
	broken       // the network ended it early
	unterminated // it ended like a whole answer, but is a stream without its last event
	retryable    // an answer that asks for another try, which is not recorded (design R11)
	failed       // no answer, since the transport failed
	endless      // longer than the limit
	dropped      // not recorded, for a reason that was reported
)

// newTake starts to keep the answer to a call.
func (s *setup) newTake(c *call) *take {
	start := clock()
	if c.listens() { // as the file has it, so that the times of events count from there
		start = start.Add(-time.Duration(start.Nanosecond()) % time.Millisecond)
	}
	return &take{call: c, terms: terms{started: start, decodeContent: s.decodeContent, limit: s.store.MaxBytes()}}
}

// begin keeps the head of an answer.
func (tk *take) begin(status int, header http.Header) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if tk.how == underWay {
		tk.status, tk.header = status, header.Clone()
		tk.hear()
	}
}

// hear notes that the caller receives some of the answer now.
func (tk *take) hear() {
	if tk.read = clock(); tk.steps != nil {
		tk.heard = tk.steps.Add(1)
	}
}

func (tk *take) end(how ending, err error) {
	if tk.endOnce(how, err) && tk.complete != nil {
		tk.complete()
	}
}

// endOnce ends a take that is under way, and reports whether it was.
func (tk *take) endOnce(how ending, err error) bool {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if tk.how != underWay {
		return false
	}
	tk.how, tk.err, tk.finished = how, err, clock()
	if tk.read.IsZero() {
		tk.hear()
	}
	return true
}

// endWithTest ends a take whose caller was still reading when the test ended. A stream is whole if its last event was
// read.
func (tk *take) endWithTest() {
	tk.mu.Lock()
	isOpened := tk.how != underWay || tk.body.size > 0
	tk.mu.Unlock()
	if tk.unopened != nil && !isOpened {
		tk.keepUnread(tk.unopened)
		tk.endOnce(whole, nil)
	}
	tk.endOnce(unread, nil)
	if tk.ending() == unread && tk.streams() && tk.terminated() {
		tk.become(whole)
	}
}

// become replaces the ending of a take that has ended.
func (tk *take) become(how ending) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	tk.how = how
}

func (tk *take) ending() ending {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	return tk.how
}

// receive keeps what the caller has read. White space, for example after a stream's last event, does not count as
// heard.
func (tk *take) receive(p []byte) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if tk.how == underWay && len(bytes.TrimSpace(p)) > 0 {
		tk.hear()
	}
	tk.add(p)
}

// keepUnread keeps what the caller did not read, with the time of its last read.
func (tk *take) keepUnread(p []byte) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	tk.add(p)
}

func (tk *take) add(p []byte) {
	if tk.how != underWay {
		return
	}
	if int64(tk.body.size+len(p)) > tk.limit {
		tk.how, tk.finished, tk.body, tk.arrivals = endless, tk.read, receivedBody{}, nil
		return // the caller gets the rest, which is not kept
	}
	tk.body.add(p)
	came := arrival{tk.body.size, tk.read.Sub(tk.started).Truncate(time.Millisecond)}
	if last := len(tk.arrivals) - 1; last >= 0 && tk.arrivals[last].after == came.after {
		tk.arrivals[last] = came // at most one per millisecond, however small the pieces
		return
	}
	tk.arrivals = append(tk.arrivals, came)
}

// A recordedBody passes on a live answer as it arrives, and keeps it.
type recordedBody struct {
	upstream io.ReadCloser
	take     *take
	ctx      context.Context
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.upstream.Read(p)
	if n > 0 && b.take.listens() { // in another millisecond than the calls before it: see cues
		now := clock()
		pause(b.ctx, now.Truncate(time.Millisecond).Add(time.Millisecond).Sub(now))
	}
	b.take.receive(p[:n])
	switch {
	case err == io.EOF:
		b.take.end(whole, nil)
	case err != nil:
		b.take.end(b.cutBy(err), err)
	}
	return n, err
}

func (b *recordedBody) cutBy(err error) ending {
	gaveUp := b.ctx.Err() != nil || errors.Is(err, context.Canceled)
	switch {
	case (gaveUp || !b.take.keepsCuts) && b.take.endsByEvent() && b.take.terminated():
		return whole // only text after the last event was cut
	case gaveUp:
		return aborted
	}
	return broken
}

// Close keeps the unread rest of an answer if little is missing: the line break after a stream's last event or a JSON
// value. A stream with more to come was ended by its caller.
func (b *recordedBody) Close() error {
	if b.take.ending() == underWay {
		b.take.end(b.drain(), nil)
	}
	return b.upstream.Close()
}

// drainTime is how long Close waits at most for the unread rest of an answer.
const drainTime = 2 * time.Second

func (b *recordedBody) drain() ending {
	if b.take.hasAll() {
		return whole
	}
	if !b.take.terminated() || b.ctx.Err() != nil && !b.take.endsByEvent() {
		return aborted
	}
	if b.take.listens() {
		return whole // its server would not end it
	}
	timer := time.AfterFunc(drainTime, func() { b.upstream.Close() })
	defer timer.Stop()
	rest, err := readAtMost(b.upstream, 0, b.take.limit, "the answer")
	b.take.keepUnread(rest)
	if err != nil && !b.take.endsByEvent() {
		return broken
	}
	return whole // also a stream after its last event
}

// endTime returns when the answer ended: for a whole answer, when its caller last received something, even if its body
// stayed open.
func (tk *take) endTime() time.Time {
	if tk.how == whole {
		return tk.read
	}
	return tk.finished
}

// setProvenance sets the program's details about its call. Other goroutines may already read the take.
func (tk *take) setProvenance(known snapshot.Provenance) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	tk.source.Provenance = known
}

// soFar returns a copy of a take that is under way as if it had ended now, if its stream's last event was read.
// Otherwise it returns the take itself.
func (tk *take) soFar() *take {
	tk.mu.Lock()
	if tk.how != underWay {
		tk.mu.Unlock()
		return tk
	}
	now := &take{call: tk.call, terms: tk.terms, reply: tk.reply}
	now.how, now.finished, now.arrivals = whole, tk.read, slices.Clone(tk.arrivals)
	now.body.chunks = [][]byte{tk.body.bytes()}
	tk.mu.Unlock()
	answer, err := now.received()
	if err != nil {
		return tk
	}
	if answer.Open = true; !now.endsByEvent() {
		return tk
	}
	if resp, err := tk.codec.DecodeResponse(answer); err != nil || !resp.Complete && resp.Error == nil {
		return tk
	}
	return now
}

// streams reports whether the answer comes event by event, judging by its beginning.
func (tk *take) streams() bool {
	answer, err := tk.received()
	return err == nil && answer.Events() != nil
}

// terminated reports whether an answer is not cut. Its stream's last event was read, or it is no stream, so Close can
// still fetch the rest. It is true for an answer that cannot be decoded, which is reported as another failure.
func (tk *take) terminated() bool {
	if !tk.streams() {
		return true
	}
	resp, err := tk.decode()
	return err != nil || resp.Complete || resp.Error != nil
}

// hasAll reports whether all bytes that the answer's length announces were read, which is 0 without content. Some SDKs
// cancel a call before they close its answer, also an empty one.
func (tk *take) hasAll() bool {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	return tk.status == http.StatusNoContent || tk.header.Get("Content-Length") == strconv.Itoa(tk.body.size)
}

// endsByEvent reports whether the answer is a stream that is complete with a known last event. Streams of unknown APIs
// are complete only when the connection ends.
func (tk *take) endsByEvent() bool {
	answer, err := tk.received()
	return err == nil && answer.Events() != nil && (tk.codec.API != provider.GenericAPI || provider.Known(answer))
}

// decode decodes the answer as received so far.
func (tk *take) decode() (*modelio.Response, error) {
	answer, err := tk.received()
	if err != nil {
		return nil, err
	}
	return tk.codec.DecodeResponse(answer)
}

// received returns the answer as received so far, without its content encoding. It has no body if that is unreadable.
func (tk *take) received() (answer *provider.Answer, err error) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	answer = &provider.Answer{Status: tk.status, ContentType: tk.header.Get("Content-Type"), Asked: tk.request}
	if err = tk.unreadable; err == nil {
		answer.Body, err = tk.decodeContent(tk.header.Get("Content-Encoding"), tk.body.bytes())
	}
	if tk.how != underWay {
		tk.unreadable = err // also next time, as a bomb takes memory
	}
	return answer, err
}

// A receivedBody is the body of an answer as received so far. It is in chunks, since growing one slice would copy a
// long answer many times.
type receivedBody struct {
	chunks [][]byte
	size   int // bytes in all chunks
}

// add appends a copy of p.
func (r *receivedBody) add(p []byte) {
	const least, most = 4 << 10, 1 << 20 // bytes of a new chunk
	last := len(r.chunks) - 1
	if last < 0 || cap(r.chunks[last])-len(r.chunks[last]) < len(p) {
		r.chunks = append(r.chunks, make([]byte, 0, max(len(p), least, min(r.size, most))))
		last++
	}
	r.chunks[last] = append(r.chunks[last], p...)
	r.size += len(p)
}

// bytes returns the body so far in one slice, which does not change when more arrives.
func (r *receivedBody) bytes() []byte {
	if len(r.chunks) > 1 {
		r.chunks = [][]byte{bytes.Join(r.chunks, nil)}
	}
	if r.size == 0 {
		return nil
	}
	return r.chunks[0][:r.size:r.size]
}
