package modelio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A FormatError says where a JSON text, or a value that is to become one, breaks the shape
// that GK gives its type.
type FormatError struct {
	Type    string // what was read or written, in GK's words: "message"
	Pointer string // RFC 6901 pointer to the place; empty: the whole
	Problem string // what is wrong there
}

func (e *FormatError) Error() string {
	if e.Pointer == "" {
		return "modelio: " + e.Type + ": " + e.Problem
	}
	return "modelio: " + e.Type + ": " + jsontext.ShortPointer(e.Pointer) + ": " + e.Problem
}

// A coder goes through the members of a value, sorted by name. It reads them from a text, or it
// writes them, so that one list of members serves both. The first error stays, and what follows it
// is of no use.
type coder struct {
	reading bool
	at      jsontext.Value // reading: the value at hand
	buf     []byte         // writing: the text so far
	path    []string       // of the value at hand
	open    frame          // the object at hand
	err     *FormatError
}

// A frame is an object whose members are being read or written.
type frame struct {
	unknown Object
	object  jsontext.Value // reading
	known   []string       // reading: the members that fields have
	rest    []string       // writing: the unknown members not yet written, sorted
	empty   int            // writing: length of the text where nothing is written yet
}

// marshal returns the JSON text of a value whose members are coded; what names its type for errors.
func marshal(what string, code func(*coder)) ([]byte, error) {
	var c coder
	code(&c)
	if c.err != nil {
		c.err.Type = what
		return nil, c.err
	}
	return c.buf, nil
}

// unmarshal makes *value what data, one JSON value, says; what names its type for errors. Member
// names that are repeated and lone surrogates, which encoding/json resolves by dropping something,
// are errors.
func unmarshal[T any, P interface {
	*T
	code(*coder)
}](what string, data []byte, value P) error {
	var read T
	c := coder{reading: true}
	doc, err := jsontext.ParseStrict(bytes.Clone(data)) // is encoding/json's, see [json.Unmarshaler]
	if err != nil {
		c.refuse(err)
	} else {
		c.at = doc.Root()
		P(&read).code(&c)
	}
	if c.err != nil {
		c.err.Type = what
		return c.err
	}
	*value = read
	return nil
}

// fail notes a problem at the value at hand.
func (c *coder) fail(format string, args ...any) {
	c.refuse(&jsontext.Error{Err: fmt.Errorf(format, args...)})
}

// refuse notes that the value at hand is no JSON text.
func (c *coder) refuse(err error) {
	problem, ok := err.(*jsontext.Error)
	if !ok {
		problem = &jsontext.Error{Err: err}
	}
	if c.err == nil {
		pointer := jsontext.PointerTo(c.path...) + problem.Pointer
		c.err = &FormatError{Pointer: pointer, Problem: problem.Err.Error()}
	}
}

// is reports whether the value at hand is of a kind, and fails where it is not.
func (c *coder) is(kind string) bool {
	if c.at.Kind() == kind {
		return true
	}
	c.fail("want %s, got %s", kind, c.at.Kind())
	return false
}

// below codes a member or an element of the value at hand.
func (c *coder) below(token string, at jsontext.Value, code func()) {
	outer := c.at
	c.at, c.path = at, append(c.path, token)
	code()
	c.at, c.path = outer, c.path[:len(c.path)-1]
}

// object codes an object; fields goes through its members. Those that no field has are in unknown.
func (c *coder) object(unknown *Object, fields func()) {
	outer := c.open
	defer func() { c.open = outer }()
	if !c.reading {
		c.buf = append(c.buf, '{')
		c.open = frame{unknown: *unknown, rest: inorder.Names(*unknown), empty: len(c.buf)}
		fields()
		for len(c.open.rest) > 0 {
			c.writeUnknown()
		}
		c.buf = append(c.buf, '}')
		return
	}
	if !c.is("an object") {
		return
	}
	c.open = frame{object: c.at}
	fields()
	for name, m := range c.at.Members() {
		if !slices.Contains(c.open.known, name) {
			jsontext.Keep(unknown, name, bytes.Clone(m.Raw()))
		}
	}
}

func (c *coder) writeUnknown() {
	name := c.open.rest[0]
	c.open.rest = c.open.rest[1:]
	raw := c.open.unknown[name]
	c.write(name, func() { rawValue(&raw, c) })
}

func (c *coder) write(name string, value func()) {
	if len(c.buf) > c.open.empty {
		c.buf = append(c.buf, ',')
	}
	c.below(name, jsontext.Value{}, func() {
		text(&name, c)
		c.buf = append(c.buf, ':')
		value()
	})
}

// member codes a member of the object at hand. It is written if it is set, and then wins over an
// unknown member of its name. One that is read is kept as unknown where the field could not tell it
// from an absent one: where it is null, and where it leaves the field as if it were not set.
func (c *coder) member(name string, set func() bool, value func()) {
	if c.reading {
		if m := c.open.object.Member(name); m.Present() && !m.IsNull() {
			c.below(name, m, value)
			if set() {
				c.open.known = append(c.open.known, name)
			}
		}
		return
	}
	if !set() {
		return
	}
	for len(c.open.rest) > 0 && c.open.rest[0] < name {
		c.writeUnknown()
	}
	if len(c.open.rest) > 0 && c.open.rest[0] == name {
		c.open.rest = c.open.rest[1:]
	}
	c.write(name, value)
}

// required codes a member that must be there, and that is written also where it is not set, unless
// it was null.
func (c *coder) required(name string, set func() bool, value func()) {
	if c.reading && !c.open.object.Member(name).Present() {
		c.below(name, jsontext.Value{}, func() { c.fail("required member is missing") })
	}
	_, spelled := c.open.unknown[name]
	c.member(name, func() bool { return !spelled || set() }, value)
}

// raw codes a member of any kind, null too, as it is spelled.
func (c *coder) raw(name string, field *json.RawMessage) {
	if m := c.open.object.Member(name); m.IsNull() {
		*field = bytes.Clone(m.Raw())
		c.open.known = append(c.open.known, name)
	}
	c.member(name, func() bool { return *field != nil }, func() { rawValue(field, c) })
}

// members codes a member whose value is an object of members that nobody knows.
func (c *coder) members(name string, field *Object) {
	c.member(name, func() bool { return *field != nil }, func() {
		if c.reading {
			*field = Object{}
		}
		c.object(field, func() {})
	})
}

// requiredText codes a string, also when it is empty.
func requiredText[T ~string](c *coder, name string, field *T) {
	c.required(name, func() bool { return *field != "" }, func() { text(field, c) })
}

// nonzero codes a member that is left out where it has its zero value.
func nonzero[T comparable](c *coder, name string, field *T, value func(*T, *coder)) {
	c.member(name, func() bool { return *field != *new(T) }, func() { value(field, c) })
}

// optional codes a member that may be absent.
func optional[T any](c *coder, name string, field **T, value func(*T, *coder)) {
	c.member(name, func() bool { return *field != nil }, func() {
		if c.reading {
			*field = new(T)
		}
		value(*field, c)
	})
}

// list codes a list that may be absent. An empty one is not nil.
func list[T any](c *coder, name string, field *[]T, value func(*T, *coder)) {
	c.member(name, func() bool { return *field != nil }, func() { elements(c, field, value) })
}

func requiredList[T any](c *coder, name string, field *[]T, value func(*T, *coder)) {
	c.required(name, func() bool { return *field != nil }, func() { elements(c, field, value) })
}

func elements[T any](c *coder, field *[]T, value func(*T, *coder)) {
	if c.reading {
		if c.is("a list") {
			*field = make([]T, c.at.Len())
		}
		for i, e := range c.at.Elements() {
			c.below(strconv.Itoa(i), e, func() { value(&(*field)[i], c) })
		}
		return
	}
	c.buf = append(c.buf, '[')
	for i := range *field {
		if i > 0 {
			c.buf = append(c.buf, ',')
		}
		c.below(strconv.Itoa(i), jsontext.Value{}, func() { value(&(*field)[i], c) })
	}
	c.buf = append(c.buf, ']')
}

// text codes a string. What is no UTF-8 would come back as other text, so it is refused.
func text[T ~string](s *T, c *coder) {
	switch chars, whole := c.at.Text(); {
	case whole:
		*s = T(chars)
	case c.reading && c.at.IsNull():
		c.fail("want a value, got null")
	case c.reading:
		c.is("a string")
	case !utf8.ValidString(string(*s)):
		c.fail("string is not UTF-8")
	default:
		c.buf = jsontext.AppendText(c.buf, string(*s))
	}
}

func boolean(b *bool, c *coder) {
	if !c.reading {
		c.buf = strconv.AppendBool(c.buf, *b)
	} else if c.is("a boolean") {
		*b = string(c.at.Raw()) == "true"
	}
}

// integer codes a number that is an integer however it is spelled: 12, 12.0, 1.2e1.
func integer(n *int64, c *coder) {
	if !c.reading {
		c.buf = strconv.AppendInt(c.buf, *n, 10)
		return
	}
	if !c.is("a number") {
		return
	}
	digits := string(c.at.Raw())
	var err error
	if *n, err = strconv.ParseInt(digits, 10, 64); err == nil {
		return
	}
	const exact = 1 << 53 // up to here a float64 holds every integer
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		c.fail("want an integer of 64 bits, got %s", digits)
	}
	*n = int64(f)
}

// index codes the index of a candidate.
func index(i *int, c *coder) {
	n := int64(*i)
	if integer(&n, c); n < 0 || n > math.MaxInt32 {
		c.fail("want an index, got %d", n)
	}
	*i = int(n)
}

// rawValue codes a value as it is spelled. One that is written must be one that can be read again.
func rawValue(value *json.RawMessage, c *coder) {
	if c.reading {
		*value = bytes.Clone(c.at.Raw())
		return
	}
	if _, err := jsontext.ParseStrict(*value); err != nil {
		c.refuse(err)
	}
	c.buf = append(c.buf, *value...)
}
