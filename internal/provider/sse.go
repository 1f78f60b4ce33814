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

// NewEvents returns the events of a stream of server-sent events (WHATWG HTML section 9.2).
// Lines end with LF, CRLF or CR. An event ends with an empty line or with the stream: unlike a
// browser it gives an event that the end cut off, as providers leave the last empty line out.
func NewEvents(r io.Reader) *Events { return &Events{r: r, split: &sseSplitter{}} }

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
