package snapshot

import (
	"bytes"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// indentation is that of a piece of a text, in bytes, with its line break.
const indentation = 20

// layOut returns a compact text as a file has it: as JSON.stringify(value, null, 2) of ECMAScript
// prints it, with a final line break. It takes the text's memory, since a text may be long: it moves the
// text to the end of that, and writes from the beginning. Only where it would write over what it has not
// read, as deep nesting makes it, it goes on in new memory.
func layOut(text []byte) []byte {
	const most = 64 << 10 // of white space that does not indent pieces of texts
	room := min(len(text)/2, most) + indentation*bytes.Count(text, []byte(`",`)) + 1
	whole := text[:cap(text)]
	if len(whole) < len(text)+room {
		whole = make([]byte, len(text)+room)
	}
	whole = whole[:len(text)+room]
	copy(whole[room:], text)
	text = whole[room:]
	out, shared := whole[:0], true
	for i, depth := 0, 0; i < len(text); {
		start := i
		var before, behind bool
		i, depth, before, behind = tokenAt(text, i, depth)
		if shared && len(out)+i-start+2*depth+2 > room+i {
			out, shared = append(make([]byte, 0, 2*len(whole)), out...), false
		}
		out = appendToken(out, text[start:i], depth, before, behind)
	}
	return append(out, '\n')
}

// isLaidOut reports whether file is layOut of a compact text.
func isLaidOut(file, text []byte) bool {
	var next []byte // what the file must go on with
	for i, depth := 0, 0; i < len(text); file = file[len(next):] {
		start := i
		var before, behind bool
		i, depth, before, behind = tokenAt(text, i, depth)
		if next = appendToken(next[:0], text[start:i], depth, before, behind); !bytes.HasPrefix(file, next) {
			return false
		}
	}
	return string(file) == "\n"
}

// appendToken appends a token, which may be written over meanwhile, with what stands before and behind it in a file.
func appendToken(out, token []byte, depth int, before, behind bool) []byte {
	named := token[0] == ':'
	if before {
		out = lineBreak(out, depth)
	}
	out = append(out, token...)
	if behind {
		out = lineBreak(out, depth)
	} else if named {
		out = append(out, ' ')
	}
	return out
}

// tokenAt returns the end of the token at text[i], how deep what follows it is, and whether a line breaks before and
// behind it.
func tokenAt(text []byte, i, depth int) (end, below int, before, behind bool) {
	switch c := text[i]; c {
	case '"':
		return stringEnd(text, i), depth, false, false
	case '{', '[':
		if text[i+1] == c+2 { // it is empty: both closing brackets are two above
			return i + 2, depth, false, false
		}
		return i + 1, depth + 1, false, true
	case '}', ']':
		return i + 1, depth - 1, true, false
	case ',':
		return i + 1, depth, false, true
	}
	return i + 1, depth, false, false
}

func lineBreak(out []byte, depth int) []byte {
	out = append(out, '\n')
	for n := 2 * depth; n > 0; n -= len(spaces) {
		out = append(out, spaces[:min(n, len(spaces))]...)
	}
	return out
}

var spaces = bytes.Repeat([]byte(" "), 64)

// stringEnd returns the end of the string at text[i], a quote.
func stringEnd(text []byte, i int) int {
	for i++; ; {
		n, _ := jsontext.Plain(text[i:])
		if i += n; text[i] == '"' {
			return i + 1
		}
		i += len(`\"`) // an escape sequence; what follows of a longer one is plain
	}
}
