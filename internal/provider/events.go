package provider

import "io"

// An Event is one event of a streamed answer.
type Event struct {
	Raw  []byte // all of its bytes, with what ends it
	Name string // what the framing calls the event; empty: nothing
	Data []byte // nil where the event carries none: a comment, an empty line
}

// Events splits a streamed answer into its events. The Raw bytes of all events, one after the
// other, are the bytes of the stream. It is for one goroutine at a time.
type Events struct {
	rest []byte
	framing
}

// A framing is how the events of a stream are told apart.
type framing struct {
	end   func(rest []byte) int  // the length of the event that rest, which is not empty, begins with
	event func(raw []byte) Event // takes the bytes of one event apart
}

// Next returns the next event. At the end of the stream the error is io.EOF; there is no other.
func (e *Events) Next() (Event, error) {
	if len(e.rest) == 0 {
		return Event{}, io.EOF
	}
	n := e.end(e.rest)
	raw := e.rest[:n:n]
	e.rest = e.rest[n:]
	return e.event(raw), nil
}
