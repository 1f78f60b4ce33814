package jsontext

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Plain returns the index of the first quote, backslash or control character in text, or len(text). All other bytes
// stand for themselves in a JSON string. ascii reports whether all bytes before the index are ASCII.
func Plain(text []byte) (end int, ascii bool) {
	// Eight bytes at a time: a high bit in stop marks a byte to stop at, which has no high bit itself. A borrow can mark a
	// byte by mistake, but only above the lowest correctly marked one.
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	var seen uint64
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, backslash := w^ones*'"', w^ones*'\\'
		stop := ((w - ones*' ') | (quote - ones) | (backslash - ones)) &^ w & highs
		if stop != 0 {
			n := bits.TrailingZeros64(stop) / 8
			seen |= w & (1<<(8*n) - 1)
			return i + n, seen&highs == 0
		}
		seen |= w
	}
	for ; i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\'; i++ {
		seen |= uint64(text[i])
	}
	return i, seen&highs == 0
}

// StringEnd returns the index of the quote that ends the string whose first character is text[i], or len(text).
func StringEnd(text []byte, i int) int {
	for i < len(text) {
		n, _ := Plain(text[i:])
		switch i += n; {
		case i == len(text):
		case text[i] == '"':
			return i
		case text[i] == '\\':
			i += len(`\"`) // the rest of a longer escape sequence is plain
		default:
			i++
		}
	}
	return len(text)
}

// InvalidUTF8 returns the index of the first byte of text that is not valid UTF-8, or -1.
func InvalidUTF8(text []byte) int {
	if utf8.Valid(text) { // several times faster than looking for the position
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

// Escapes of two bytes: the character after the backslash by the escaped character, and the reverse.
var (
	escapeLetters = [128]byte{'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}
	escapedChars  = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r'}
)

// AppendRune appends r as in a canonical string (RFC 8785 section 3.2.2.2). A lone surrogate, which no canonical string
// contains, is escaped as by JSON.stringify.
func AppendRune(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	if r < utf8.RuneSelf && escapeLetters[r] != 0 {
		return append(dst, '\\', escapeLetters[r])
	}
	if r >= ' ' && !utf16.IsSurrogate(r) {
		return utf8.AppendRune(dst, r)
	}
	return append(dst, '\\', 'u', digits[r>>12], digits[r>>8&0xf], digits[r>>4&0xf], digits[r&0xf])
}

// Unescape returns the character of the escape sequence at the start of text, which is a backslash, and the length n of
// the sequence. The character may be a lone surrogate. n is 0 if there is no escape sequence.
func Unescape(text []byte) (r rune, n int) {
	if len(text) < 2 {
		return 0, 0
	}
	if c := escapedChars[text[1]]; c != 0 {
		return rune(c), 2
	}
	r, ok := codeUnit(text)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := codeUnit(text[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return r, 6
}

// codeUnit returns the code unit for the \uxxxx at the start of text.
func codeUnit(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var unit [2]byte
	_, err := hex.Decode(unit[:], text[2:6])
	return rune(binary.BigEndian.Uint16(unit[:])), err == nil
}

// AppendCanonical appends a string from a parsed text, including its quotes, in canonical form.
func AppendCanonical(dst, quoted []byte) []byte {
	dst = append(dst, '"')
	for rest := quoted[1 : len(quoted)-1]; ; {
		n, _ := Plain(rest)
		dst = append(dst, rest[:n]...)
		if n == len(rest) {
			return append(dst, '"')
		}
		r, length := Unescape(rest[n:])
		dst = AppendRune(dst, r)
		rest = rest[n+length:]
	}
}

// CompareNames orders names in UTF-8 by their UTF-16 code units (RFC 8785 section 3.2.3).
func CompareNames[T ~string | ~[]byte](a, b T) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int(utf16Rank(a[i])) - int(utf16Rank(b[i]))
		}
	}
	return len(a) - len(b)
}

// utf16Rank maps the first byte in which two names differ to its rank in UTF-16 order. That is the order of UTF-8,
// except that U+10000 and above (first byte F0 to F4) are surrogates in UTF-16 and so precede U+E000 to U+FFFF (first
// byte EE or EF).
func utf16Rank(c byte) byte {
	if c == 0xEE || c == 0xEF {
		return c + 0x10
	}
	return c
}
