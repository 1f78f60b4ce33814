package modelio

import (
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
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
		n, ascii := jsontext.Plain(unread)
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
	r, n := jsontext.Unescape(s.ahead(longest))
	if n == 0 {
		return s.fail(canon.ErrSyntax, "not an escape sequence")
	}
	s.pos += n
	s.chars = utf8.AppendRune(s.chars, r)
	s.canonical = jsontext.AppendRune(s.canonical, r)
	return nil
}
