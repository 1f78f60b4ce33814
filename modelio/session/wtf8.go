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
	dst := []byte{'"'}
	for chars := []byte(s); ; {
		n, ascii := jsontext.Plain(chars)
		run := chars[:n]
		for i := nextSurrogate(run); !ascii && i >= 0; i = nextSurrogate(run) {
			dst = jsontext.AppendRune(append(dst, run[:i]...), surrogate(run[i:]))
			run = run[i+3:]
		}
		dst = append(dst, run...)
		if n == len(chars) {
			return append(dst, '"')
		}
		dst = jsontext.AppendRune(dst, rune(chars[n]))
		chars = chars[n+1:]
	}
}

// appendSurrogate appends a lone surrogate to the characters of a session's string.
func appendSurrogate(dst []byte, r rune) []byte {
	return append(dst, 0xED, 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
}

// surrogate returns the lone surrogate at the start of chars.
func surrogate(chars []byte) rune {
	return 0xD000 | rune(chars[1]&0x3F)<<6 | rune(chars[2]&0x3F)
}

// nextSurrogate returns the index of the first lone surrogate in chars, or -1.
func nextSurrogate(chars []byte) int {
	const lead = 0xED // first byte of U+D000 to U+DFFF; surrogates have a second byte of at least 0xA0
	for from := 0; ; {
		i := bytes.IndexByte(chars[from:], lead)
		if i < 0 {
			return -1
		}
		if i += from; i+2 < len(chars) && chars[i+1]&0xE0 == 0xA0 && chars[i+2]&0xC0 == 0x80 {
			return i
		}
		from = i + 1
	}
}

// toUTF8 returns a string of a session with U+FFFD for every lone surrogate.
func toUTF8(s string) []byte {
	chars := []byte(s)
	rest := chars
	for i := nextSurrogate(rest); i >= 0; i = nextSurrogate(rest) {
		utf8.EncodeRune(rest[i:], utf8.RuneError)
		rest = rest[i+3:]
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
			chars = appendSurrogate(chars, r)
		} else {
			chars = utf8.AppendRune(chars, r)
		}
		rest = rest[i+n:]
	}
	return append(chars, rest...)
}
