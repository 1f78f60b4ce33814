package provider

import "bytes"

// jsonLines is the framing of JSON values, one a line (NDJSON, JSON Lines).
var jsonLines = framing{lineEnd, lineEvent}

func lineEnd(rest []byte) int {
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return i + 1
	}
	return len(rest)
}

func lineEvent(raw []byte) Event {
	e := Event{Raw: raw}
	if line := bytes.TrimSpace(raw); len(line) > 0 {
		e.Data = line
	}
	return e
}
