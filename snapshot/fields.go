package snapshot

import (
	"encoding/json"
	"strconv"
)

// Fields: the members of objects that are texts, numbers and lists. Each reads or writes one.

// A check says what a value must be, or nothing where it is.
type check func(string) string

// text is a member that is a string. Those in pieces may be an array of strings in files.
func (c *coder) text(name string, n need, s *string, must check) { c.string(name, n, s, must, false) }

func (c *coder) pieces(name string, n need, s *string) { c.string(name, n, s, nil, true) }

func (c *coder) string(name string, n need, s *string, must check, pieces bool) {
	switch c.member(name, n, *s == "") {
	case skip:
		return
	case null:
		*s = ""
		return
	}
	defer c.leave()
	switch {
	case !c.reading() && pieces:
		c.writePieces(*s)
	case !c.reading():
		c.writeText(*s)
	case c.readText(s, pieces):
		if n == optional && *s == "" {
			c.emptied()
		} else if must != nil && must(*s) != "" {
			c.reportf(RuleValue, "must be %s, is %s", must(*s), strconv.QuoteToASCII(excerpt(*s)))
			*s = ""
		}
	}
}

// optionalPieces is a text that may be empty: nil where there is none.
func (c *coder) optionalPieces(name string, s **string) {
	switch c.member(name, optional, *s == nil) {
	case skip:
		return
	case null:
		*s = nil
		return
	}
	defer c.leave()
	if !c.reading() {
		c.writePieces(**s)
		return
	}
	*s = new(string)
	c.readText(*s, true)
}

// readText reads a string, or an array of its pieces.
func (c *coder) readText(s *string, pieces bool) bool {
	text, ok := c.at.Text()
	if !ok && pieces && c.at.IsArray() {
		return c.readPieces(s)
	}
	if !ok {
		want := "a string"
		if pieces {
			want = "a string or an array of its pieces"
		}
		c.mismatch(want)
	}
	*s = text
	return ok
}

// integer is a member that is an integer of at least the given value; 0 where there is none.
func (c *coder) integer(name string, n need, field *int64, least int64) {
	switch c.member(name, n, *field == 0 && n == optional) {
	case skip:
		return
	case null:
		*field = 0
		return
	}
	defer c.leave()
	if !c.reading() {
		c.writeInteger(*field)
		return
	}
	if c.readInteger(field, least) && n == optional && *field == 0 {
		c.emptied()
	}
}

// count is an integer of 0 or more; nil where there is none.
func (c *coder) count(name string, n need, field **int64) {
	switch c.member(name, n, *field == nil) {
	case skip:
		return
	case null:
		*field = nil
		return
	}
	defer c.leave()
	if !c.reading() {
		c.writeInteger(**field)
		return
	}
	*field = new(int64)
	c.readInteger(*field, 0)
}

func (c *coder) writeInteger(n int64) { c.dst = strconv.AppendInt(c.dst, n, 10) }

func (c *coder) readInteger(field *int64, least int64) bool {
	text, ok := c.at.Number()
	if !ok {
		c.mismatch("an integer")
		return false
	}
	n, err := strconv.ParseInt(string(canonicalNumber(*text)), 10, 64)
	switch {
	case err != nil:
		c.reportf(RuleType, "must be an integer, is %s", excerpt(string(*text)))
		return false
	case n < least:
		c.reportf(RuleValue, "must be %d or more, is %d", least, n)
		return false
	}
	*field = n
	return true
}

// number is a number of any size (design R1); nil where there is none.
func (c *coder) number(name string, n need, field **json.Number) {
	switch c.member(name, n, *field == nil) {
	case skip:
		return
	case null:
		*field = nil
		return
	}
	defer c.leave()
	if !c.reading() {
		c.writeRawNumber(**field)
		return
	}
	if number, ok := c.readNumber(); ok {
		*field = &number
	}
}

// list is a member that is an array; item reads or writes each element.
func list[T any](c *coder, name string, n need, items *[]T, item func(*T)) {
	switch c.member(name, n, len(*items) == 0 && n == optional) {
	case skip:
		return
	case null:
		*items = nil
		return
	}
	elements(c, items, item)
	if c.reading() && n == optional && *items != nil && len(*items) == 0 {
		c.emptied()
		*items = nil
	}
	c.leave()
}

// elements is the array at hand.
func elements[T any](c *coder, items *[]T, item func(*T)) {
	if !c.reading() {
		c.write("[")
		for i := range *items {
			if i > 0 {
				c.write(",")
			}
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
