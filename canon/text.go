package canon

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// plainEnd returns the index of the first byte at or after i that ends a run of characters
// which stand for themselves in a string: a quote, a backslash, or a control character.
// It returns len(src) if none does. If ascii is true, the run is ASCII.
func plainEnd(src []byte, i int) (end int, ascii bool) {
	// Eight bytes at a time: a high bit in stop marks a byte that ends the run. Borrows can
	// mark bytes wrongly, but only above the lowest that is marked rightly.
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	var seen uint64
	for ; i+8 <= len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		quote, backslash := w^ones*'"', w^ones*'\\'
		stop := ((w-ones*' ')&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
		seen |= w
		if stop != 0 {
			return i + bits.TrailingZeros64(stop)/8, seen&highs == 0
		}
	}
	for ; i < len(src) && src[i] >= ' ' && src[i] != '"' && src[i] != '\\'; i++ {
		seen |= uint64(src[i])
	}
	return i, seen&highs == 0
}

// invalidUTF8 returns the index of the first byte of text that is not valid UTF-8, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) { // several times as fast as looking for the place
		return -1
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1 // unreachable: text is not valid
}

// appendEscaped appends r as it stands in a canonical string (RFC 8785 section 3.2.2.2).
func appendEscaped(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	}
	if r < ' ' {
		return append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
	}
	return utf8.AppendRune(dst, r)
}

var (
	errEscape    = fmt.Errorf("%w: not an escape sequence", ErrSyntax)
	errSurrogate = fmt.Errorf("%w: lone surrogate", ErrEncoding)
)

// scanEscape decodes the escape sequence of n bytes at src[i], a backslash.
func scanEscape(src []byte, i int) (r rune, n int, err error) {
	if i+1 == len(src) {
		return 0, 0, errEscape
	}
	switch src[i+1] {
	case '"', '\\', '/':
		return rune(src[i+1]), 2, nil
	case 'b':
		return '\b', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
		r, ok := scanHex(src, i)
		if !ok {
			return 0, 0, errEscape
		}
		if !utf16.IsSurrogate(r) {
			return r, 6, nil
		}
		low, _ := scanHex(src, i+6)
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return 0, 0, errSurrogate
		}
		return r, 12, nil
	}
	return 0, 0, errEscape
}

// scanHex returns the code unit that the \uxxxx at src[i] stands for.
func scanHex(src []byte, i int) (unit rune, ok bool) {
	if i+6 > len(src) || src[i] != '\\' || src[i+1] != 'u' {
		return 0, false
	}
	for _, c := range src[i+2 : i+6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | rune(c)
	}
	return unit, true
}

// unescape returns the characters that the inside of a valid string stands for. It is text
// itself if nothing in it is escaped.
func unescape(text []byte) []byte {
	i := bytes.IndexByte(text, '\\')
	if i < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for ; i >= 0; i = bytes.IndexByte(text, '\\') {
		out = append(out, text[:i]...)
		r, n, _ := scanEscape(text, i)
		out = utf8.AppendRune(out, r)
		text = text[i+n:]
	}
	return append(out, text...)
}

// compareNames orders names in UTF-8 by their UTF-16 code units (RFC 8785 section 3.2.3).
func compareNames(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int(utf16Rank(a[i])) - int(utf16Rank(b[i]))
		}
	}
	return len(a) - len(b)
}

// utf16Rank maps the first byte in which two names differ to its place in UTF-16 order.
// That is the order of UTF-8, except that U+10000 and above (first byte F0 to F4) are surrogates
// in UTF-16 and so precede U+E000 to U+FFFF (first byte EE or EF).
func utf16Rank(c byte) byte {
	if c == 0xEE || c == 0xEF {
		return c + 0x10
	}
	return c
}
