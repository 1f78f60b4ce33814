package snapshot

import (
	"bytes"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// indentation is the length of the line break and indentation of a text's piece, in bytes.
const indentation = 20

// layOut formats a compact text like JSON.stringify(value, null, 2) in ECMAScript, with a final newline. It reuses the
// memory of the text, which may be long: it moves the text to the end of that memory, and writes from the start.
func layOut(text []byte) []byte {
	size := 0
	tokens(text, func(token []byte) { size += len(token) })
	file := slices.Grow(text, size-len(text))[:size]
	moved := file[size-len(text):]
	copy(moved, text)
	out := file[:0]
	tokens(moved, func(token []byte) { out = append(out, token...) })
	return out
}

// tokens passes the formatted parts of a compact text to put, with the white space between them.
func tokens(text []byte, put func([]byte)) {
	lineBreak := func(depth int) {
		put(lineEnd)
		for n := 2 * depth; n > 0; n -= len(spaces) {
			put(spaces[:min(n, len(spaces))])
		}
	}
	for i, depth := 0, 0; i < len(text); {
		start := i
		i++
		switch c := text[start]; {
		case c == '"':
			i = jsontext.StringEnd(text, i) + 1
			put(text[start:i])
		case c == ':':
			put(colon)
		case c == ',':
			put(text[start:i])
			lineBreak(depth)
		case (c == '{' || c == '[') && text[i] == c+2: // an empty object or array: the closing characters are two above
			i++
			put(text[start:i])
		case c == '{' || c == '[':
			depth++
			put(text[start:i])
			lineBreak(depth)
		case c == '}' || c == ']':
			depth--
			lineBreak(depth)
			put(text[start:i])
		default:
			put(text[start:i])
		}
	}
	put(lineEnd)
}

var lineEnd, colon, spaces = []byte("\n"), []byte(": "), bytes.Repeat([]byte(" "), 64)
