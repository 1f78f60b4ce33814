package jsontext

import (
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// A Reader reads one JSON text once, as it comes, in memory that does not grow with it. It leaves
// lone surrogates where they are escaped and repeated names to its caller. All errors are of
// type [*Error], also where the text cannot be read further: see [Reader.Err].
type Reader struct {
	scanner
	depth int // arrays and objects that are open

	// The pieces of the string being read that were not handed over yet:
	chars     []byte
	canonical []byte
	visit     Visitor
}

// A Visitor is handed a string a piece at a time, in UTF-8 and in canonical form without quotes. A lone surrogate is
// U+FFFD in the first, as in JavaScript, and is escaped in the second. The last call is for the end of the string.
type Visitor func(chars, canonical []byte)

const (
	windowSize = 64 << 10
	charsSize  = 32 << 10 // characters are handed over when there are as many
	nameSize   = 256      // bytes of a name that are handed over at most
)

// NewReader returns a reader of the text that r has.
func NewReader(r io.Reader) *Reader {
	return &Reader{scanner: scanner{r: r, buffer: make([]byte, windowSize)}}
}

// Err returns why the text could not be read to its end, if that is the cause of an error.
func (r *Reader) Err() error {
	if errors.Is(r.stop, io.EOF) {
		return nil
	}
	return r.stop
}

// Offset returns how many bytes of the text are read.
func (r *Reader) Offset() int64 { return r.offset() }

// Peek returns the first byte of the next value, 0 at the end of the text.
func (r *Reader) Peek() byte { return r.peek() }

// End reads white space, after which the text must end.
func (r *Reader) End() error { return r.end() }

// Object reads an object. It calls member with each name, of which it may get the first bytes
// only, to read the value.
func (r *Reader) Object(member func(name []byte) error) error {
	var name []byte
	keep := func(chars, _ []byte) { name = append(name, chars[:min(len(chars), nameSize)]...) }
	return r.nested('}', "',' or '}'", func() error {
		name = name[:0]
		if r.peek() != '"' {
			return r.unexpected("a member name")
		}
		if err := r.String(keep); err != nil {
			return err
		}
		if r.peek() != ':' {
			return r.unexpected("':'")
		}
		r.pos++
		if err := member(name); err != nil {
			return Within(string(name), err)
		}
		return nil
	})
}

// Array reads an array. It calls element at each element, to read it.
func (r *Reader) Array(element func(n int) error) error {
	n := -1
	return r.nested(']', "',' or ']'", func() error {
		n++
		if err := element(n); err != nil {
			return Within(strconv.Itoa(n), err)
		}
		return nil
	})
}

// nested reads an array or object up to its closing brace; item reads one item of it.
func (r *Reader) nested(closing byte, wanted string, item func() error) error {
	r.peek()
	if r.depth == MaxDepth {
		return r.fail(ErrDepth, "more than %d levels", MaxDepth)
	}
	r.depth++
	r.pos++
	defer func() { r.depth-- }()
	if r.peek() == closing {
		r.pos++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.pos++
		case closing:
			r.pos++
			return nil
		default:
			return r.unexpected(wanted)
		}
	}
}

// String reads a string.
func (r *Reader) String(visit Visitor) error {
	r.peek()
	r.chars, r.canonical, r.visit = r.chars[:0], r.canonical[:0], visit
	_, err := r.text(r)
	if err == nil {
		visit(r.chars, r.canonical)
	}
	return err
}

func (r *Reader) run(chars []byte) {
	r.chars = append(r.chars, chars...)
	r.canonical = append(r.canonical, chars...)
	if len(r.chars) >= charsSize {
		r.visit(r.chars, r.canonical)
		r.chars, r.canonical = r.chars[:0], r.canonical[:0]
	}
}

func (r *Reader) escaped(c rune) {
	r.chars = utf8.AppendRune(r.chars, c)
	r.canonical = AppendRune(r.canonical, c)
}

// Skip reads a value of any kind.
func (r *Reader) Skip() error {
	switch c := r.peek(); c {
	case '{':
		return r.Object(func([]byte) error { return r.Skip() })
	case '[':
		return r.Array(func(int) error { return r.Skip() })
	case '"':
		_, err := r.text(nil)
		return err
	default:
		_, err := r.scalar(c)
		return err
	}
}

// Raw reads a value of any kind and appends its text to dst, up to most bytes and to the reader's room. cut reports
// whether there were more.
func (r *Reader) Raw(dst []byte, most int) (text []byte, cut bool, err error) {
	r.peek() // past white space
	start := r.offset()
	text = append(dst, r.ahead(most)...)
	if err := r.Skip(); err != nil {
		return nil, false, err
	}
	length := r.offset() - start
	return text[:min(int64(len(text)), int64(len(dst))+length)], length > int64(most), nil
}
