package fault

import (
	"bytes"
	"slices"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// A stream is a streamed answer. Its events are counted from 1, and only those that carry data count. Text between two
// of them belongs to the later one, and text at the end to the last.
type stream struct {
	events  []provider.Event
	data    []int            // indexes in events of those that carry data
	framing *provider.Events // framing at the end of the stream
	inArray bool
}

// streamOf returns an answer as a stream; nil if it is not one.
func streamOf(a *provider.Answer) *stream {
	s := &stream{framing: a.Events()}
	if s.framing == nil {
		s.framing, s.inArray = a.Elements(), true
	}
	if s.framing == nil {
		return nil
	}
	for event, err := s.framing.Next(); err == nil; event, err = s.framing.Next() {
		if event.Data != nil {
			s.data = append(s.data, len(s.events))
		}
		s.events = append(s.events, event)
	}
	return s
}

// cut returns the bytes up to the end of the n-th event, or none for 0, and the bytes after it.
func (s *stream) cut(n int) (until, behind []byte) {
	for i, event := range s.events {
		if n > 0 && i <= s.data[n-1] {
			until = append(until, event.Raw...)
		} else {
			behind = append(behind, event.Raw...)
		}
	}
	return until, behind
}

func (s *stream) until(n int) []byte {
	until, _ := s.cut(n)
	return until
}

// drop returns the stream without its n-th event.
func (s *stream) drop(n int) []byte {
	at := s.data[n-1]
	return s.with(slices.Delete(slices.Clone(s.events), at, at+1))
}

// repeat returns the stream with its n-th event twice.
func (s *stream) repeat(n int) []byte {
	at := s.data[n-1]
	again := s.events[at]
	again.Raw = bytes.TrimPrefix(again.Raw, []byte("\ufeff")) // only at the start of a stream
	return s.with(slices.Insert(slices.Clone(s.events), at+1, again))
}

// with returns the bytes of events in the framing of the stream.
func (s *stream) with(events []provider.Event) []byte {
	var out []byte
	separator := "["
	for i, event := range events {
		switch {
		case s.inArray && event.Data != nil:
			out = append(append(out, separator...), event.Data...)
			separator = ",\n"
		case s.inArray && len(out) == 0: // all elements were dropped
			out = append(append(out, '['), bytes.TrimLeft(event.Raw, "[, \t\r\n")...)
		case i+1 < len(events):
			out = append(out, s.framing.Ended(event.Raw)...) // otherwise the next event would continue it
		default:
			out = append(out, event.Raw...)
		}
	}
	return out
}
