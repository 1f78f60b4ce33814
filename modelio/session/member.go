package session

import (
	"cmp"
	"math"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A member is the value of a member of the core.
type member struct {
	jsontext.Value      // absent if there is none
	repeated       bool // the name occurs again; the first member counts
}

// readMembers reads the members of an object by their names.
func readMembers(v jsontext.Value, members map[string]*member) {
	for name, value := range v.Members() {
		switch m := members[name]; {
		case m == nil:
		case m.Present():
			m.repeated = true
		default:
			m.Value = value
		}
	}
}

// chars returns the characters of a string of a session.
func (m *member) chars() []byte { return unquote(m.Raw()) }

// isFilled reports whether a value is a string that is not empty.
func (m *member) isFilled() bool { return m.IsString() && len(m.chars()) > 0 }

func (m *member) isHash() bool { return m.IsString() && canon.Hash(m.chars()).Valid() }

// shown is how many bytes messages show of a value, and the most digits of a number that is judged.
const shown = 256

// number returns the value of a number as in JavaScript: 1.0 is 1, and 1e400 is infinite.
func (m *member) number() (f float64, ok bool) {
	n, ok := m.Number()
	if !ok || len(*n) > shown {
		return 0, false
	}
	f, _ = n.Float64() // the only error is that f is infinite
	return f, true
}

// typeNames are the results of JavaScript's typeof for values other than objects, by kind.
var typeNames = map[string]string{
	"absent": "undefined", "a string": "string", "a number": "number", "a boolean": "boolean",
}

// typeName returns the result of JavaScript's typeof for the value.
func (m *member) typeName() string { return cmp.Or(typeNames[m.Kind()], "object") }

// String returns the result of JavaScript's String for the value, shortened for messages, with U+FFFD for every lone
// surrogate.
func (m *member) String() string {
	s := string(m.js())
	if n, _ := m.Number(); n != nil && len(*n) > shown {
		s = string(*n)
	}
	if len(s) > shown {
		s = s[:shown] + "…"
	}
	return strings.ToValidUTF8(string(toUTF8(s)), "\uFFFD")
}

// js returns the result of JavaScript's String for the value.
func (m *member) js() []byte {
	if !m.Present() {
		return []byte("undefined")
	}
	return appendJS(nil, m.Value)
}

func appendJS(dst []byte, v jsontext.Value) []byte {
	if n, ok := v.Number(); ok {
		f, _ := n.Float64() // the only error is that f is infinite
		return append(dst, jsNumber(f)...)
	}
	switch {
	case v.IsString():
		return append(dst, unquote(v.Raw())...)
	case v.IsObject():
		return append(dst, "[object Object]"...)
	case !v.IsArray():
		return append(dst, v.Raw()...)
	}
	for i, e := range v.Elements() {
		if dst = jsontext.AppendComma(dst, i); !e.IsNull() {
			dst = appendJS(dst, e)
		}
	}
	return dst
}

func jsNumber(f float64) string {
	switch {
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsInf(f, 1):
		return "Infinity"
	}
	return string(jsontext.AppendFloat(nil, f))
}

// An interaction is an element of interactions.
type interaction struct {
	place                                place
	isObject                             bool // false if it has no members
	i, promptHash, responseHash, content member
}

// interactionAt reads the interaction at a place.
func interactionAt(n int, v jsontext.Value) *interaction {
	in := &interaction{place: place(n), isObject: v.IsObject()}
	readMembers(v, map[string]*member{
		"i": &in.i, "prompt_hash": &in.promptHash, "response_hash": &in.responseHash, "response_content": &in.content,
	})
	return in
}
