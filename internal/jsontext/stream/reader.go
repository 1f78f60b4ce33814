// Package stream reads a JSON text from an io.Reader, in memory that does not grow with the text.
package stream

import (
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Reader reads one JSON text once. It passes escaped lone surrogates and repeated names on to its caller. All errors
// are of type [*jsontext.Error], even if the text cannot be read further: see [jsontext.Scanner.Err].
type Reader struct {
	jsontext.Scanner
	depth int // number of open arrays and objects

	// Pieces of the current string that the visitor has not received yet:
	chars     []byte
	canonical []byte
	visit     Visitor
}

// A Visitor receives a string piece by piece, in UTF-8 and in canonical form without quotes. A lone surrogate is U+FFFD
// in the first, as in JavaScript, and escaped in the second. The last call is for the end of the string.
type Visitor func(chars, canonical []byte)

const (
	charsSize = 32 << 10 // characters are passed on when there are this many
	nameSize  = 256      // maximum bytes of a name that are passed on
)

// NewReader returns a reader of the text from r.
func NewReader(r io.Reader) *Reader {
	return &Reader{Scanner: jsontext.NewScanner(r)}
}

// Object reads an object. It calls member with each name, which may be truncated, to read the value.
func (r *Reader) Object(member func(name []byte) error) error {
	var name []byte
	keep := func(chars, _ []byte) { name = append(name, chars[:min(len(chars), nameSize)]...) }
	return r.nested('}', "',' or '}'", func() error {
		name = name[:0]
		if r.Peek() != '"' {
			return r.Unexpected("a member name")
		}
		if err := r.String(keep); err != nil {
			return err
		}
		if r.Peek() != ':' {
			return r.Unexpected("':'")
		}
		r.Pass()
		if err := member(name); err != nil {
			return jsontext.Within(string(name), err)
		}
		return nil
	})
}

// Array reads an array. It calls element to read each element.
func (r *Reader) Array(element func(n int) error) error {
	n := -1
	return r.nested(']', "',' or ']'", func() error {
		n++
		if err := element(n); err != nil {
			return jsontext.Within(strconv.Itoa(n), err)
		}
		return nil
	})
}

// nested reads an array or object up to its closing bracket; item reads one item of it.
func (r *Reader) nested(closing byte, wanted string, item func() error) error {
	r.Peek()
	if r.depth == jsontext.MaxDepth {
		return r.Fail(jsontext.ErrDepth, "more than %d levels", jsontext.MaxDepth)
	}
	r.depth++
	r.Pass()
	defer func() { r.depth-- }()
	if r.Peek() == closing {
		r.Pass()
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch r.Peek() {
		case ',':
			r.Pass()
		case closing:
			r.Pass()
			return nil
		default:
			return r.Unexpected(wanted)
		}
	}
}

// String reads a string.
func (r *Reader) String(visit Visitor) error {
	r.Peek()
	r.chars, r.canonical, r.visit = r.chars[:0], r.canonical[:0], visit
	_, err := r.Text(r)
	if err == nil {
		visit(r.chars, r.canonical)
	}
	return err
}

// Run implements [jsontext.Characters].
func (r *Reader) Run(chars []byte) {
	r.chars = append(r.chars, chars...)
	r.canonical = append(r.canonical, chars...)
	if len(r.chars) >= charsSize {
		r.visit(r.chars, r.canonical)
		r.chars, r.canonical = r.chars[:0], r.canonical[:0]
	}
}

// Escaped implements [jsontext.Characters].
func (r *Reader) Escaped(c rune) {
	r.chars = utf8.AppendRune(r.chars, c)
	r.canonical = jsontext.AppendRune(r.canonical, c)
}

// Skip reads a value of any kind and ignores it.
func (r *Reader) Skip() error {
	switch c := r.Peek(); c {
	case '{':
		return r.Object(func([]byte) error { return r.Skip() })
	case '[':
		return r.Array(func(int) error { return r.Skip() })
	case '"':
		_, err := r.Text(nil)
		return err
	default:
		_, err := r.Scalar(c)
		return err
	}
}

// Raw reads a value of any kind and appends its text to dst, limited to most bytes and the reader's room. cut reports
// whether the text was longer.
func (r *Reader) Raw(dst []byte, most int) (text []byte, cut bool, err error) {
	r.Peek() // skips white space
	start := r.Offset()
	text = append(dst, r.Ahead(most)...)
	if err := r.Skip(); err != nil {
		return nil, false, err
	}
	length := r.Offset() - start
	return text[:min(int64(len(text)), int64(len(dst))+length)], length > int64(most), nil
}
