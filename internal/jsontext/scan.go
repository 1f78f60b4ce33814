package jsontext

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// A Scanner reads the tokens of one JSON text (RFC 8259). The text is either in the window as a whole or read through
// it.
type Scanner struct {
	window []byte // window[pos:] has been read but not yet consumed
	pos    int

	r      io.Reader // source of the text after the window; nil if there is none
	buffer []byte    // memory of the window
	passed int64     // bytes of the text before the window
	stop   error     // why nothing more can be read: io.EOF or the reader's error

	policy policy
}

// NewScanner returns a scanner for the text from r, with a window of WindowSize bytes.
func NewScanner(r io.Reader) Scanner { return Scanner{r: r, buffer: make([]byte, WindowSize)} }

// WindowSize is how many bytes of a text are in memory when it is read from a reader.
const WindowSize = 64 << 10

// Err returns why the text could not be read to its end, if that caused an error.
func (s *Scanner) Err() error {
	if errors.Is(s.stop, io.EOF) {
		return nil
	}
	return s.stop
}

// Pass consumes a byte that Peek has returned.
func (s *Scanner) Pass() { s.pos++ }

// Offset returns the offset of the next byte in the text.
func (s *Scanner) Offset() int64 { return s.passed + int64(s.pos) }

// Fail returns an error of a kind at the next byte.
func (s *Scanner) Fail(kind error, format string, args ...any) error {
	return s.failed(fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...)))
}

func (s *Scanner) failed(err error) error { return &Error{Offset: s.Offset(), Err: err} }

// Unexpected returns the error for a next byte that differs from what was wanted.
func (s *Scanner) Unexpected(want string) error {
	if s.pos == len(s.window) {
		return s.Fail(ErrSyntax, "unexpected end, want %s", want)
	}
	return s.Fail(ErrSyntax, "unexpected %q, want %s", s.window[s.pos:s.pos+1], want)
}

// more moves the window forward, keeping what was not yet consumed, and reports whether there is anything after it.
func (s *Scanner) more() bool {
	if s.r == nil || s.pos == 0 && len(s.window) == len(s.buffer) {
		return false
	}
	s.passed += int64(s.pos)
	end := copy(s.buffer, s.window[s.pos:])
	s.pos, s.window = 0, s.buffer[:end]
	for tries := 0; s.stop == nil; tries++ {
		n, err := s.r.Read(s.buffer[end:])
		s.window = s.buffer[:end+n]
		if s.stop = err; n == 0 && err == nil && tries == 100 {
			s.stop = io.ErrNoProgress
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// Ahead returns the next n bytes, or fewer at the end of the text.
func (s *Scanner) Ahead(n int) []byte {
	for len(s.window)-s.pos < n && s.more() {
	}
	return s.window[s.pos:min(s.pos+n, len(s.window))]
}

// Peek returns the next byte that is not white space. At the end of the text it returns 0, with which no token begins.
func (s *Scanner) Peek() byte {
	for {
		for s.pos < len(s.window) {
			switch c := s.window[s.pos]; c {
			case ' ', '\t', '\n', '\r':
				s.pos++
			default:
				return c
			}
		}
		if !s.more() {
			return 0
		}
	}
}

// End consumes white space, after which the text must end.
func (s *Scanner) End() error {
	if s.Peek(); s.pos < len(s.window) {
		return s.Unexpected("the end")
	}
	return nil
}

// literals are the words that are values, by their first byte.
var literals = [256]string{'t': "true", 'f': "false", 'n': "null"}

// Scalar reads a value that starts with c and is not a string, array or object. It returns the kind of a number.
func (s *Scanner) Scalar(c byte) (NumberKind, error) {
	if literal := literals[c]; literal != "" {
		return NotNumber, s.literal(literal)
	}
	return s.number()
}

func (s *Scanner) number() (NumberKind, error) {
	end, kind := Number(s.window, s.pos)
	for more := true; more && end == len(s.window); {
		more = s.more() // the token may continue
		end, kind = Number(s.window, s.pos)
	}
	switch {
	case kind == NotNumber && end == s.pos:
		return kind, s.Unexpected("a value")
	case kind == NotNumber:
		s.pos = end
		return kind, s.Unexpected("a number as JSON spells it")
	case s.r != nil && end-s.pos == len(s.buffer):
		return kind, s.Fail(ErrSyntax, "number of more than %d digits", len(s.buffer))
	}
	s.pos = end
	return kind, nil
}

func (s *Scanner) literal(word string) error {
	if string(s.Ahead(len(word))) != word {
		return s.Unexpected("a value")
	}
	s.pos += len(word)
	return nil
}

// Characters receive a string: runs of unescaped characters, and characters that were escaped.
type Characters interface {
	Run(chars []byte) // unescaped
	Escaped(c rune)   // the character that an escape stands for
}

// Text reads a string, which starts with a quote, and reports whether it contains escapes. It passes the string to to,
// which may be nil.
func (s *Scanner) Text(to Characters) (escaped bool, err error) {
	for s.pos++; ; {
		unread := s.window[s.pos:]
		n, ascii := Plain(unread)
		run := unread[:n]
		if !ascii {
			if run, err = s.whole(run, n == len(unread)); err != nil {
				return escaped, err
			}
		}
		s.pos += len(run)
		if to != nil {
			to.Run(run)
		}
		switch {
		case n == len(unread):
			if !s.more() {
				return escaped, s.Unexpected("the end of the string")
			}
		case unread[n] == '"':
			s.pos++
			return escaped, nil
		case unread[n] == '\\':
			c, err := s.escape()
			if err != nil {
				return escaped, err
			}
			escaped = true
			if to != nil {
				to.Escaped(c)
			}
		default:
			return escaped, s.Unexpected("an escape for a control character")
		}
	}
}

// whole returns run, which must be UTF-8, without a character that the end of the window splits.
func (s *Scanner) whole(run []byte, atEnd bool) ([]byte, error) {
	bad := InvalidUTF8(run)
	if bad < 0 {
		return run, nil
	}
	if atEnd && s.r != nil && s.stop == nil && !utf8.FullRune(run[bad:]) {
		return run[:bad], nil
	}
	s.pos += bad
	return nil, s.failed(invalidByte(run[bad]))
}

var errSurrogate = fmt.Errorf("%w: lone surrogate", ErrEncoding)

// escape reads an escape sequence and returns the character that it stands for.
func (s *Scanner) escape() (rune, error) {
	const longest = len(`\ud83d\ude00`)
	text := s.window[s.pos:]
	if len(text) < longest {
		text = s.Ahead(longest)
	}
	r, n := Unescape(text)
	switch {
	case n == 0:
		return 0, s.Fail(ErrSyntax, "not an escape sequence")
	case s.policy == refuse && utf16.IsSurrogate(r):
		return 0, s.failed(errSurrogate)
	}
	s.pos += n
	return r, nil
}
