package session

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// The strings of a [Session] are UTF-8, except that a lone surrogate is the three bytes that UTF-8 would give it
// (WTF-8). JavaScript, and so MIO, distinguishes it from U+FFFD.

// canonicalString returns a string of a session in canonical form.
func canonicalString[T ~string](s T) []byte {
	if utf8.ValidString(string(s)) { // almost all
		return jsontext.Text(s)
	}
	dst := []byte{'"'}
	for chars := []byte(s); len(chars) > 0; {
		r, n := utf8.DecodeRune(chars)
		if lone, ok := surrogate(chars); ok {
			r, n = lone, surrogateSize
		}
		dst, chars = jsontext.AppendRune(dst, r), chars[n:]
	}
	return append(dst, '"')
}

const surrogateSize = 3 // bytes

// surrogate returns the lone surrogate at the start of chars, if there is one.
func surrogate(chars []byte) (r rune, ok bool) {
	if len(chars) < surrogateSize || chars[0] != 0xED || chars[1]&0xE0 != 0xA0 || chars[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(chars[1]&0x3F)<<6 | rune(chars[2]&0x3F), true
}

// toUTF8 returns a string of a session with U+FFFD, which is as long, for every lone surrogate.
func toUTF8(s string) []byte {
	chars := []byte(s)
	for i := range chars {
		if _, ok := surrogate(chars[i:]); ok {
			utf8.EncodeRune(chars[i:], utf8.RuneError)
		}
	}
	return chars
}

// unquote returns the characters of a JSON string, which must be valid and in its quotes.
func unquote(quoted []byte) []byte {
	chars := make([]byte, 0, len(quoted))
	rest := quoted[1 : len(quoted)-1]
	for i := bytes.IndexByte(rest, '\\'); i >= 0; i = bytes.IndexByte(rest, '\\') {
		chars = append(chars, rest[:i]...)
		r, n := jsontext.Unescape(rest[i:])
		if utf16.IsSurrogate(r) {
			chars = append(chars, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
		} else {
			chars = utf8.AppendRune(chars, r)
		}
		rest = rest[i+n:]
	}
	return append(chars, rest...)
}
