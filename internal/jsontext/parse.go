package jsontext

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// MaxDepth is how many arrays and objects may be nested in each other, as in canon (design R1).
const MaxDepth = 1000

// ErrSyntax says that a text is not JSON at all, which is what codecs leave to http.json.
var ErrSyntax = errors.New("not JSON")

// A Document is a JSON text that has been scanned once, so that its values can be visited
// without looking at their bytes again.
type Document struct {
	src   []byte
	str   string // src, so that strings without escapes need no memory of their own
	nodes []node // in the order of the text; an object's members are a name and a value each
}

// A node is one value, or the name of a member.
type node struct {
	start, end int32 // its bytes
	next       int32 // the first node after it and all that it holds
	escaped    bool  // a string with a backslash
}

// Parse scans src, which must be one JSON value in valid UTF-8 without repeated member names.
// Lone surrogates and numbers of any size are left to those who read the values.
func Parse(src []byte) (*Document, error) {
	if len(src) > 1<<31-1 {
		return nil, fmt.Errorf("%d bytes of JSON are more than 2 GiB", len(src))
	}
	s := scanner{doc: &Document{src: src, str: string(src)}}
	s.doc.nodes = make([]node, 0, 16+len(src)/32)
	s.space()
	if err := s.value(0); err != nil {
		return nil, err
	}
	if s.space(); s.pos < len(src) {
		return nil, s.syntax("data after the value")
	}
	return s.doc, nil
}

// ParseReplacing is parse for a text that is never encoded again: lone surrogates, such as the
// half of an emoji at which a model had to stop, become U+FFFD, as in every SDK.
func ParseReplacing(src []byte) (*Document, error) {
	if bytes.Contains(src, []byte(`\ud`)) || bytes.Contains(src, []byte(`\uD`)) {
		src = withoutLoneSurrogates(src)
	}
	return Parse(src)
}

// withoutLoneSurrogates returns a JSON text with each escaped lone surrogate replaced.
func withoutLoneSurrogates(text []byte) []byte {
	whole := bytes.Clone(text)
	for i := 0; i < len(whole); i++ {
		if whole[i] != '\\' {
			continue
		}
		r, n := Unescape(whole[i:])
		if utf16.IsSurrogate(r) {
			copy(whole[i:], `\ufffd`)
		}
		i += max(n, 1) - 1
	}
	return whole
}

// A Error says where a text cannot be taken.
type Error struct {
	offset int
	path   []string // innermost first
	err    error
}

func (e *Error) Error() string { return fmt.Sprintf("offset %d: %v", e.offset, e.err) }
func (e *Error) Unwrap() error { return e.err }

// Pointer returns the RFC 6901 pointer of the value that holds the offending place.
func (e *Error) Pointer() string {
	var b strings.Builder
	for i := len(e.path) - 1; i >= 0; i-- {
		b.WriteString(PointerTo(e.path[i]))
	}
	return b.String()
}

// PointerTo returns the part of an RFC 6901 pointer that names a member.
func PointerTo(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

type scanner struct {
	doc *Document
	pos int
}

func (s *scanner) fail(err error) error { return &Error{offset: s.pos, err: err} }

func (s *scanner) syntax(problem string) error {
	return s.fail(fmt.Errorf("%w: %s", ErrSyntax, problem))
}

// inside adds a step to the path of err.
func inside(err error, step string) error {
	if e, ok := err.(*Error); ok {
		e.path = append(e.path, step)
	}
	return err
}

func (s *scanner) space() {
	for s.pos < len(s.doc.src) {
		switch s.doc.src[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the byte at hand, or 0 at the end, which begins nothing.
func (s *scanner) peek() byte {
	if s.pos == len(s.doc.src) {
		return 0
	}
	return s.doc.src[s.pos]
}

func (s *scanner) value(depth int) error {
	at := len(s.doc.nodes)
	s.doc.nodes = append(s.doc.nodes, node{start: int32(s.pos)})
	var err error
	switch c := s.peek(); c {
	case '{', '[':
		if depth == MaxDepth {
			return s.fail(fmt.Errorf("nested deeper than %d", MaxDepth))
		}
		s.pos++
		if c == '{' {
			err = s.object(at, depth+1)
		} else {
			err = s.array(depth + 1)
		}
	case '"':
		s.doc.nodes[at].escaped, err = s.text()
	case 't':
		err = s.literal("true")
	case 'f':
		err = s.literal("false")
	case 'n':
		err = s.literal("null")
	default:
		err = s.number()
	}
	s.doc.nodes[at].end, s.doc.nodes[at].next = int32(s.pos), int32(len(s.doc.nodes))
	return err
}

func (s *scanner) object(at, depth int) error {
	if s.space(); s.peek() == '}' {
		s.pos++
		return nil
	}
	for n := 1; ; n++ {
		s.space()
		if s.peek() != '"' {
			return s.syntax("want a member name")
		}
		if err := s.name(); err != nil {
			return err
		}
		name := int32(len(s.doc.nodes) - 1)
		if s.space(); s.peek() != ':' {
			return s.syntax("want a colon")
		}
		s.pos++
		s.space()
		if err := s.value(depth); err != nil {
			return inside(err, s.doc.name(name))
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case '}':
			s.pos++
			return s.unique(at, n)
		default:
			return s.syntax("want a comma or the end of an object")
		}
	}
}

func (s *scanner) name() error {
	n := node{start: int32(s.pos), next: int32(len(s.doc.nodes) + 1)}
	escaped, err := s.text()
	if err != nil {
		return err
	}
	n.end, n.escaped = int32(s.pos), escaped
	s.doc.nodes = append(s.doc.nodes, n)
	if _, whole := (Value{s.doc, n.next - 1}).Text(); !whole {
		return s.fail(errors.New("member name with a lone surrogate"))
	}
	return nil
}

// unique fails if two of the n members of the object at hand have one name: readers disagree
// on which of them counts.
func (s *scanner) unique(at, n int) error {
	const few = 12 // up to here comparing each with each is faster than a map
	var seen map[string]bool
	if n > few {
		seen = make(map[string]bool, n)
	}
	end := int32(len(s.doc.nodes))
	for i := int32(at) + 1; i < end; i = s.doc.nodes[i+1].next {
		name := s.doc.name(i)
		repeated := seen[name]
		if seen != nil {
			seen[name] = true
		} else {
			for j := int32(at) + 1; j < i && !repeated; j = s.doc.nodes[j+1].next {
				repeated = s.doc.name(j) == name
			}
		}
		if repeated {
			s.pos = int(s.doc.nodes[i].start)
			return inside(s.fail(errors.New("member appears twice")), name)
		}
	}
	return nil
}

func (s *scanner) array(depth int) error {
	if s.space(); s.peek() == ']' {
		s.pos++
		return nil
	}
	for i := 0; ; i++ {
		s.space()
		if err := s.value(depth); err != nil {
			return inside(err, strconv.Itoa(i))
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			return nil
		default:
			return s.syntax("want a comma or the end of an array")
		}
	}
}

func (s *scanner) literal(word string) error {
	if !strings.HasPrefix(s.doc.str[s.pos:], word) {
		return s.syntax("want a value")
	}
	s.pos += len(word)
	return nil
}

// number scans a number (RFC 8259 section 6).
func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	switch c := s.peek(); {
	case c == '0':
		s.pos++
	case c < '1' || c > '9':
		return s.syntax("want a value")
	default:
		s.digits()
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return s.syntax("want a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.syntax("want a digit")
		}
	}
	return nil
}

func (s *scanner) digits() (any bool) {
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
		any = true
	}
	return any
}

// text scans a string and reports whether anything in it is escaped.
func (s *scanner) text() (escaped bool, err error) {
	src := s.doc.src
	for s.pos++; ; {
		n, ascii := Plain(src[s.pos:])
		if !ascii {
			if bad := InvalidUTF8(src[s.pos : s.pos+n]); bad >= 0 {
				s.pos += bad
				return false, s.syntax("not UTF-8")
			}
		}
		s.pos += n
		switch s.peek() {
		case '"':
			s.pos++
			return escaped, nil
		case '\\':
			_, n := Unescape(src[s.pos:])
			if n == 0 {
				s.pos++
				return false, s.syntax("not an escape sequence")
			}
			escaped = true
			s.pos += n
		default:
			if s.pos == len(src) {
				return false, s.syntax("string without an end")
			}
			return false, s.syntax("control character in a string")
		}
	}
}

// MemberNamed returns the first of names that a member anywhere in d has, or "".
func (d *Document) MemberNamed(names ...string) string {
	if !strings.Contains(d.str, "$") && !strings.Contains(d.str, `\u`) {
		return "" // all names that are asked for have a $
	}
	for at := range d.nodes {
		for name := range (Value{d, int32(at)}).Members() {
			if slices.Contains(names, name) {
				return name
			}
		}
	}
	return ""
}
