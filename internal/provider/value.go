package provider

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/traceforge/traceforge-go/internal/jsonstring"
	"github.com/traceforge/traceforge-go/modelio"
)

// A value is one value of a document. The zero value is an absent one: it is of no kind and
// holds nothing.
type value struct {
	doc *document
	at  int32
}

// root returns the document's outermost value.
func (d *document) root() value { return value{doc: d} }

// name returns the name that the node at i spells.
func (d *document) name(i int32) string {
	name, _ := value{d, i}.text() // the scanner has seen that it is whole
	return name
}

// first returns the byte that v begins with, which tells its kind; 0 for an absent value.
func (v value) first() byte {
	if v.doc == nil {
		return 0
	}
	return v.doc.src[v.doc.nodes[v.at].start]
}

func (v value) present() bool  { return v.doc != nil }
func (v value) isObject() bool { return v.first() == '{' }
func (v value) isArray() bool  { return v.first() == '[' }
func (v value) isString() bool { return v.first() == '"' }
func (v value) isNull() bool   { return v.first() == 'n' }

// raw returns the bytes of v, which stay those of the text; nil for an absent value.
func (v value) raw() json.RawMessage {
	if v.doc == nil {
		return nil
	}
	n := v.doc.nodes[v.at]
	return v.doc.src[n.start:n.end:n.end]
}

// text returns the characters of a string. It reports false for any other value, and for a
// string with a lone surrogate, which no Go string can hold.
func (v value) text() (string, bool) {
	if v.first() != '"' {
		return "", false
	}
	n := v.doc.nodes[v.at]
	inner := v.doc.str[n.start+1 : n.end-1]
	if !n.escaped {
		return inner, true
	}
	return unescape(inner)
}

// word returns the characters of v if it is a string that is not empty, else "".
func (v value) word() string {
	if s, ok := v.text(); ok {
		return s
	}
	return ""
}

// isWord reports whether v is a string that is not empty, and so can be told from an absent
// one where it is kept in a Go string.
func (v value) isWord() bool { return v.word() != "" }

// number returns the text of a number.
func (v value) number() (*Number, bool) {
	if c := v.first(); c != '-' && (c < '0' || c > '9') {
		return nil, false
	}
	n := v.doc.nodes[v.at]
	number := Number(v.doc.str[n.start:n.end])
	return &number, true
}

// count returns an integer that is spelled as one.
func (v value) count() (*int64, bool) {
	number, ok := v.number()
	if !ok {
		return nil, false
	}
	n, err := strconv.ParseInt(string(*number), 10, 64)
	return &n, err == nil
}

// isEmpty reports whether v holds no elements or members.
func (v value) isEmpty() bool { return v.doc == nil || v.doc.nodes[v.at].next == v.at+1 }

// length returns how many elements or members v has.
func (v value) length() int {
	n := 0
	switch v.first() {
	case '[':
		for range v.elements() {
			n++
		}
	case '{':
		for range v.members() {
			n++
		}
	}
	return n
}

// elements visits the elements of an array; any other value has none.
func (v value) elements() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		if !v.isArray() {
			return
		}
		end := v.doc.nodes[v.at].next
		for i, n := v.at+1, 0; i < end; i, n = v.doc.nodes[i].next, n+1 {
			if !yield(n, value{v.doc, i}) {
				return
			}
		}
	}
}

// members visits the members of an object in the order of the text; any other value has none.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if !v.isObject() {
			return
		}
		end := v.doc.nodes[v.at].next
		for i := v.at + 1; i < end; i = v.doc.nodes[i+1].next {
			if !yield(v.doc.name(i), value{v.doc, i + 1}) {
				return
			}
		}
	}
}

// member returns the member at the end of a path of names; absent where a step is missing.
func (v value) member(path ...string) value {
	for _, name := range path {
		var found value
		for n, m := range v.members() {
			if n == name {
				found = m
				break
			}
		}
		v = found
	}
	return v
}

// object returns the members of v, verbatim.
func (v value) object() modelio.Object {
	o := modelio.Object{}
	for name, m := range v.members() {
		o[name] = m.raw()
	}
	return o
}

// rest returns the members of v, verbatim, without those named; nil if there are no others.
func (v value) rest(without ...string) modelio.Object {
	var o modelio.Object
	for name, m := range v.members() {
		if !slices.Contains(without, name) {
			keep(&o, name, m.raw())
		}
	}
	return o
}

// elementOf returns the first element of an array.
func elementOf(v value) value {
	for _, e := range v.elements() {
		return e
	}
	return value{}
}

// texts returns the strings of an array that holds nothing else.
func (v value) texts() ([]string, bool) {
	if !v.isArray() {
		return nil, false
	}
	all := []string{}
	for _, e := range v.elements() {
		s, ok := e.text()
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
}

// unescape returns the characters that the inside of a string stands for. It reports false if
// there is a lone surrogate, which then stays as escaped.
func unescape(inner string) (string, bool) {
	const longest = len(`\ud83d\ude00`)
	var b strings.Builder
	b.Grow(len(inner))
	whole := true
	for {
		i := strings.IndexByte(inner, '\\')
		if i < 0 {
			b.WriteString(inner)
			return b.String(), whole
		}
		b.WriteString(inner[:i])
		inner = inner[i:]
		r, n := jsonstring.Decode([]byte(inner[:min(len(inner), longest)]))
		if utf16.IsSurrogate(r) {
			whole = false
			b.WriteString(strings.ToLower(inner[:n]))
		} else {
			b.WriteRune(r)
		}
		inner = inner[n:]
	}
}
