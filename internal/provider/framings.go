package provider

import (
	"bytes"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// jsonLines is the framing of JSON values on separate lines (NDJSON, JSON Lines).
var jsonLines = framing{lineEnd, lineEvent, "\n"}

func lineEnd(rest []byte) int {
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		return i + 1
	}
	return len(rest)
}

func lineEvent(raw []byte) Event { return Event{Raw: raw, Data: bytes.TrimSpace(raw)} }

// arrayElements is the framing of one JSON array of objects, the form in which Gemini streams unless server-sent events
// are requested. An event is an element with the text before it.
var arrayElements = framing{elementEnd, elementEvent, ""}

func elementEnd(rest []byte) int {
	depth := 1 // inside the array
	if bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("[")) {
		depth = 0 // before it
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '"':
			i = jsontext.StringEnd(rest, i+1)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 1 {
				return i + 1
			}
		}
	}
	return len(rest)
}

func elementEvent(raw []byte) Event { return Event{Raw: raw, Data: bytes.Trim(raw, "[], \t\r\n")} }
