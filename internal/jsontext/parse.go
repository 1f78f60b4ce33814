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

// MaxDepth is how many arrays and objects may be nested in each other (design R1).
const MaxDepth = 1000

// A Document is a JSON text that has been scanned once, so that its values can be visited
// without looking at their bytes again.
type Document struct {
	src   []byte
	str   string // src itself, so that what it says needs no memory of its own
	nodes []node // in the order of the text; an object's members are a name and a value each
}

// A node is one value, or the name of a member.
type node struct {
	start, end int32 // its bytes
	next       int32 // the first node after it and all that it holds
	escaped    bool  // a string with a backslash
	kind       NumberKind
}

// Parse scans src, which must be one JSON value in valid UTF-8 without repeated member names and
// with a name of whole characters for each. Lone surrogates elsewhere and numbers of any size are
// left to those who read the values. An error is an [*Error].
//
// The document keeps src. All that is read of it keeps src too: src must not change any more.
func Parse(src []byte) (*Document, error) { return parse(src, keep) }

// ParseStrict is Parse for a text in which no string may hold a lone surrogate (RFC 7493 section 2.1).
func ParseStrict(src []byte) (*Document, error) { return parse(src, refuse) }

// ParseLenient is Parse for any text that RFC 8259 allows. Names may be repeated, and hold lone surrogates, as in
// JavaScript.
func ParseLenient(src []byte) (*Document, error) { return parse(src, allow) }

// A policy says what becomes of what JSON allows and Go strings and objects cannot hold.
type policy uint8

const (
	keep   policy = iota // lone surrogates stay as they are spelled, except in names
	refuse               // lone surrogates are an error
	allow                // lone surrogates and repeated names stay
)

// ParseReplacing is Parse for a text that is never encoded again. Lone surrogates become U+FFFD, as in every SDK: a
// model may stop at half of an emoji.
func ParseReplacing(src []byte) (*Document, error) {
	if at := bytes.IndexByte(src, '\\'); at >= 0 && (bytes.Contains(src[at:], []byte(`\ud`)) || bytes.Contains(src[at:], []byte(`\uD`))) {
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
	p := parser{Scanner{window: src, policy: of}, &Document{src: src, str: unsafe.String(unsafe.SliceData(src), len(src))}}
	values, names := bytes.Count(src, []byte(",")), bytes.Count(src, []byte(":")) // or a few more, in strings
	// An object or a list has a node of its own, and about as many have a name.
	p.doc.nodes = make([]node, 0, 16+values+2*names)
	err := p.value(0)
	if err == nil {
		err = p.End()
	}
	if err != nil {
		return nil, err
	}
	return p.doc, nil
}

// A parser notes the values of a text as it scans it.
type parser struct {
	Scanner
	doc *Document
}

func (p *parser) value(depth int) error {
	c := p.Peek()
	at := len(p.doc.nodes)
	if '0' <= c && c <= '9' || c == '-' { // the shortest way, for embeddings
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
			return p.Fail(ErrDepth, "more than %d levels", MaxDepth)
		}
		p.pos++
		if c == '{' {
			err = p.object(at, depth+1)
		} else {
			err = p.array(depth + 1)
		}
	case '"':
		p.doc.nodes[at].escaped, err = p.Text(nil)
	default:
		_, err = p.Scalar(c)
	}
	p.doc.nodes[at].end, p.doc.nodes[at].next = int32(p.pos), int32(len(p.doc.nodes))
	return err
}

func (p *parser) object(at, depth int) error {
	if p.Peek() == '}' {
		p.pos++
		return nil
	}
	sorted := true // so far; then no name is repeated
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
		switch p.Peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			if sorted || p.policy == allow {
				return nil
			}
			return p.unique(at, n)
		default:
			return p.Unexpected("',' or '}'")
		}
	}
}

// name reads the name of a member, and the colon after it.
func (p *parser) name() (string, error) {
	if p.Peek() != '"' {
		return "", p.Unexpected("a member name")
	}
	at := int32(len(p.doc.nodes))
	n := node{start: int32(p.pos), next: at + 1}
	var err error
	if n.escaped, err = p.Text(nil); err != nil {
		return "", err
	}
	n.end = int32(p.pos)
	p.doc.nodes = append(p.doc.nodes, n)
	name, whole := (Value{p.doc, at}).Text()
	if !whole && p.policy != allow {
		p.pos = int(n.start)
		return "", p.Fail(ErrEncoding, "member name with a lone surrogate")
	}
	if p.Peek() != ':' {
		return "", p.Unexpected("':'")
	}
	p.pos++
	return name, nil
}

// unique fails if two of the n members of the object at hand have one name: readers disagree
// on which of them counts.
func (p *parser) unique(at, n int) error {
	const few = 12 // up to here comparing each with each is faster than a map
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
	if p.Peek() == ']' {
		p.pos++
		return nil
	}
	for i := 0; ; i++ {
		if err := p.value(depth); err != nil {
			return Within(strconv.Itoa(i), err)
		}
		switch p.Peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return nil
		default:
			return p.Unexpected("',' or ']'")
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
