package canon

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

var (
	errEscape    = fmt.Errorf("%w: not an escape sequence", ErrSyntax)
	errSurrogate = fmt.Errorf("%w: lone surrogate", ErrEncoding)
)

// scanEscape decodes the escape sequence of n bytes at src[i], a backslash.
func scanEscape(src []byte, i int) (r rune, n int, err error) {
	switch r, n = jsontext.Unescape(src[i:]); {
	case n == 0:
		return 0, 0, errEscape
	case utf16.IsSurrogate(r):
		return 0, 0, errSurrogate
	}
	return r, n, nil
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
