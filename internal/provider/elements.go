package provider

import "bytes"

// elementSplitter is the splitter of a stream that is one JSON array of objects, as Gemini
// streams unless asked for server-sent events. An event is an element with what stands before it.
type elementSplitter struct {
	scanned          int
	depth            int
	quoted, escaping bool
}

func (s *elementSplitter) end(buf []byte, _ bool) int {
	for ; s.scanned < len(buf); s.scanned++ {
		c := buf[s.scanned]
		switch {
		case s.escaping:
			s.escaping = false
		case s.quoted:
			s.quoted, s.escaping = c != '"', c == '\\'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth == 1 {
				return s.scanned + 1
			}
		}
	}
	return 0
}

func (s *elementSplitter) event(raw []byte) Event {
	*s = elementSplitter{depth: s.depth}
	e := Event{Raw: raw}
	if data := bytes.Trim(raw, "[], \t\r\n"); len(data) > 0 {
		e.Data = data
	}
	return e
}
