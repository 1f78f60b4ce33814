package jsontext

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Codecs call the methods of values in very many places. Not inlining them saves a seventh of the time to compile the
// codecs. The two loops are inlined, because they would allocate otherwise.

// A Value is one value of a document. The zero value is absent: it has no kind and is empty.
type Value struct {
	doc *Document
	at  int32
}

// Root returns the document's outermost value.
func (d *Document) Root() Value { return Value{doc: d} }

// name returns the member name in the node at i.
//
//go:noinline
func (d *Document) name(i int32) string {
	name, _ := Value{d, i}.Text() // the parser has checked that it is a text
	return name
}

// first returns the first byte of v, which determines its kind; 0 for an absent value.
//
//go:noinline
func (v Value) first() byte {
	if v.doc == nil {
		return 0
	}
	return v.doc.src[v.doc.nodes[v.at].start]
}

func (v Value) Present() bool  { return v.doc != nil }
func (v Value) IsObject() bool { return v.first() == '{' }
func (v Value) IsArray() bool  { return v.first() == '[' }
func (v Value) IsString() bool { return v.first() == '"' }
func (v Value) IsNull() bool   { return v.first() == 'n' }

// kinds are the kinds of values except numbers, by the first byte of a value.
var kinds = [256]string{
	0: "absent", '{': "an object", '[': "a list", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null",
}

// Kind returns the kind of v, for messages.
func (v Value) Kind() string { return cmp.Or(kinds[v.first()], "a number") }

// Offset returns the number of bytes before v in the text. v must be present.
func (v Value) Offset() int64 { return int64(v.doc.nodes[v.at].start) }

// NumberKind returns the kind of a number; NotNumber for any other value.
func (v Value) NumberKind() NumberKind {
	if v.doc == nil {
		return NotNumber
	}
	return v.doc.nodes[v.at].kind
}

// Raw returns the bytes of v, which are part of the text; nil for an absent value.
//
//go:noinline
func (v Value) Raw() json.RawMessage {
	if v.doc == nil {
		return nil
	}
	n := v.doc.nodes[v.at]
	return v.doc.src[n.start:n.end:n.end]
}

// Text returns the characters of a string. It reports false for any other value, and for a string with a lone
// surrogate, which no Go string can contain.
func (v Value) Text() (string, bool) {
	if v.first() != '"' {
		return "", false
	}
	n := v.doc.nodes[v.at]
	inner := v.doc.str[n.start+1 : n.end-1]
	if !n.escaped {
		return inner, true
	}
	return Unescaped(inner)
}

// Escaped reports whether a string contains escapes. A string without escapes is in canonical form.
func (v Value) Escaped() bool { return v.doc != nil && v.doc.nodes[v.at].escaped }

// Word returns the characters of v if it is a non-empty string, and "" otherwise.
//
//go:noinline
func (v Value) Word() string {
	if s, ok := v.Text(); ok {
		return s
	}
	return ""
}

// WordOf returns the characters of a JSON text that is a string, and "" otherwise.
func WordOf(raw json.RawMessage) string { return ValueOf(raw).Word() }

// ValueOf returns the value of a JSON text. The value of any other text is absent.
func ValueOf(text []byte) Value {
	if text == nil {
		return Value{} // of an absent member, without the cost of an error
	}
	doc, _ := Parse(text)
	return doc.Root()
}

// IsWord reports whether v is a non-empty string, which a Go string can distinguish from an absent value.
func (v Value) IsWord() bool { return v.Word() != "" }

// Number returns the text of a number.
func (v Value) Number() (*json.Number, bool) {
	if c := v.first(); c != '-' && (c < '0' || c > '9') {
		return nil, false
	}
	n := v.doc.nodes[v.at]
	number := json.Number(v.doc.str[n.start:n.end])
	return &number, true
}

// Count returns an integer that is spelled as one, or nil.
//
//go:noinline
func (v Value) Count() (*int64, bool) {
	if n, ok := v.Integer(); ok {
		count := n // so that n itself is not allocated for every value
		return &count, true
	}
	return nil, false
}

// Integer is [Value.Count] without an allocation.
func (v Value) Integer() (int64, bool) {
	if v.NumberKind() == NotNumber {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	return n, err == nil
}

// IsEmpty reports whether v has no elements or members.
func (v Value) IsEmpty() bool { return v.doc == nil || v.doc.nodes[v.at].next == v.at+1 }

// Len returns the number of elements or members of v.
func (v Value) Len() int {
	n := 0
	for range v.Elements() {
		n++
	}
	for range v.Members() {
		n++
	}
	return n
}

// Elements yields the elements of an array; any other value has none.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		end := v.end('[')
		for i, n := v.at+1, 0; i < end; i, n = v.doc.after(i), n+1 {
			if !yield(n, Value{v.doc, i}) {
				return
			}
		}
	}
}

// Head returns the first element of an array; absent for any other value.
func (v Value) Head() (first Value) {
	for _, e := range v.Elements() {
		return e
	}
	return first
}

// Values returns the elements of an array.
func (v Value) Values() (all []Value) {
	for _, e := range v.Elements() {
		all = append(all, e)
	}
	return all
}

// end returns the first node after v and everything in it, if v starts with that byte.
//
//go:noinline
func (v Value) end(kind byte) int32 {
	if v.first() != kind {
		return 0
	}
	return v.doc.nodes[v.at].next
}

// after returns the first node after the node at i and everything in it.
//
//go:noinline
func (d *Document) after(i int32) int32 { return d.nodes[i].next }

// Members yields the members of an object in the order of the text; any other value has none.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		end := v.end('{')
		for i := v.at + 1; i < end; i = v.doc.after(i + 1) {
			if !yield(v.doc.name(i), Value{v.doc, i + 1}) {
				return
			}
		}
	}
}

// EachString visits the strings in v in the order of the text, including names of members.
func (v Value) EachString(visit func(s Value, isName bool)) {
	if v.IsString() {
		visit(v, false)
	}
	for _, member := range v.Members() {
		visit(member.Name(), true)
		member.EachString(visit)
	}
	for _, element := range v.Elements() {
		element.EachString(visit)
	}
}

// Name returns the name of an object's member, which is the string before it.
func (v Value) Name() Value { return Value{v.doc, v.at - 1} }

// Member returns the member at the end of a path of names; absent if a step is missing.
func (v Value) Member(path ...string) Value {
	for _, name := range path {
		var found Value
		for n, m := range v.Members() {
			if n == name {
				found = m
				break
			}
		}
		v = found
	}
	return v
}

// Object returns the members of v, as they are spelled.
func (v Value) Object() map[string]json.RawMessage {
	o := map[string]json.RawMessage{}
	for name, m := range v.Members() {
		o[name] = m.Raw()
	}
	return o
}

// Rest returns the members of v except for those named, as they are spelled; nil if there are no others.
func (v Value) Rest(without ...string) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	for name, m := range v.Members() {
		if !slices.Contains(without, name) {
			Keep(&o, name, m.Raw())
		}
	}
	return o
}

// Texts returns the strings of an array that contains only strings.
func (v Value) Texts() ([]string, bool) {
	if !v.IsArray() {
		return nil, false
	}
	all := []string{}
	for _, e := range v.Elements() {
		s, ok := e.Text()
		if !ok {
			return nil, false
		}
		all = append(all, s)
	}
	return all, true
}

// Unescaped returns the characters of a string, given without its quotes. It reports false if there is a lone
// surrogate, which stays escaped.
func Unescaped(inner string) (string, bool) {
	var b strings.Builder
	b.Grow(len(inner))
	whole := unescape(&b, inner)
	return b.String(), whole
}

// WriteText writes the characters of a string, and reports what [Value.Text] reports.
func (v Value) WriteText(b *strings.Builder) bool {
	if !v.IsString() {
		return false
	}
	n := v.doc.nodes[v.at]
	return unescape(b, v.doc.str[n.start+1:n.end-1])
}

func unescape(b *strings.Builder, inner string) (whole bool) {
	const longest = len(`\ud83d\ude00`)
	for whole = true; ; {
		i := strings.IndexByte(inner, '\\')
		if i < 0 {
			b.WriteString(inner)
			return whole
		}
		b.WriteString(inner[:i])
		inner = inner[i:]
		r, n := Unescape([]byte(inner[:min(len(inner), longest)]))
		if utf16.IsSurrogate(r) {
			whole = false
			b.WriteString(strings.ToLower(inner[:n]))
		} else {
			b.WriteRune(r)
		}
		inner = inner[n:]
	}
}
