package provider

import "bytes"

// serverSentEvents is the framing of server-sent events (WHATWG HTML section 9.2). Lines end with LF, CRLF or CR. An
// event ends with an empty line or with the stream: unlike a browser, it returns an event that the end cuts off,
// because providers omit the last empty line.
var serverSentEvents = framing{sseEnd, sseEvent, "\n\n"}

var byteOrderMark = []byte("\ufeff")

func sseEnd(rest []byte) int {
	for at := 0; at < len(rest); {
		line, after := cutLine(rest[at:])
		at = len(rest) - len(after)
		if len(line) == 0 {
			return at
		}
	}
	return len(rest)
}

func sseEvent(raw []byte) Event {
	e := Event{Raw: raw}
	for rest := bytes.TrimPrefix(raw, byteOrderMark); len(rest) > 0; {
		var line []byte
		if line, rest = cutLine(rest); len(line) == 0 {
			continue
		}
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
			e.Data = append(append(e.Data, '\n'), v...) // allocates: Data's capacity ends with it
		case "error": // not in the standard: llama.cpp ends a failed stream with it
			if e.Data == nil && bytes.HasPrefix(v, []byte("{")) {
				e.Name, e.Data = "error", v[:len(v):len(v)]
			}
		}
	}
	return e
}

// cutLine returns the first line of text without its end, and the rest.
func cutLine(text []byte) (line, rest []byte) {
	i := endOfLine(text)
	if i < 0 {
		return text, nil
	}
	if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
		return text[:i], text[i+2:]
	}
	return text[:i], text[i+1:]
}

// endOfLine returns the end of the first line of text, or -1. Most lines are short, for which two searches for a byte
// are faster than one for two bytes.
func endOfLine(text []byte) int {
	const most = 1 << 10 // for streams whose lines end with CR
	end := bytes.IndexByte(text[:min(most, len(text))], '\n')
	if end < 0 {
		return bytes.IndexAny(text, "\r\n")
	}
	if i := bytes.IndexByte(text[:end], '\r'); i >= 0 {
		return i
	}
	return end
}
