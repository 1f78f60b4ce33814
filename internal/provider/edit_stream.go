package provider

import (
	"bytes"
	"slices"
)

// A Stream is a streamed answer whose events are counted from 1: those that carry data. Text between two of them
// belongs to the later one, and text at the end to the last.
type Stream struct {
	events  []Event
	data    []int // the places in events of those that carry data
	framing *framing
}

// StreamOf returns an answer as a stream; nil means it is none.
func StreamOf(a *Answer) *Stream {
	s := &Stream{framing: framingOf(a.ContentType, a.Body)}
	if s.framing == nil && bytes.HasPrefix(bytes.TrimLeft(a.Body, " \t\r\n"), []byte("[")) {
		s.framing = &arrayElements
	}
	if s.framing == nil {
		return nil
	}
	all := &Events{rest: a.Body, framing: *s.framing}
	for event, err := all.Next(); err == nil; event, err = all.Next() {
		if event.Data != nil {
			s.data = append(s.data, len(s.events))
		}
		s.events = append(s.events, event)
	}
	return s
}

// Len returns how many events there are.
func (s *Stream) Len() int { return len(s.data) }

// Bytes returns the bytes up to the end of the n-th event, or none for 0, and those behind it.
func (s *Stream) Bytes(n int) (until, behind []byte) {
	for i, event := range s.events {
		if n > 0 && i <= s.data[n-1] {
			until = append(until, event.Raw...)
		} else {
			behind = append(behind, event.Raw...)
		}
	}
	return until, behind
}

// Drop returns the stream without its n-th event.
func (s *Stream) Drop(n int) []byte {
	at := s.data[n-1]
	return s.with(slices.Delete(slices.Clone(s.events), at, at+1))
}

// Repeat returns the stream with its n-th event twice.
func (s *Stream) Repeat(n int) []byte {
	at := s.data[n-1]
	again := s.events[at]
	again.Raw = bytes.TrimPrefix(again.Raw, byteOrderMark)
	return s.with(slices.Insert(slices.Clone(s.events), at+1, again))
}

// with returns the bytes of events in the framing of the stream.
func (s *Stream) with(events []Event) []byte {
	var out []byte
	separator := "["
	for i, event := range events {
		switch {
		case s.framing == &arrayElements && event.Data != nil:
			out = append(append(out, separator...), event.Data...)
			separator = ",\n"
		case s.framing == &arrayElements && len(out) == 0: // all elements were dropped
			out = append(append(out, '['), bytes.TrimLeft(event.Raw, "[, \t\r\n")...)
		default:
			out = append(out, event.Raw...)
		}
		if i+1 < len(events) {
			out = append(out, s.missingEnd(event.Raw)...)
		}
	}
	return out
}

// ends end an event of a framing, where it has an end of its own.
var ends = map[*framing]string{&serverSentEvents: "\n\n", &jsonLines: "\n"}

// missingEnd returns what ends an event that only the end of the stream had ended: it would go on with what follows.
func (s *Stream) missingEnd(raw []byte) string {
	if s.framing.end(append(bytes.Clone(raw), 'x')) == len(raw) {
		return ""
	}
	return ends[s.framing]
}
