package provider

import (
	"bytes"
)

// jsonLines is the framing of JSON values, one a line (NDJSON, JSON Lines).
var jsonLines = framing{lineEnd, lineEvent, "\n"}

func lineEnd(rest []byte) int {
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return i + 1
	}
	return len(rest)
}

func lineEvent(raw []byte) Event { return Event{Raw: raw, Data: bytes.TrimSpace(raw)} }

// arrayElements is the framing of one JSON array of objects, as Gemini streams unless asked for
// server-sent events. An event is an element with what stands before it.
var arrayElements = framing{elementEnd, elementEvent, ""}

func elementEnd(rest []byte) int {
	depth := 1 // in the array
	if bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("[")) {
		depth = 0 // before it
	}
	var quoted, escaping bool
	for i, c := range rest {
		switch {
		case escaping:
			escaping = false
		case quoted:
			quoted, escaping = c != '"', c == '\\'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 1 {
				return i + 1
			}
		}
	}
	return len(rest)
}

func elementEvent(raw []byte) Event { return Event{Raw: raw, Data: bytes.Trim(raw, "[], \t\r\n")} }
