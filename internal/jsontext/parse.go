package jsontext

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unsafe"
)

// MaxDepth is how deeply arrays and objects may be nested (design R1).
const MaxDepth = 1000

// A Document is a JSON text that was scanned once, so that its values can be visited without reading its bytes again.
type Document struct {
	src   []byte
	str   string // src itself as a string, so that names and texts need no memory of their own
	nodes []node // in the order of the text; each member of an object is a name and a value
}

// A node is one value, or the name of a member.
type node struct {
	start, end int32 // bounds of its bytes
	next       int32 // the first node after it and everything in it
	escaped    bool  // a string with a backslash
	kind       NumberKind
}

// Parse scans src, which must be one JSON value in valid UTF-8 without repeated member names and without lone
// surrogates in names. Lone surrogates elsewhere, and numbers of any size, are left to the readers of the values. The
// error is an [*Error].
//
// The document and everything that is read from it refer to src, which must not be changed any more.
func Parse(src []byte) (*Document, error) { return parse(src, keep) }

// ParseStrict is Parse for a text in which no string may contain a lone surrogate (RFC 7493 section 2.1).
func ParseStrict(src []byte) (*Document, error) { return parse(src, refuse) }

// ParseLenient is Parse for any text that RFC 8259 allows. Names may be repeated and may contain lone surrogates, as in
// JavaScript.
func ParseLenient(src []byte) (*Document, error) { return parse(src, allow) }

// A policy says how to handle what JSON allows but Go strings and maps cannot represent.
type policy uint8

const (
	keep   policy = iota // lone surrogates keep their spelling, except in names
	refuse               // lone surrogates are an error
	allow                // lone surrogates and repeated names are allowed
)

// ParseReplacing is Parse for a text that is never encoded again. Lone surrogates become U+FFFD, as in every SDK: a
// model may stop in the middle of an emoji.
func ParseReplacing(src []byte) (*Document, error) {
	if at := bytes.IndexByte(src, '\\'); at >= 0 &&
		(bytes.Contains(src[at:], []byte(`\ud`)) || bytes.Contains(src[at:], []byte(`\uD`))) {
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

func parse(src []byte, of policy) (*Document, error) {
	if len(src) > 1<<31-1 {
		return nil, &Error{Err: fmt.Errorf("%d bytes of JSON are more than 2 GiB", len(src))}
	}
	p := parser{scanner{src: src, policy: of}, &Document{src: src, str: unsafe.String(unsafe.SliceData(src), len(src))}}
	// an upper bound, since strings may contain them too
	values, names := bytes.Count(src, []byte(",")), bytes.Count(src, []byte(":"))
	// Objects and lists need a node of their own, but about as many values have no name.
	p.doc.nodes = make([]node, 0, 16+values+2*names)
	err := p.value(0)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return nil, err
	}
	return p.doc, nil
}

// A parser notes the values of a text as it scans it.
type parser struct {
	scanner
	doc *Document
}

func (p *parser) value(depth int) error {
	c := p.peek()
	at := len(p.doc.nodes)
	if '0' <= c && c <= '9' || c == '-' { // the fast path, for embeddings
		start := p.pos
		kind, err := p.number()
		p.doc.nodes = append(p.doc.nodes, node{int32(start), int32(p.pos), int32(at + 1), false, kind})
		return err
	}
	p.doc.nodes = append(p.doc.nodes, node{start: int32(p.pos)})
	var err error
	switch c {
	case '{', '[':
		if depth == MaxDepth {
			return p.fail(ErrDepth, "more than %d levels", MaxDepth)
		}
		p.pos++
		if c == '{' {
			err = p.object(at, depth+1)
		} else {
			err = p.array(depth + 1)
		}
	case '"':
		p.doc.nodes[at].escaped, err = p.text()
	default:
		err = p.literal(c)
	}
	p.doc.nodes[at].end, p.doc.nodes[at].next = int32(p.pos), int32(len(p.doc.nodes))
	return err
}

func (p *parser) object(at, depth int) error {
	if p.peek() == '}' {
		p.pos++
		return nil
	}
	sorted := true // the names so far are in order, so none is repeated
	for n, last := 1, ""; ; n++ {
		name, err := p.name()
		if err != nil {
			return err
		}
		sorted = sorted && (n == 1 || last < name)
		last = name
		if err := p.value(depth); err != nil {
			return Within(name, err)
		}
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			if sorted || p.policy == allow {
				return nil
			}
			return p.unique(at, n)
		default:
			return p.unexpected("',' or '}'")
		}
	}
}

// name reads the name of a member, and the colon after it.
func (p *parser) name() (string, error) {
	if p.peek() != '"' {
		return "", p.unexpected("a member name")
	}
	at := int32(len(p.doc.nodes))
	n := node{start: int32(p.pos), next: at + 1}
	var err error
	if n.escaped, err = p.text(); err != nil {
		return "", err
	}
	n.end = int32(p.pos)
	p.doc.nodes = append(p.doc.nodes, n)
	name, whole := (Value{p.doc, at}).Text()
	if !whole && p.policy != allow {
		p.pos = int(n.start)
		return "", p.fail(ErrEncoding, "member name with a lone surrogate")
	}
	if p.peek() != ':' {
		return "", p.unexpected("':'")
	}
	p.pos++
	return name, nil
}

// unique fails if two of the last n members have the same name, because readers disagree on which one counts.
func (p *parser) unique(at, n int) error {
	const few = 12 // up to this number, comparing all pairs is faster than a map
	var seen map[string]bool
	if n > few {
		seen = make(map[string]bool, n)
	}
	end := int32(len(p.doc.nodes))
	for i := int32(at) + 1; i < end; i = p.doc.nodes[i+1].next {
		name := p.doc.name(i)
		repeated := seen[name]
		if seen != nil {
			seen[name] = true
		} else {
			for j := int32(at) + 1; j < i && !repeated; j = p.doc.nodes[j+1].next {
				repeated = p.doc.name(j) == name
			}
		}
		if repeated {
			p.pos = int(p.doc.nodes[i].start)
			return Within(name, p.failed(fmt.Errorf("%w %+q", ErrDuplicate, Excerpt(name))))
		}
	}
	return nil
}

func (p *parser) array(depth int) error {
	if p.peek() == ']' {
		p.pos++
		return nil
	}
	for i := 0; ; i++ {
		if err := p.value(depth); err != nil {
			return Within(strconv.Itoa(i), err)
		}
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return nil
		default:
			return p.unexpected("',' or ']'")
		}
	}
}

// MemberNamed returns the first of names that occurs as a member's name anywhere in d, or "".
func (d *Document) MemberNamed(names ...string) string {
	if !strings.Contains(d.str, "$") && !strings.Contains(d.str, `\u`) {
		return "" // all names in question contain a $
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
