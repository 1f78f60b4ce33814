package provider

import (
	"bytes"
	"slices"
)

// A Stream is a streamed answer whose events are counted from 1: those that carry data. What stands between them
// belongs to the one that follows, and to the last.
type Stream struct {
	events  []Event
	framing *framing
}

// StreamOf returns an answer as a stream; nil: it is none.
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
		s.events = append(s.events, event)
	}
	return s
}

// place returns the index of the n-th event; -1: there is none.
func (s *Stream) place(n int) int {
	for i, event := range s.events {
		if event.Data != nil {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

// Len returns how many events there are.
func (s *Stream) Len() (n int) {
	for _, event := range s.events {
		if event.Data != nil {
			n++
		}
	}
	return n
}

// Bytes returns the bytes up to the end of the n-th event, and those behind it.
func (s *Stream) Bytes(n int) (until, behind []byte) {
	at := s.place(n)
	for i, event := range s.events {
		if i <= at {
			until = append(until, event.Raw...)
		} else {
			behind = append(behind, event.Raw...)
		}
	}
	return until, behind
}

// Drop returns the stream without its n-th event.
func (s *Stream) Drop(n int) []byte {
	at := s.place(n)
	return s.with(slices.Delete(slices.Clone(s.events), at, at+1))
}

// Repeat returns the stream with its n-th event twice.
func (s *Stream) Repeat(n int) []byte {
	at := s.place(n)
	again := s.events[at]
	again.Raw = bytes.TrimPrefix(again.Raw, byteOrderMark)
	return s.with(slices.Insert(slices.Clone(s.events), at+1, again))
}

// with returns the bytes of events in the framing of the stream.
func (s *Stream) with(events []Event) []byte {
	var out []byte
	for i, event := range events {
		switch {
		case s.framing == &arrayElements && event.Data != nil:
			out = append(append(out, separator(len(out) > 0)...), event.Data...)
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

func separator(between bool) string {
	if between {
		return ",\n"
	}
	return "["
}

// missingEnd returns what ends an event that only the end of the stream had ended.
func (s *Stream) missingEnd(raw []byte) string {
	switch {
	case s.framing == &serverSentEvents && !endsBlank(raw):
		return "\n\n"
	case s.framing == &jsonLines && !bytes.HasSuffix(raw, []byte("\n")):
		return "\n"
	}
	return ""
}

// endsBlank reports whether the last line of an event is empty.
func endsBlank(raw []byte) bool {
	for _, end := range []string{"\n\n", "\r\r", "\n\r\n", "\r\n\r\n"} {
		if bytes.HasSuffix(raw, []byte(end)) {
			return true
		}
	}
	return len(bytes.Trim(raw, "\r\n")) == 0
}
