package modelio

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

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
