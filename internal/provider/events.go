package provider

import (
	"bytes"
	"io"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// An Event is an event of a streamed answer.
type Event struct {
	Raw  []byte // all of its bytes, including the end mark
	Name string // name in the framing; empty if it has none
	Data []byte // nil if there is none: a comment, an empty line
}

// Events splits a streamed answer into its events. The Raw bytes of all events together are the bytes of the stream. It
// is not safe for concurrent use.
type Events struct {
	rest []byte
	framing
}

// A framing defines how a stream is divided into events.
type framing struct {
	end   func(rest []byte) int  // length of the event at the start of rest, which is not empty
	event func(raw []byte) Event // parses the bytes of one event
	mark  string                 // ends an event; empty if the bytes themselves show the end
}

// Next returns the next event. At the end of the stream the error is io.EOF; there are no other errors.
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

// Ended returns an event with its end mark, even if only the end of the stream has ended it.
func (e *Events) Ended(raw []byte) []byte {
	if raw = bytes.Clone(raw); e.end(append(raw, 'x')) > len(raw) {
		raw = append(raw, e.mark...)
	}
	return raw
}

// A Seen is an event with data, in the form used for decoding.
type Seen struct {
	Number int // counts the events without data too, from 1
	Name   string
	Said   []byte // its data without surrounding white space, not empty
	// the only difference from the event before, which has the same name, see [Alike]; nil if it differs in more
	Piece []byte
}

// Done reports whether the event only says that the stream is done.
func (s *Seen) Done() bool { return string(s.Said) == "[DONE]" }

// Seen returns the events of a stream that have data, in the form used for decoding; nil if it is not a stream. Each
// Body is parsed once. It is not safe for concurrent use.
func (a *Answer) Seen() []Seen {
	if a.forget(); !a.looked {
		a.looked = true
		if events := a.Events(); events != nil {
			a.seen = events.all()
		}
	}
	return a.seen
}

// Document returns a complete answer, which is parsed once for each Body. It is not safe for concurrent use.
func (a *Answer) Document() (doc *jsontext.Document, err error) {
	if a.forget(); a.parsed == nil {
		a.parsed, err = parseAnswer(a.Body)
	}
	return a.parsed, err
}

// forget drops the results for another body.
func (a *Answer) forget() {
	if len(a.of) != len(a.Body) || len(a.of) > 0 && &a.of[0] != &a.Body[0] {
		a.of, a.seen, a.looked, a.parsed = a.Body, nil, false, nil
	}
}

// all returns the remaining events that have data, in the form used for decoding.
func (e *Events) all() []Seen {
	all := make([]Seen, 0, 1+min(len(e.rest)/64, bytes.Count(e.rest, []byte("\n"))/2)) // few have less than 64 bytes
	var last Seen
	number := 0
	for event, err := e.Next(); err == nil; event, err = e.Next() {
		number++
		said := bytes.TrimSpace(event.Data)
		if len(said) == 0 {
			continue // a stream may have millions of them
		}
		s := Seen{Number: number, Name: event.Name, Said: said}
		if !s.Done() {
			if s.Name == last.Name {
				s.Piece, _ = Alike(last.Said, s.Said)
			}
			last = s
		}
		all = append(all, s)
	}
	return all
}
