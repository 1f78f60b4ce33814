package jsontext

import (
	"bytes"
	"fmt"
	"unicode/utf16"
)

// A scanner reads the tokens of one JSON text (RFC 8259).
type scanner struct {
	src    []byte
	pos    int // of the next byte
	policy policy
}

// fail returns an error of a kind at the next byte.
func (s *scanner) fail(kind error, format string, args ...any) error {
	return s.failed(fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...)))
}

func (s *scanner) failed(err error) error { return &Error{Offset: int64(s.pos), Err: err} }

// unexpected returns the error for a next byte that differs from what was wanted.
func (s *scanner) unexpected(want string) error {
	if s.pos == len(s.src) {
		return s.fail(ErrSyntax, "unexpected end, want %s", want)
	}
	return s.fail(ErrSyntax, "unexpected %q, want %s", s.src[s.pos:s.pos+1], want)
}

// peek returns the next byte that is not white space. At the end of the text it returns 0, with which no token begins.
func (s *scanner) peek() byte {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// end consumes white space, after which the text must end.
func (s *scanner) end() error {
	if s.peek(); s.pos < len(s.src) {
		return s.unexpected("the end")
	}
	return nil
}

// literals are the words that are values, by their first byte.
var literals = [256]string{'t': "true", 'f': "false", 'n': "null"}

// literal reads a value that starts with c, which begins no string, array, object or number.
func (s *scanner) literal(c byte) error {
	word := literals[c]
	if word == "" || !bytes.HasPrefix(s.src[s.pos:], []byte(word)) {
		return s.unexpected("a value")
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) number() (NumberKind, error) {
	end, kind := Number(s.src, s.pos)
	s.pos = end
	if kind == NotNumber {
		return kind, s.unexpected("a number as JSON spells it")
	}
	return kind, nil
}

// text reads a string, which starts with a quote, and reports whether it contains escapes.
func (s *scanner) text() (escaped bool, err error) {
	for s.pos++; ; {
		unread := s.src[s.pos:]
		n, ascii := Plain(unread)
		if !ascii {
			if bad := InvalidUTF8(unread[:n]); bad >= 0 {
				s.pos += bad
				return escaped, s.failed(invalidByte(unread[bad]))
			}
		}
		s.pos += n
		switch {
		case n == len(unread):
			return escaped, s.unexpected("the end of the string")
		case unread[n] == '"':
			s.pos++
			return escaped, nil
		case unread[n] != '\\':
			return escaped, s.unexpected("an escape for a control character")
		}
		if err := s.escape(); err != nil {
			return escaped, err
		}
		escaped = true
	}
}

var errSurrogate = fmt.Errorf("%w: lone surrogate", ErrEncoding)

// escape reads an escape sequence.
func (s *scanner) escape() error {
	r, n := Unescape(s.src[s.pos:])
	switch {
	case n == 0:
		return s.fail(ErrSyntax, "not an escape sequence")
	case s.policy == refuse && utf16.IsSurrogate(r):
		return s.failed(errSurrogate)
	}
	s.pos += n
	return nil
}
