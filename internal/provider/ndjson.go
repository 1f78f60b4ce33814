package provider

import (
	"bytes"
	"io"
)

// NewLines returns the events of a stream of JSON values, one a line (NDJSON, JSON Lines).
func NewLines(r io.Reader) *Events { return &Events{r: r, split: &lineSplitter{}} }

// lineSplitter is the splitter of lines.
type lineSplitter struct {
	scanned int // up to here there is no end of the line
}

func (s *lineSplitter) end(buf []byte, _ bool) int {
	i := bytes.IndexByte(buf[s.scanned:], '\n')
	if i < 0 {
		s.scanned = len(buf)
		return 0
	}
	return s.scanned + i + 1
}

func (s *lineSplitter) event(raw []byte) Event {
	s.scanned = 0
	e := Event{Raw: raw}
	if line := bytes.TrimSpace(raw); len(line) > 0 {
		e.Data = line
	}
	return e
}
