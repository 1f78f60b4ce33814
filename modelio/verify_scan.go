package modelio

import (
	"fmt"
	"io"
	"strconv"

	"github.com/traceforge/traceforge-go/canon"
)

// A scanner reads one JSON text through a window that moves over it once, so that its
// memory does not grow with the text. Unlike canon it takes lone surrogates where they are
// escaped, as JavaScript does: MIO gives such sessions a hash.
type scanner struct {
	r      io.Reader
	window []byte // what is read and not yet passed is window[pos:end]
	pos    int
	end    int
	passed int64 // bytes of the text before the window
	stop   error // why nothing more can be read: io.EOF or the reader's error
	depth  int   // arrays and objects that are open

	// Of the string being read, what is not yet handed over:
	chars     []byte // its characters in UTF-8, with U+FFFD for a lone surrogate, as in JavaScript
	canonical []byte // the same in canonical form, without quotes; lone surrogates are escaped
}

const (
	windowSize = 64 << 10
	charsSize  = 32 << 10 // characters are handed over when there are as many
	lookahead  = 256      // bytes that ahead and raw show at most; more than the longest escape
)

func newScanner(r io.Reader) scanner {
	return scanner{r: r, window: make([]byte, windowSize)}
}

// offset returns the offset in the text of the next byte.
func (s *scanner) offset() int64 { return s.passed + int64(s.pos) }

// more moves the window on. It keeps what is not yet passed, which the callers see to be at
// most lookahead bytes, and reports whether there is anything after it.
func (s *scanner) more() bool {
	s.passed += int64(s.pos)
	s.end = copy(s.window, s.window[s.pos:s.end])
	s.pos = 0
	for tries := 0; s.stop == nil; tries++ {
		n, err := s.r.Read(s.window[s.end:])
		s.end += n
		if s.stop = err; n == 0 && err == nil && tries == 100 {
			s.stop = io.ErrNoProgress
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// ahead returns the next n bytes, fewer at the end of the text.
func (s *scanner) ahead(n int) []byte {
	for s.end-s.pos < n && s.more() {
	}
	return s.window[s.pos:min(s.pos+n, s.end)]
}

// next returns the next byte, or 0 at the end of the text.
func (s *scanner) next() byte {
	if s.pos == s.end && !s.more() {
		return 0
	}
	return s.window[s.pos]
}

// peek returns the next byte that is not white space, or 0 at the end of the text.
func (s *scanner) peek() byte {
	for {
		switch c := s.next(); c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
}

// unexpected returns the error that the next byte is not what was wanted.
func (s *scanner) unexpected(want string) error {
	if s.pos == s.end {
		return s.fail(canon.ErrSyntax, "unexpected end, want %s", want)
	}
	return s.fail(canon.ErrSyntax, "unexpected %q, want %s", s.window[s.pos:s.pos+1], want)
}

func (s *scanner) fail(kind error, format string, args ...any) error {
	return &canon.Error{Offset: s.offset(), Err: fmt.Errorf("%w: %s", kind, fmt.Sprintf(format, args...))}
}

// object reads an object. It calls member with each name, to read the value.
func (s *scanner) object(member func(name []byte) error) error {
	var name []byte
	keep := func(chars, _ []byte) { name = append(name, chars[:min(len(chars), lookahead)]...) }
	return s.nested('}', func() error {
		name = name[:0]
		if err := s.memberName(keep); err != nil {
			return err
		}
		if err := member(name); err != nil {
			return within(string(name), err)
		}
		return nil
	})
}

// array reads an array. It calls element at each element, to read it.
func (s *scanner) array(element func(n int) error) error {
	n := -1
	return s.nested(']', func() error {
		n++
		if err := element(n); err != nil {
			return within(strconv.Itoa(n), err)
		}
		return nil
	})
}

// within returns err with its pointer led by token.
func within(token string, err error) error {
	if invalid, ok := err.(*canon.Error); ok {
		invalid.Pointer = pointer([]string{token}) + invalid.Pointer
	}
	return err
}

// nested reads an array or object up to its closing brace; item reads one item of it.
func (s *scanner) nested(closing byte, item func() error) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.peek() == closing {
		s.close()
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case closing:
			s.close()
			return nil
		default:
			return s.unexpected(fmt.Sprintf("',' or %q", closing))
		}
	}
}

func (s *scanner) open() error {
	if s.depth == canon.MaxDepth {
		return s.fail(canon.ErrDepth, "more than %d levels", canon.MaxDepth)
	}
	s.depth++
	s.pos++
	return nil
}

func (s *scanner) close() {
	s.depth--
	s.pos++
}

// memberName reads a name and the colon after it.
func (s *scanner) memberName(visit stringVisitor) error {
	if s.peek() != '"' {
		return s.unexpected("a member name")
	}
	if err := s.string(visit); err != nil {
		return err
	}
	if s.peek() != ':' {
		return s.unexpected("':'")
	}
	s.pos++
	return nil
}

// skip reads a value of any kind. It does not recurse: the text may come from anywhere.
func (s *scanner) skip() error {
	outside := s.depth
	var isObject [canon.MaxDepth + 1]bool // by depth
	closing := func() byte {
		if isObject[s.depth] {
			return '}'
		}
		return ']'
	}
	for {
		// A value.
		switch c := s.peek(); c {
		case '{', '[':
			if err := s.open(); err != nil {
				return err
			}
			isObject[s.depth] = c == '{'
			if s.peek() == c+2 { // the closing brace
				s.close()
				break
			}
			if c == '{' {
				if err := s.memberName(nil); err != nil {
					return err
				}
			}
			continue
		case '"':
			if err := s.string(nil); err != nil {
				return err
			}
		default:
			if err := s.scalar(c); err != nil {
				return err
			}
		}
		// What follows it.
		for s.depth > outside && s.peek() == closing() {
			s.close()
		}
		if s.depth == outside {
			return nil
		}
		if s.peek() != ',' {
			return s.unexpected(fmt.Sprintf("',' or %q", closing()))
		}
		s.pos++
		if isObject[s.depth] {
			if err := s.memberName(nil); err != nil {
				return err
			}
		}
	}
}

// raw reads a value of any kind and returns its text, of which it keeps lookahead bytes at
// most. cut reports whether there were more.
func (s *scanner) raw(dst []byte) (text []byte, cut bool, err error) {
	s.peek() // past white space
	start := s.offset()
	text = append(dst, s.ahead(lookahead)...)
	if err := s.skip(); err != nil {
		return nil, false, err
	}
	length := s.offset() - start
	return text[:min(int64(len(text)), length)], length > lookahead, nil
}

// scalar reads a number, true, false or null, which starts with c.
func (s *scanner) scalar(c byte) error {
	switch c {
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	if c == '-' {
		s.pos++
		c = s.next()
	}
	if c == '0' {
		s.pos++
	} else if !s.digits() {
		return s.unexpected("a value")
	}
	if s.next() == '.' {
		s.pos++
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	if c := s.next(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.next(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return nil
}

func (s *scanner) literal(text string) error {
	for i := range len(text) {
		if s.next() != text[i] {
			return s.unexpected(text)
		}
		s.pos++
	}
	return nil
}

// digits reads digits and reports whether there were any.
func (s *scanner) digits() bool {
	c := s.next()
	if c < '0' || c > '9' {
		return false
	}
	for ; '0' <= c && c <= '9'; c = s.next() {
		s.pos++
	}
	return true
}
