package modelio

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
)

// A stringVisitor is handed a string a piece at a time: its characters, and the same in
// canonical form. The last call is that for the end of the string.
type stringVisitor func(chars, canonical []byte)

// string reads the string at hand, which starts with a quote. visit may be nil.
func (s *scanner) string(visit stringVisitor) error {
	s.pos++
	s.chars, s.canonical = s.chars[:0], s.canonical[:0]
	for {
		unread := s.window[s.pos:s.end]
		n, ascii := plainEnd(unread)
		run := unread[:n]
		if !ascii {
			whole, err := s.wholeCharacters(run, n == len(unread))
			if err != nil {
				return err
			}
			run = run[:whole]
		}
		s.pos += len(run)
		if visit != nil {
			s.chars = append(s.chars, run...)
			s.canonical = append(s.canonical, run...)
		}
		if len(s.chars) >= charsSize {
			if visit != nil {
				visit(s.chars, s.canonical)
			}
			s.chars, s.canonical = s.chars[:0], s.canonical[:0]
		}
		switch {
		case n == len(unread):
			if !s.more() {
				return s.unexpected("the end of the string")
			}
		case unread[n] == '"':
			s.pos++
			if visit != nil {
				visit(s.chars, s.canonical)
			}
			return nil
		case unread[n] == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		default:
			return s.unexpected("an escape for a control character")
		}
	}
}

// wholeCharacters returns the length of run without a character that is cut off by the
// end of the window, if run ends there.
func (s *scanner) wholeCharacters(run []byte, atEnd bool) (int, error) {
	if utf8.Valid(run) {
		return len(run), nil
	}
	i := 0
	for r, n := utf8.DecodeRune(run); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(run[i:]) {
		i += n
	}
	if atEnd && !utf8.FullRune(run[i:]) {
		return i, nil
	}
	s.pos += i
	return 0, s.fail(canon.ErrEncoding, "byte %#02x is not UTF-8 here", run[i])
}

// escape reads an escape sequence.
func (s *scanner) escape() error {
	const longest = len(`\ud83d\ude00`)
	r, n := decodeEscape(s.ahead(longest))
	if n == 0 {
		return s.fail(canon.ErrSyntax, "not an escape sequence")
	}
	s.pos += n
	s.chars = utf8.AppendRune(s.chars, r)
	s.canonical = appendRune(s.canonical, r)
	return nil
}

// decodeEscape returns the character that the escape sequence of n bytes at the start of text
// stands for, which may be a lone surrogate. n is 0 if there is no escape sequence.
func decodeEscape(text []byte) (r rune, n int) {
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case '"', '\\', '/':
		return rune(text[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
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

// codeUnit returns the code unit that the \uxxxx at the start of text stands for.
func codeUnit(text []byte) (unit rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
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

// plainEnd returns the index of the first byte of text that does not stand for itself in a
// JSON string: a quote, a backslash or a control character; len(text) if there is none.
// ascii reports whether all bytes before it are ASCII.
func plainEnd(text []byte) (end int, ascii bool) {
	// Eight bytes at a time: a high bit in stop marks a byte to stop at. A borrow can mark a
	// byte wrongly, but only one above the lowest that is marked rightly.
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	var seen uint64
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, backslash := w^ones*'"', w^ones*'\\'
		stop := ((w-ones*' ')&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
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
