package canon

import (
	"bytes"
	"unicode/utf16"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Canonical reports whether src is in canonical form, so that [JSON] would return it unchanged. It reads src once, and
// allocates only for member names with escapes.
func Canonical(src []byte) bool {
	return canonicalValue(src, 0, 0) == len(src)
}

// canonicalValue returns the end of the canonical value at src[i], nested in depth arrays
// and objects, or -1 if there is none.
func canonicalValue(src []byte, i, depth int) int {
	if i == len(src) {
		return -1
	}
	switch src[i] {
	case '"':
		end, _ := canonicalString(src, i)
		return end
	case '{':
		return canonicalItems(src, i, depth+1, '}')
	case '[':
		return canonicalItems(src, i, depth+1, ']')
	case 't', 'f', 'n':
		return literalEnd(src, i)
	}
	end, kind := jsontext.Number(src, i)
	switch kind {
	case jsontext.NotNumber: // usually a space: an error for appendNumber costs more than all before it
		return -1
	case jsontext.PlainNumber:
		return end
	}
	var longest [len("-0.0000033333333333333333")]byte
	if number, err := appendNumber(longest[:0], src[i:end], kind); err != nil || !bytes.Equal(number, src[i:end]) {
		return -1
	}
	return end
}

// canonicalItems returns the end of the canonical array or object at src[i], or -1. closing is its last bracket.
func canonicalItems(src []byte, i, depth int, closing byte) int {
	if depth > MaxDepth {
		return -1
	}
	i++
	if i < len(src) && src[i] == closing {
		return i + 1
	}
	var previous []byte
	for first := true; ; first = false {
		if closing == '}' {
			var name []byte
			if name, i = canonicalName(src, i); i < 0 || !first && jsontext.CompareNames(previous, name) >= 0 {
				return -1
			}
			previous = name
		}
		if i = canonicalValue(src, i, depth); i < 0 || i == len(src) {
			return -1
		}
		switch src[i] {
		case closing:
			return i + 1
		case ',':
			i++
		default:
			return -1
		}
	}
}

// canonicalName returns the name of the member at src[i] and the start of its value, or -1.
func canonicalName(src []byte, i int) (name []byte, value int) {
	if i == len(src) || src[i] != '"' {
		return nil, -1
	}
	end, escaped := canonicalString(src, i)
	if end < 0 || end == len(src) || src[end] != ':' {
		return nil, -1
	}
	name = src[i+1 : end-1]
	if escaped {
		whole, _ := jsontext.Unescaped(string(name))
		name = []byte(whole)
	}
	return name, end + 1
}

// canonicalString returns the end of the canonical string at src[i], a quote, or -1, and
// whether anything in it is escaped.
func canonicalString(src []byte, i int) (end int, escaped bool) {
	for i++; ; {
		n, ascii := jsontext.Plain(src[i:])
		stop := i + n
		if stop == len(src) || !ascii && jsontext.InvalidUTF8(src[i:stop]) >= 0 {
			return -1, escaped
		}
		if src[stop] == '"' {
			return stop + 1, escaped
		}
		escaped = true
		if n = canonicalEscape(src[stop:]); n == 0 {
			return -1, escaped
		}
		i = stop + n
	}
}

// canonicalEscape returns the length of the escape sequence at the start of text, or 0 if it is not canonical.
func canonicalEscape(text []byte) int {
	r, n := jsontext.Unescape(text)
	var shortest [8]byte
	if utf16.IsSurrogate(r) || !bytes.Equal(jsontext.AppendRune(shortest[:0], r), text[:n]) {
		return 0
	}
	return n
}

// literalEnd returns the end of the literal name at src[i], or -1 if there is none.
func literalEnd(src []byte, i int) int {
	for _, literal := range [...]string{"true", "false", "null"} {
		if end := i + len(literal); end <= len(src) && string(src[i:end]) == literal {
			return end
		}
	}
	return -1
}
