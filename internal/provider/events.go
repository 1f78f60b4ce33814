package provider

import (
	"bytes"
	"io"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// An Event is one event of a streamed answer.
type Event struct {
	Raw  []byte // all of its bytes, with what ends it
	Name string // the framing's name of the event; empty means it has none
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
	mark  string                 // ends an event; empty means that its bytes say where it ends
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

// Ended returns an event with what ends it, also where only the end of the stream has ended it.
func (e *Events) Ended(raw []byte) []byte {
	if raw = bytes.Clone(raw); e.end(append(raw, 'x')) > len(raw) {
		raw = append(raw, e.mark...)
	}
	return raw
}

// A Seen is an event as decoding sees it.
type Seen struct {
	Name  string
	Said  []byte // its data without white space around
	Piece []byte // all that it says otherwise than the one before, which has its name, see [Alike]; nil: more
}

// Done reports whether it says that the stream is done, and nothing else.
func (s *Seen) Done() bool { return string(s.Said) == "[DONE]" }

// Seen returns the events of a stream as decoding sees them; nil means it is no stream. It takes them apart once for each Body.
// It is for one goroutine at a time.
func (a *Answer) Seen() []Seen {
	if a.forget(); a.seen == nil {
		if events := a.Events(); events != nil {
			a.seen = events.all()
		}
	}
	return a.seen
}

// Document returns a whole answer, parsed once for each Body. It is for one goroutine at a time.
func (a *Answer) Document() (doc *jsontext.Document, err error) {
	if a.forget(); a.parsed == nil {
		a.parsed, err = parseAnswer(a.Body)
	}
	return a.parsed, err
}

// forget drops what is known of another body.
func (a *Answer) forget() {
	if len(a.of) != len(a.Body) || len(a.of) > 0 && &a.of[0] != &a.Body[0] {
		a.of, a.seen, a.parsed = a.Body, nil, nil
	}
}

// all returns the events that are left, as decoding sees them.
func (e *Events) all() []Seen {
	all := make([]Seen, 0, 1+min(len(e.rest)/64, bytes.Count(e.rest, []byte("\n"))/2)) // few have less than 64 bytes
	var last Seen
	for event, err := e.Next(); err == nil; event, err = e.Next() {
		s := Seen{Name: event.Name, Said: bytes.TrimSpace(event.Data)}
		if !s.Done() && len(s.Said) > 0 {
			if s.Name == last.Name {
				s.Piece, _ = Alike(last.Said, s.Said)
			}
			last = s
		}
		all = append(all, s)
	}
	return all
}
