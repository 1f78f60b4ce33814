package session

import (
	"bytes"
	"cmp"
	"hash"
	"math"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A valueKind is the kind of a JSON value: the first byte of its text, or a byte that stands for it.
type valueKind byte

const (
	kindAbsent  valueKind = 0
	kindString  valueKind = '"'
	kindNumber  valueKind = '0'
	kindBoolean valueKind = 't'
	kindNull    valueKind = 'n'
	kindArray   valueKind = '['
	kindObject  valueKind = '{'
)

func kindOf(first byte) valueKind {
	switch kind := valueKind(first); kind {
	case 'f':
		return kindBoolean
	case kindString, kindBoolean, kindNull, kindArray, kindObject:
		return kind
	}
	return kindNumber
}

// lookahead is how many bytes are kept of a value that is used only in messages.
const lookahead = 256

// unlimited is the limit for strings that the hash needs completely.
const unlimited = math.MaxInt

// A member is the value of a member of the core.
type member struct {
	kind      valueKind
	text      []byte // the characters of a string; for any other value its JSON
	canonical []byte // the canonical form of a string, without quotes
	cut       bool   // text is truncated
	repeated  bool   // the name occurs again; the first member counts
}

// member reads a value into m, and keeps about limit bytes of it.
func (v *verifier) member(m *member, limit int) (err error) {
	if m.kind != kindAbsent {
		m.repeated = true
		return v.Skip()
	}
	if m.kind = kindOf(v.Peek()); m.kind == kindString {
		return v.String(func(chars, canonical []byte) {
			n := min(len(chars), limit-len(m.text))
			m.text = append(m.text, chars[:n]...)
			if m.cut = m.cut || n < len(chars); !m.cut {
				m.canonical = append(m.canonical, canonical...)
			}
		})
	}
	m.text, m.cut, err = v.Raw(m.text, lookahead)
	return err
}

// number returns the value of a number as in JavaScript: 1.0 is 1, and 1e400 is infinite.
func (m *member) number() (f float64, ok bool) {
	if m.kind != kindNumber || m.cut {
		return 0, false
	}
	f, _ = strconv.ParseFloat(string(m.text), 64) // the only error is that f is infinite
	return f, true
}

// typeNames are the results of JavaScript's typeof for values other than objects.
var typeNames = map[valueKind]string{
	kindAbsent: "undefined", kindString: "string", kindNumber: "number", kindBoolean: "boolean",
}

// typeName returns the result of JavaScript's typeof for the value.
func (m *member) typeName() string { return cmp.Or(typeNames[m.kind], "object") }

// String returns the result of JavaScript's String for the value, shortened for messages, with U+FFFD for every lone
// surrogate.
func (m *member) String() string {
	s := m.js()
	if len(s) > lookahead || m.cut && m.kind != kindObject {
		s = s[:min(len(s), lookahead)] + "…"
	}
	return strings.ToValidUTF8(string(toUTF8(s)), "\uFFFD")
}

// js returns the result of JavaScript's String for the value.
func (m *member) js() string {
	switch {
	case m.kind == kindAbsent:
		return "undefined"
	case m.kind == kindObject:
		return "[object Object]"
	case m.kind == kindNumber && !m.cut:
		f, _ := m.number()
		return jsNumber(f)
	case m.kind == kindString && !m.cut: // its text has U+FFFD for lone surrogates
		return string(unquote([]byte(`"` + string(m.canonical) + `"`)))
	case !m.cut:
		if doc, err := jsontext.ParseLenient(bytes.Clone(m.text)); err == nil { // always valid: the reader has checked the text
			return jsString(doc.Root())
		}
	}
	return string(m.text)
}

func jsString(v jsontext.Value) string {
	if n, ok := v.Number(); ok {
		f, _ := n.Float64() // the only error is that f is infinite
		return jsNumber(f)
	}
	switch {
	case v.IsString():
		return string(unquote(v.Raw()))
	case v.IsObject():
		return "[object Object]"
	case !v.IsArray():
		return string(v.Raw())
	}
	var elements []string
	for _, e := range v.Elements() {
		if e.IsNull() {
			elements = append(elements, "")
		} else {
			elements = append(elements, jsString(e))
		}
	}
	return strings.Join(elements, ",")
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
	place        place
	isObject     bool // false if it has no members
	i            member
	promptHash   member
	responseHash member
	content      content
}

// A content is a response_content. Because it may be large, it is passed on and not kept.
type content struct {
	member           // without text if it is a string
	size   int64     // length in bytes as UTF-8
	hash   hash.Hash // hash of its UTF-8
}

// readContent reads a response_content.
func (v *verifier) readContent(c *content) error {
	if c.kind != kindAbsent || kindOf(v.Peek()) != kindString {
		return v.member(&c.member, lookahead)
	}
	c.kind = kindString
	return v.String(func(chars, canonical []byte) {
		c.size += int64(len(chars))
		if v.hashing() && (c.size <= MaxResponseBytes || v.opts.NoSizeLimits) {
			v.content = append(v.content, canonical...)
		}
		if !v.opts.NoResponseHashes {
			c.hash.Write(chars)
		}
	})
}
