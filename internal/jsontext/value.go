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

// Codecs call the methods of values in very many places. Keeping them from being inlined saves a seventh of the time
// to compile the codecs. The two loops are inlined, as they would allocate otherwise.

// A Value is one value of a document. The zero value is an absent one: it is of no kind and
// holds nothing.
type Value struct {
	doc *Document
	at  int32
}

// Root returns the document's outermost value.
func (d *Document) Root() Value { return Value{doc: d} }

// name returns the name that the node at i spells.
//
//go:noinline
func (d *Document) name(i int32) string {
	name, _ := Value{d, i}.Text() // the scanner has seen that it is whole
	return name
}

// first returns the byte that v begins with, which tells its kind; 0 for an absent value.
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

// kinds are the kinds of values but numbers, by the byte that a value begins with.
var kinds = [256]string{
	0: "absent", '{': "an object", '[': "a list", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null",
}

// Kind names the kind of v, for messages.
func (v Value) Kind() string { return cmp.Or(kinds[v.first()], "a number") }

// Offset returns how many bytes of the text are before v, which is present.
func (v Value) Offset() int64 { return int64(v.doc.nodes[v.at].start) }

// NumberKind returns what the spelling of a number tells; NotNumber for any other value.
func (v Value) NumberKind() NumberKind {
	if v.doc == nil {
		return NotNumber
	}
	return v.doc.nodes[v.at].kind
}

// Raw returns the bytes of v, which stay those of the text; nil for an absent value.
//
//go:noinline
func (v Value) Raw() json.RawMessage {
	if v.doc == nil {
		return nil
	}
	n := v.doc.nodes[v.at]
	return v.doc.src[n.start:n.end:n.end]
}

// Text returns the characters of a string. It reports false for any other value, and for a
// string with a lone surrogate, which no Go string can hold.
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

// Escaped reports whether anything in v, a string, is escaped. One in which nothing is has its
// canonical spelling.
func (v Value) Escaped() bool { return v.doc != nil && v.doc.nodes[v.at].escaped }

// Word returns the characters of v if it is a string that is not empty, else "".
//
//go:noinline
func (v Value) Word() string {
	if s, ok := v.Text(); ok {
		return s
	}
	return ""
}

// WordOf returns the characters of a JSON text that is a string, else "".
func WordOf(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	return ValueOf(raw).Word()
}

// ValueOf returns the value that a text is. Nothing is found in what is no JSON.
func ValueOf(text []byte) Value {
	doc, _ := Parse(text)
	return doc.Root()
}

// IsWord reports whether v is a string that is not empty, which a Go string can tell from an absent one.
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

// Count returns an integer that is spelled as one, else nil.
//
//go:noinline
func (v Value) Count() (*int64, bool) {
	if n, ok := v.Integer(); ok {
		count := n // n itself would be allocated for any value
		return &count, true
	}
	return nil, false
}

// Integer returns what [Value.Count] does, and allocates nothing for it.
func (v Value) Integer() (int64, bool) {
	if v.NumberKind() == NotNumber {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	return n, err == nil
}

// IsEmpty reports whether v holds no elements or members.
func (v Value) IsEmpty() bool { return v.doc == nil || v.doc.nodes[v.at].next == v.at+1 }

// Len returns how many elements or members v has.
func (v Value) Len() int {
	n := 0
	switch v.first() {
	case '[':
		for range v.Elements() {
			n++
		}
	case '{':
		for range v.Members() {
			n++
		}
	}
	return n
}

// Elements visits the elements of an array; any other value has none.
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

// end returns the first node after v and all that it holds, if it begins with that byte.
//
//go:noinline
func (v Value) end(kind byte) int32 {
	if v.first() != kind {
		return 0
	}
	return v.doc.nodes[v.at].next
}

// after returns the first node after the one at i and all that it holds.
//
//go:noinline
func (d *Document) after(i int32) int32 { return d.nodes[i].next }

// Members visits the members of an object in the order of the text; any other value has none.
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

// EachString visits the strings in v in the order of the text, names of members too.
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

// Name returns the name of a member of an object, which is a string in front of it.
func (v Value) Name() Value { return Value{v.doc, v.at - 1} }

// Member returns the member at the end of a path of names; absent where a step is missing.
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

// Object returns the members of v, verbatim.
func (v Value) Object() map[string]json.RawMessage {
	o := map[string]json.RawMessage{}
	for name, m := range v.Members() {
		o[name] = m.Raw()
	}
	return o
}

// Rest returns the members of v, verbatim, without those named; nil if there are no others.
func (v Value) Rest(without ...string) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	for name, m := range v.Members() {
		if !slices.Contains(without, name) {
			Keep(&o, name, m.Raw())
		}
	}
	return o
}

// Texts returns the strings of an array that holds nothing else.
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

// Unescaped returns the characters that the inside of a string stands for. It reports false if
// there is a lone surrogate, which then stays as escaped.
func Unescaped(inner string) (string, bool) {
	var b strings.Builder
	b.Grow(len(inner))
	whole := unescape(&b, inner)
	return b.String(), whole
}

// WriteText writes the characters of a string, see [Value.Text]. It returns what that reports.
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
