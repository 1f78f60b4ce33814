package provider

import (
	"bytes"
	"io"
)

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

	n    int    // how many See has returned
	last []byte // what the one before said; see Seen
}

// A framing is how the events of a stream are told apart.
type framing struct {
	end   func(rest []byte) int  // the length of the event that rest, which is not empty, begins with
	event func(raw []byte) Event // takes the bytes of one event apart
}

// Next returns the next event. At the end of the stream the error is io.EOF; there is no other.
func (e *Events) Next() (Event, error) {
	raw := e.NextRaw()
	if raw == nil {
		return Event{}, io.EOF
	}
	return e.event(raw), nil
}

// NextRaw returns the bytes of the next event; nil at the end of the stream.
func (e *Events) NextRaw() []byte {
	if len(e.rest) == 0 {
		return nil
	}
	n := e.end(e.rest)
	raw := e.rest[:n:n]
	e.rest = e.rest[n:]
	return raw
}

// A Seen is an event as decoding sees it.
type Seen struct {
	Event
	N     int    // 1: the first
	Said  []byte // its data without white space around
	Done  bool   // it says that the stream is done, and nothing else
	Piece []byte // what [Alike] says of it and the one before
	Alike bool
}

// See sets s to the next event, and reports whether there is one.
func (e *Events) See(s *Seen) bool {
	event, err := e.Next()
	if err != nil {
		return false
	}
	e.n++
	*s = Seen{Event: event, N: e.n, Said: bytes.TrimSpace(event.Data)}
	if s.Done = string(s.Said) == "[DONE]"; !s.Done && len(s.Said) > 0 {
		s.Piece, s.Alike = Alike(e.last, s.Said)
		e.last = s.Said
	}
	return true
}
