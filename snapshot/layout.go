package snapshot

import (
	"bytes"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// layOut returns a compact text as a file has it: as JSON.stringify(value, null, 2) of ECMAScript
// prints it, with a final line break.
func layOut(text []byte) []byte {
	const most, indentation = 64 << 10, 20 // of a text's other white space; of a piece of a text
	out := make([]byte, 0, len(text)+min(len(text)/2, most)+indentation*bytes.Count(text, []byte(`",`)))
	depth := 0
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '"':
			end := stringEnd(text, i)
			out = append(out, text[i:end]...)
			i = end
			continue
		case '{', '[':
			out = append(out, c)
			if text[i+1] == c+2 { // empty: both closing brackets are two above
				out = append(out, c+2)
				i++
				break
			}
			depth++
			out = lineBreak(out, depth)
		case '}', ']':
			depth--
			out = append(lineBreak(out, depth), c)
		case ',':
			out = lineBreak(append(out, c), depth)
		case ':':
			out = append(out, c, ' ')
		default:
			out = append(out, c)
		}
		i++
	}
	return append(out, '\n')
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
