package provider

import "io"

// An Event is one event of a streamed answer.
type Event struct {
	Raw  []byte // all of its bytes, with what ends it
	Name string // what the framing calls the event; empty: nothing
	Data []byte // nil where the event carries none: a comment, an empty line
}

// Events splits a streamed answer into its events. The Raw bytes of all events, one after the
// other, are the bytes of the stream, whatever the sizes of the reads. It is for one goroutine
// at a time.
type Events struct {
	r     io.Reader
	err   error  // what ended the reading; io.EOF at the end of the stream
	buf   []byte // read, from start on not yet returned
	start int
	split splitter
}

// A splitter knows a framing.
type splitter interface {
	// end returns the length of the event that buf begins with, or 0 if more of it is to come.
	// It is called with the same bytes again, and more behind them, until it finds the end.
	end(buf []byte, atEOF bool) int
	// event takes the bytes of one event apart.
	event(raw []byte) Event
}

// Next returns the next event, which is valid until Next is called again. At the end of the
// stream the error is io.EOF. If reading fails, what was read before comes first, as an event
// that was cut off, and then the error.
func (e *Events) Next() (Event, error) {
	for {
		rest := e.buf[e.start:]
		n := 0
		if len(rest) > 0 {
			n = e.split.end(rest, e.err != nil)
		}
		if n == 0 && e.err != nil {
			n = len(rest)
		}
		if n > 0 {
			e.start += n
			return e.split.event(rest[:n:n]), nil
		}
		if e.err != nil {
			return Event{}, e.err
		}
		e.fill()
	}
}

// fill reads more of the stream.
func (e *Events) fill() {
	const size = 4 << 10
	if e.start > 0 {
		e.buf = e.buf[:copy(e.buf, e.buf[e.start:])]
		e.start = 0
	}
	if cap(e.buf)-len(e.buf) < size {
		grown := make([]byte, len(e.buf), 2*cap(e.buf)+size)
		copy(grown, e.buf)
		e.buf = grown
	}
	const most = 100 // reads of nothing, as in bufio
	for range most {
		n, err := e.r.Read(e.buf[len(e.buf):cap(e.buf)])
		e.buf, e.err = e.buf[:len(e.buf)+n], err
		if n > 0 || err != nil {
			return
		}
	}
	e.err = io.ErrNoProgress
}
