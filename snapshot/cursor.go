package snapshot

import (
	"bytes"
	"encoding/json"
)

// A cursor reads a compact text, that is a JSON text without white space that canon accepts.
type cursor struct {
	trail
	text []byte
	str  string // the same; the strings that are read are parts of it
	pos  int    // where the next value starts

	sealed bool    // the seals and the document's hash are known to match
	core   coreSum // of the core that is being checked
}

func newCursor(text []byte) *cursor { return &cursor{text: text, str: string(text)} }

// reset makes c read text, with the memory that it has.
func (c *cursor) reset(text []byte) {
	c.text, c.str, c.pos = text, string(text), 0
	c.steps, c.found = c.steps[:0], nil
}

// kind returns the first byte of the next value.
func (c *cursor) kind() byte { return c.text[c.pos] }

// describe names the type of the next value.
func (c *cursor) describe() string {
	switch c.kind() {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}

// mismatch reports that the next value is not what the format wants, skips it, and returns
// false.
func (c *cursor) mismatch(want string) bool {
	c.reportf(ruleType, "must be %s, is %s", want, c.describe())
	c.skip()
	return false
}

// members calls visit for each member of the next value, an object; visit reads its value.
func (c *cursor) members(visit func(name string)) {
	c.pos++
	for c.text[c.pos] != '}' {
		if c.text[c.pos] == ',' {
			c.pos++
		}
		name := c.unquote()
		c.pos++ // the colon
		c.enter(step{name: name, member: true})
		visit(name)
		c.leave()
	}
	c.pos++
}

// elements calls visit for each element of the next value, an array; visit reads it.
func (c *cursor) elements(visit func()) {
	c.pos++
	for n := 0; c.text[c.pos] != ']'; n++ {
		if c.text[c.pos] == ',' {
			c.pos++
		}
		c.enter(step{index: n})
		visit()
		c.leave()
	}
	c.pos++
}

// unquote reads the next value, a string.
func (c *cursor) unquote() string {
	start := c.pos
	quoted := c.skip()
	if bytes.IndexByte(quoted, '\\') < 0 {
		return c.str[start+1 : c.pos-1]
	}
	var s string
	// unreachable error: canon accepted the string.
	_ = json.Unmarshal(quoted, &s)
	return s
}

// skip reads the next value and returns its text.
func (c *cursor) skip() []byte {
	start := c.pos
	c.pos = valueEnd(c.text, start)
	return c.text[start:c.pos]
}

// skipText is skip for a string that is to be kept.
func (c *cursor) skipText() string {
	start := c.pos
	c.skip()
	return c.str[start:c.pos]
}

// valueEnd returns the end of the value at text[i]. Of a text that canon does not accept it
// returns some index.
func valueEnd(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':':
			i++
			continue
		default:
			i = scalarEnd(text, i)
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

// stringEnd returns the end of the string at text[i], a quote, or len(text) if it has none.
func stringEnd(text []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		i += n + 1
		escapes := 0
		for text[i-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

// scalarEnd returns the end of the number or literal name at text[i].
func scalarEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case ',', ':', '}', ']', '{', '[', '"', ' ', '\t', '\r', '\n':
			return i
		}
	}
	return i
}
