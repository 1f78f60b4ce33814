package snapshot

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Fields: the members of objects. Each function reads or writes a member, or the current value.

// field is a member whose value is read or written by a function.
func field[T any](c *coder, name string, n need, v *T, empty func(T) bool, value func(*T)) {
	switch c.member(name, n, !c.reading() && empty(*v)) {
	case skip:
		return
	case null:
		*v = *new(T)
		return
	}
	found := len(c.found)
	value(v)
	if c.reading() && n == optional && len(c.found) == found && empty(*v) {
		c.emptied()
		*v = *new(T)
	}
	c.leave()
}

func never[T any](T) bool            { return false }
func isZero[T comparable](v T) bool  { return v == *new(T) }
func noElements[T any](all []T) bool { return len(all) == 0 }

// pointer is a member that is nil if absent.
func pointer[T any](c *coder, name string, n need, p **T, value func(*T)) {
	field(c, name, n, p, isZero, func(p **T) {
		if c.reading() {
			*p = new(T)
		}
		value(*p)
	})
}

// text is a member that is a string.
func (c *coder) text(name string, n need, s *string, must *check) {
	field(c, name, n, s, isZero, func(s *string) {
		c.word(s)
		if !c.reading() || must == nil || !c.at.IsString() || n == optional && *s == "" {
			return
		}
		if !must.holds(*s) {
			c.reportf(RuleValue, "must be %s, is %s", must.must, strconv.QuoteToASCII(jsontext.Excerpt(*s)))
			*s = ""
		}
	})
}

// word is the current string.
func (c *cursor) word(s *string) {
	if !c.reading() {
		c.writeText(*s)
		return
	}
	var ok bool
	if *s, ok = c.at.Text(); !ok {
		c.mismatch("a string")
	}
}

// pieces is a string member that may be an array of pieces in files.
func (c *coder) pieces(name string, n need, s *string) { field(c, name, n, s, isZero, c.longText) }

// integer is a member that is an integer of at least the given value; 0 if absent. An integer that is too large for T
// is read as one that nothing has.
func integer[T int | int64](c *coder, name string, n need, v *T, least int64) {
	field(c, name, n, v, isZero, func(v *T) {
		wide := int64(*v)
		if c.atLeast(&wide, least); int64(T(wide)) != wide {
			wide = math.MaxInt32
		}
		*v = T(wide)
	})
}

// count is the current integer, of at least 0.
func (c *cursor) count(v *int64) { c.atLeast(v, 0) }

func (c *cursor) atLeast(v *int64, least int64) {
	if !c.reading() {
		c.dst = strconv.AppendInt(c.dst, *v, 10)
		return
	}
	kind, text := c.at.NumberKind(), string(c.at.Raw())
	switch kind {
	case jsontext.NotNumber:
		c.mismatch("an integer")
		return
	case jsontext.PlainNumber: // canonical already
	default:
		canonical := canonicalNumber(json.Number(text))
		if canonical == "" {
			c.reportf(RuleType, "must be an integer that a float64 holds, is %s", jsontext.Excerpt(text))
			return
		}
		text = canonical
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		c.reportf(RuleType, "must be an integer, is %s", jsontext.Excerpt(text))
	case n < least:
		c.reportf(RuleValue, "must be %d or more, is %d", least, n)
	default:
		*v = n
	}
}

// raw is a member of any kind; nil if absent.
func (c *coder) raw(name string, raw *json.RawMessage) {
	field(c, name, valued, raw, func(raw json.RawMessage) bool { return raw == nil }, func(raw *json.RawMessage) {
		if c.reading() {
			*raw = c.memory()
		} else {
			c.writeRaw(*raw)
		}
	})
}

// free is a member that is an object with arbitrary members; empty if absent.
func (c *coder) free(name string, o *modelio.Object) {
	field(c, name, optional, o, func(o modelio.Object) bool { return len(o) == 0 }, c.freeObject)
}

// list is a member that is an array; item reads or writes each element.
func list[T any](c *coder, name string, n need, items *[]T, item func(*T)) {
	field(c, name, n, items, noElements, func(items *[]T) { elements(c, items, item) })
}

// elements is the current array.
func elements[T any](c *coder, items *[]T, item func(*T)) {
	if !c.reading() {
		c.write("[")
		for i := range *items {
			c.comma(i)
			c.element(i)
			item(&(*items)[i])
			c.leave()
		}
		c.write("]")
		return
	}
	at := c.at
	if !at.IsArray() {
		c.mismatch("an array")
		*items = nil
		return
	}
	*items = make([]T, at.Len())
	for i, e := range at.Elements() {
		c.at = e
		c.element(i)
		item(&(*items)[i])
		c.leave()
	}
	c.at = at
}
