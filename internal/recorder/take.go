package recorder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"slices"
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
	source        snapshot.Source
	lifted        string // why the model is not held to a rule of determinism; empty: it is held to all
	started       time.Time
	steps         *atomic.Int64 // the recorder's counter, which orders calls where a clock stands still; nil: the order does not matter
	began         int64         // the step at which it began
	decodeContent func(encodings string, body []byte) ([]byte, error)
	limit         int64       // of the bytes that are kept of the answer
	keepsCuts     bool        // the test is of streams that are cut, also behind their last event
	origin        *origin     // of an answer that did not come from the wire; nil means it does
	imported      *Provenance // of an answer from an archive; nil means it was made live
	complete      func()      // is called once, when the answer has ended and its caller does not know yet; may be nil

	note     string             // why the generic codec decodes the answer; empty means that of its API does
	readings []snapshot.Reading // what other programs read in it

	record  *snapshot.Snapshot // as it would be stored; nil until that is asked for
	raw     []byte             // of the record: its raw answer; nil means there is none
	sum     *[sha256.Size]byte // of the core of the record's answer; nil: answerSum has not computed it yet
	cleared int                // how many secrets were known when the record was found to hold none; -1: it was not searched

	waits  bool // it is among the pending answers
	number int  // its number there; 0 means not known yet
	logged int  // its number in the log of the run; 0 means it is not there
	place  int  // the index of the record that it is to replace; -1 means none

	mu         sync.Mutex // guards all below, which does not change once how is not underWay
	how        ending
	err        error // of the transport
	status     int   // 0 of one that is no HTTP
	header     http.Header
	body       receivedBody
	arrivals   []arrival
	unreadable error     // why the content encoding cannot be undone
	read       time.Time // when its caller last got something of it: the end of a whole answer
	heard      int64     // the step at read
	finished   time.Time
}

// An ending says how a take ended.
type ending int

const (
	underWay     ending = iota // the caller reads
	unread                     // the test ended before the answer had come, or its caller had read it to its end or closed it
	whole                      // the answer was read to its end
	aborted                    // the caller ended it early
	broken                     // the network ended it early
	unterminated               // it ended as a whole answer does, but a stream without its last event
	retryable                  // an answer that asks to try again: not recorded (design R11)
	failed                     // no answer: the transport failed
	endless                    // longer than what is kept
	dropped                    // not recorded, for a reason that was told
)

// newTake begins to keep the answer to a call.
func (s *setup) newTake(c *call) *take {
	return &take{call: c, started: clock(), decodeContent: s.decodeContent, limit: s.store.MaxBytes()}
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

// hear notes that the caller gets something of the answer now.
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

// endWithTest ends a take whose test has ended while its caller was still reading. A stream is whole if its last event
// was read.
func (tk *take) endWithTest() {
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

// receive keeps what its caller has read. White space, as behind a stream's last event, does not count as heard.
func (tk *take) receive(p []byte) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if tk.how == underWay && len(bytes.TrimSpace(p)) > 0 {
		tk.hear()
	}
	tk.add(p)
}

// keepUnread keeps what its caller did not read, with the time at which the caller last read.
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
		return // the caller gets the rest, and nobody keeps it
	}
	tk.body.add(p)
	came := arrival{tk.body.size, tk.read.Sub(tk.started).Truncate(time.Millisecond)}
	if last := len(tk.arrivals) - 1; last >= 0 && tk.arrivals[last].after == came.after {
		tk.arrivals[last] = came // no more of them than milliseconds, however small the pieces
		return
	}
	tk.arrivals = append(tk.arrivals, came)
}

// A recordedBody passes a live answer on as it arrives, and keeps it.
type recordedBody struct {
	upstream io.ReadCloser
	take     *take
	ctx      context.Context
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.upstream.Read(p)
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
		return whole // only what follows the last event was cut
	case gaveUp:
		return aborted
	}
	return broken
}

// Close keeps the rest of an answer that its caller has not read, if it is short of nothing else: the line break behind
// a stream's last event or a JSON value. A stream that has more to come was ended by its caller.
func (b *recordedBody) Close() error {
	if b.take.ending() == underWay {
		b.take.end(b.drain(), nil)
	}
	return b.upstream.Close()
}

// drainTime is how long Close waits for the unread rest of an answer, at most.
const drainTime = 2 * time.Second

func (b *recordedBody) drain() ending {
	if !b.take.terminated() || b.ctx.Err() != nil && !b.take.endsByEvent() {
		return aborted
	}
	timer := time.AfterFunc(drainTime, func() { b.upstream.Close() })
	defer timer.Stop()
	rest, err := readAtMost(b.upstream, 0, b.take.limit, "the answer")
	b.take.keepUnread(rest)
	if err != nil && !b.take.endsByEvent() {
		return broken
	}
	return whole // also a stream whose terminal event has been seen
}

// endTime returns when the answer ended. A whole one ended when its caller last read something, though its body may
// have stayed open.
func (tk *take) endTime() time.Time {
	if tk.how == whole {
		return tk.read
	}
	return tk.finished
}

// setProvenance sets what the program says of its call. Other goroutines may read the take by now.
func (tk *take) setProvenance(known snapshot.Provenance) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	tk.source.Provenance = known
}

// soFar returns a copy of a take that is under way, as if it had ended now, if its stream's last event has been read.
// Else it returns the take itself.
func (tk *take) soFar() *take {
	tk.mu.Lock()
	if tk.how != underWay {
		tk.mu.Unlock()
		return tk
	}
	now := &take{call: tk.call, source: tk.source, lifted: tk.lifted, started: tk.started, began: tk.began, heard: tk.heard, decodeContent: tk.decodeContent,
		limit: tk.limit, origin: tk.origin, imported: tk.imported, how: whole, status: tk.status, header: tk.header,
		body:     receivedBody{chunks: [][]byte{tk.body.bytes()}, size: tk.body.size},
		arrivals: slices.Clone(tk.arrivals), read: tk.read, finished: tk.read}
	tk.mu.Unlock()
	body, err := now.plain()
	if err != nil {
		return tk
	}
	answer := now.answer(body)
	if answer.Open = true; !now.endsByEvent() {
		return tk
	}
	if resp, err := tk.codec.DecodeResponse(answer); err != nil || !resp.Complete && resp.Error == nil {
		return tk
	}
	return now
}

// streams reports whether the answer comes event by event, as far as its beginning tells.
func (tk *take) streams() bool {
	body, err := tk.plain()
	return err == nil && tk.answer(body).Events() != nil
}

// terminated reports whether an answer is not cut: its stream's last event was read, or it is no stream, whose rest
// Close can still fetch. It is true for an answer that cannot be decoded, since that is told as another failure.
func (tk *take) terminated() bool {
	if !tk.streams() {
		return true
	}
	resp, err := tk.decode()
	return err != nil || resp.Complete || resp.Error != nil
}

// endsByEvent reports whether the answer is a stream that is complete with a known last event. Streams of unknown APIs are
// complete only when the connection ends.
func (tk *take) endsByEvent() bool {
	body, err := tk.plain()
	if err != nil {
		return false
	}
	a := tk.answer(body)
	return a.Events() != nil && (tk.codec.API != provider.GenericAPI || provider.Known(a))
}

// decode decodes what was received so far.
func (tk *take) decode() (*modelio.Response, error) {
	body, err := tk.plain()
	if err != nil {
		return nil, err
	}
	return tk.codec.DecodeResponse(tk.answer(body))
}

func (tk *take) answer(body []byte) *provider.Answer {
	return &provider.Answer{Status: tk.status, ContentType: tk.header.Get("Content-Type"), Body: body, Asked: tk.request}
}

// plain returns the body received so far without its content encoding.
func (tk *take) plain() ([]byte, error) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	if tk.unreadable != nil {
		return nil, tk.unreadable
	}
	body, err := tk.decodeContent(tk.header.Get("Content-Encoding"), tk.body.bytes())
	if tk.how != underWay {
		tk.unreadable = err // also the next time, and a bomb takes memory
	}
	return body, err
}

// A receivedBody is the body of an answer as far as it has arrived. It comes in chunks, since to grow
// one piece of memory would copy a long answer many times.
type receivedBody struct {
	chunks [][]byte
	size   int // bytes in all of them
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

// bytes returns what has arrived in one piece, which does not change when more arrives.
func (r *receivedBody) bytes() []byte {
	if len(r.chunks) > 1 {
		r.chunks = [][]byte{bytes.Join(r.chunks, nil)}
	}
	if r.size == 0 {
		return nil
	}
	return r.chunks[0][:r.size:r.size]
}
