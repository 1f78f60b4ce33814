package provider

import (
	"bytes"
	"io"
)

// NewEvents returns the events of a stream of server-sent events (WHATWG HTML section 9.2).
// Lines end with LF, CRLF or CR. An event ends with an empty line or with the stream: unlike a
// browser it gives an event that the end cut off, as providers leave the last empty line out.
func NewEvents(r io.Reader) *Events { return &Events{r: r, split: &sseSplitter{}} }

var byteOrderMark = []byte("\ufeff")

// sseSplitter is the splitter of server-sent events.
type sseSplitter struct {
	line    int // where the line at hand begins
	scanned int // up to here there is no end of it
}

func (s *sseSplitter) end(buf []byte, atEOF bool) int {
	for {
		i := bytes.IndexAny(buf[s.scanned:], "\r\n")
		if i < 0 {
			s.scanned = len(buf)
			return 0
		}
		i += s.scanned
		next := i + 1
		if buf[i] == '\r' {
			if next == len(buf) && !atEOF {
				s.scanned = i // LF may follow
				return 0
			}
			if next < len(buf) && buf[next] == '\n' {
				next++
			}
		}
		if i == s.line {
			*s = sseSplitter{}
			return next
		}
		s.line, s.scanned = next, next
	}
}

func (s *sseSplitter) event(raw []byte) Event {
	*s = sseSplitter{}
	e := Event{Raw: raw}
	for rest := bytes.TrimPrefix(raw, byteOrderMark); len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		field, v, _ := bytes.Cut(line, []byte(":"))
		v = bytes.TrimPrefix(v, []byte(" "))
		switch string(field) {
		case "event":
			e.Name = string(v)
		case "data":
			if e.Data == nil {
				e.Data = v[:len(v):len(v)]
				if v == nil {
					e.Data = []byte{}
				}
				break
			}
			e.Data = append(append(e.Data, '\n'), v...) // in new memory: Data's capacity ends with it
		case "error": // no field of the standard's: llama.cpp ends a stream that failed so
			if e.Data == nil && bytes.HasPrefix(v, []byte("{")) {
				e.Name, e.Data = "error", v[:len(v):len(v)]
			}
		}
	}
	return e
}

// cutLine returns the first line of text, without its end, and the rest.
func cutLine(text []byte) (line, rest []byte) {
	i := bytes.IndexAny(text, "\r\n")
	if i < 0 {
		return text, nil
	}
	if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
		return text[:i], text[i+2:]
	}
	return text[:i], text[i+1:]
}
