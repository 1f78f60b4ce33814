package canon

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A numberPolicy says what to do with numbers that do not fit a float64.
type numberPolicy uint8

const (
	rejectNumbers  numberPolicy = iota // they are an error
	keepNumbers                        // write them as kept numbers
	restoreNumbers                     // they are an error, but kept numbers become such
)

// canonicalize returns the canonical form of src, numbers aside that do not fit. An error is
// an *Error.
func canonicalize(src []byte, policy numberPolicy) ([]byte, error) {
	r := rewriter{src: src, policy: policy, dst: make([]byte, 0, len(src))}
	if err := r.text(); err != nil {
		return nil, &Error{Offset: int64(r.pos), Pointer: pointer(r.path), Err: err}
	}
	return r.arranged(), nil
}

// A rewriter reads one text and writes its canonical form. While it reads, it writes every
// value to dst in canonical form but in the order of src, and notes which objects need another
// order; arranged then copies dst in that order. So no byte is copied more than twice,
// however deep the objects are nested.
type rewriter struct {
	src    []byte
	pos    int // what is read of src; after an error, the offending place
	policy numberPolicy
	path   []string // after an error, the tokens of its pointer, innermost first

	dst   []byte
	open  []member // of the objects being read, innermost last
	moves []move   // objects to write otherwise than they are in dst
	spans []span   // their members
}

// A member is one member of an object being read.
type member struct {
	name []byte // unescaped
	at   int    // offset of the name in src
	span span
}

// A span is the range of one member in dst, from the quote of its name to the end of its value.
type span struct{ start, end int }

// A move is an object whose members are written otherwise than they are in dst.
type move struct {
	span        span // the object in dst, with its braces
	first, last int  // its members, in order, are rewriter.spans[first:last]
	dollar      int  // 1: add a $ before the name of the only member; -1: leave one out
}

func (r *rewriter) text() error {
	if err := r.value(0); err != nil {
		return err
	}
	if r.skipSpace(); r.pos < len(r.src) {
		return r.unexpected("the end")
	}
	return nil
}

func (r *rewriter) skipSpace() {
	for r.pos < len(r.src) {
		switch r.src[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space, or 0 at the end.
func (r *rewriter) peek() byte {
	r.skipSpace()
	if r.pos == len(r.src) {
		return 0
	}
	return r.src[r.pos]
}

func (r *rewriter) unexpected(want string) error {
	if r.pos == len(r.src) {
		return fmt.Errorf("%w: unexpected end, want %s", ErrSyntax, want)
	}
	return fmt.Errorf("%w: unexpected %q, want %s", ErrSyntax, r.src[r.pos:r.pos+1], want)
}

// value rewrites the next value, which is nested in depth arrays and objects.
func (r *rewriter) value(depth int) error {
	switch c := r.peek(); c {
	case '"':
		return r.string()
	case '{', '[':
		if depth == MaxDepth {
			return fmt.Errorf("%w: more than %d levels", ErrDepth, MaxDepth)
		}
		if c == '{' {
			return r.object(depth + 1)
		}
		return r.array(depth + 1)
	case 't', 'f', 'n':
		end := literalEnd(r.src, r.pos)
		if end < 0 {
			return r.unexpected("a value")
		}
		r.dst = append(r.dst, r.src[r.pos:end]...)
		r.pos = end
		return nil
	}
	return r.number(depth)
}

func (r *rewriter) array(depth int) error {
	r.pos++
	r.dst = append(r.dst, '[')
	if r.peek() == ']' {
		r.pos++
		r.dst = append(r.dst, ']')
		return nil
	}
	for n := 0; ; n++ {
		if err := r.value(depth); err != nil {
			r.path = append(r.path, strconv.Itoa(n))
			return err
		}
		c := r.peek()
		if c != ',' && c != ']' {
			return r.unexpected("',' or ']'")
		}
		r.pos++
		r.dst = append(r.dst, c)
		if c == ']' {
			return nil
		}
	}
}

func (r *rewriter) object(depth int) error {
	first, start := len(r.open), len(r.dst)
	r.pos++
	r.dst = append(r.dst, '{')
	if r.peek() == '}' {
		r.pos++
		r.dst = append(r.dst, '}')
		return nil
	}
	for {
		if r.peek() != '"' {
			return r.unexpected("a member name")
		}
		m := member{at: r.pos, span: span{start: len(r.dst)}}
		if err := r.string(); err != nil {
			return err
		}
		m.name = unescape(r.dst[m.span.start+1 : len(r.dst)-1])
		if r.peek() != ':' {
			return r.unexpected("':'")
		}
		r.pos++
		r.dst = append(r.dst, ':')
		if err := r.value(depth); err != nil {
			r.path = append(r.path, string(m.name))
			return err
		}
		m.span.end = len(r.dst)
		r.open = append(r.open, m)

		c := r.peek()
		if c != ',' && c != '}' {
			return r.unexpected("',' or '}'")
		}
		r.pos++
		r.dst = append(r.dst, c)
		if c == '}' {
			err := r.closeObject(start, r.open[first:])
			r.open = r.open[:first]
			return err
		}
	}
}

// closeObject notes how to write the object that starts at dst[start] and is complete.
func (r *rewriter) closeObject(start int, members []member) error {
	if len(members) == 1 && r.policy != rejectNumbers {
		return r.closeSingle(start, members[0])
	}
	byName := func(a, b member) int { return compareNames(a.name, b.name) }
	sorted := slices.IsSortedFunc(members, byName)
	if !sorted {
		slices.SortStableFunc(members, byName)
	}
	for i := 1; i < len(members); i++ {
		if byName(members[i-1], members[i]) == 0 {
			r.pos = members[i].at
			r.path = append(r.path, string(members[i].name))
			return fmt.Errorf("%w %q", ErrDuplicate, excerpt(string(members[i].name)))
		}
	}
	if !sorted {
		r.move(start, members, 0)
	}
	return nil
}

func (r *rewriter) move(start int, members []member, dollar int) {
	m := move{span: span{start, len(r.dst)}, first: len(r.spans), dollar: dollar}
	for _, member := range members {
		r.spans = append(r.spans, member.span)
	}
	m.last = len(r.spans)
	r.moves = append(r.moves, m)
}

// string rewrites the string at r.pos, a quote.
func (r *rewriter) string() error {
	r.dst = append(r.dst, '"')
	for i := r.pos + 1; ; {
		n, ascii := jsontext.Plain(r.src[i:])
		stop := i + n
		if !ascii {
			if bad := jsontext.InvalidUTF8(r.src[i:stop]); bad >= 0 {
				r.pos = i + bad
				return fmt.Errorf("%w: byte %#02x is not UTF-8 here", ErrEncoding, r.src[r.pos])
			}
		}
		r.dst = append(r.dst, r.src[i:stop]...)
		r.pos = stop
		if stop == len(r.src) {
			return r.unexpected("the end of the string")
		}
		switch r.src[stop] {
		case '"':
			r.pos++
			r.dst = append(r.dst, '"')
			return nil
		case '\\':
			c, n, err := scanEscape(r.src, stop)
			if err != nil {
				return err
			}
			r.dst = jsontext.AppendRune(r.dst, c)
			i = stop + n
		default:
			return r.unexpected("an escape for a control character")
		}
	}
}

// number rewrites the number at r.pos, which is nested in depth arrays and objects.
func (r *rewriter) number(depth int) error {
	end, kind := scanNumber(r.src, r.pos)
	if kind == notNumber {
		if end == r.pos {
			return r.unexpected("a value")
		}
		r.pos = end
		return r.unexpected("a number as JSON spells it")
	}
	text := r.src[r.pos:end]
	dst, err := appendNumber(r.dst, text, kind)
	if err != nil {
		if r.policy != keepNumbers {
			return err
		}
		if depth == MaxDepth {
			return fmt.Errorf("%w: no level left to keep the number in an object", ErrDepth)
		}
		dst = appendKept(r.dst, text)
	}
	r.dst = dst
	r.pos = end
	return nil
}

// arranged returns dst with the members of every object in order.
func (r *rewriter) arranged() []byte {
	if len(r.moves) == 0 {
		return r.dst
	}
	slices.SortFunc(r.moves, func(a, b move) int { return cmp.Compare(a.span.start, b.span.start) })
	return r.appendArranged(make([]byte, 0, len(r.dst)), span{0, len(r.dst)})
}

// appendArranged appends the part of r.dst that s spans, with the members of every object
// in it in order.
func (r *rewriter) appendArranged(out []byte, s span) []byte {
	for s.start < s.end {
		next, _ := slices.BinarySearchFunc(r.moves, s.start, func(m move, start int) int {
			return cmp.Compare(m.span.start, start)
		})
		if next == len(r.moves) || r.moves[next].span.start >= s.end {
			break
		}
		m := r.moves[next]
		out = append(out, r.dst[s.start:m.span.start]...)
		out = append(out, '{')
		for i, member := range r.spans[m.first:m.last] {
			if i > 0 {
				out = append(out, ',')
			}
			out = r.appendMember(out, member, m.dollar)
		}
		out = append(out, '}')
		s.start = m.span.end
	}
	return append(out, r.dst[s.start:s.end]...)
}
