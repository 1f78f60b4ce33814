package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

// A codec reads and writes the values of one type of the format.
type codec[V any] struct {
	decode func(*cursor, *V) bool // false: reported, and the value is the zero value
	encode func(*builder, V)
	empty  func(V) bool // an optional member that is empty is left out
}

var text = codec[string]{
	decode: func(c *cursor, s *string) bool {
		if c.kind() != '"' {
			return c.mismatch("a string")
		}
		*s = c.unquote()
		return true
	},
	encode: (*builder).appendText,
	empty:  func(s string) bool { return s == "" },
}

// checked is c with a rule for the values that are read: check says what they must be, or
// nothing where they are.
func checked[V any](c codec[V], check func(V) string) codec[V] {
	decode := c.decode
	c.decode = func(cur *cursor, v *V) bool {
		if !decode(cur, v) {
			return false
		}
		if must := check(*v); must != "" {
			cur.report(ruleValue, "must be "+must)
			*v = *new(V)
			return false
		}
		return true
	}
	return c
}

var nonEmpty = checked(text, func(s string) string {
	if s == "" {
		return "a string that is not empty"
	}
	return ""
})

func oneOf(words ...string) codec[string] {
	return checked(text, func(s string) string {
		if slices.Contains(words, s) {
			return ""
		}
		return "one of " + strings.Join(words, ", ")
	})
}

// sourcePath is a path as design R13 wants it, so that it is the same on every machine.
var sourcePath = checked(text, func(s string) string {
	if !fs.ValidPath(s) || s == "." || strings.ContainsRune(s, '\\') {
		return "a relative path with forward slashes, without . and .."
	}
	return ""
})

var pointerText = checked(text, func(s string) string {
	if _, err := parsePointer(s); err != nil {
		return "an RFC 6901 pointer below the request"
	}
	return ""
})

var hash = codec[canon.Hash]{
	decode: func(c *cursor, h *canon.Hash) bool {
		var s string
		if !text.decode(c, &s) {
			return false
		}
		if !canon.Hash(s).Valid() {
			c.report(ruleValue, "must be sha256: and 64 lower-case hexadecimal digits")
			return false
		}
		*h = canon.Hash(s)
		return true
	},
	encode: func(b *builder, h canon.Hash) { b.appendText(string(h)) },
	empty:  func(h canon.Hash) bool { return h == "" },
}

// integer is an integer of at least the given value.
func integer[V int | int64](least int64) codec[V] {
	return codec[V]{
		decode: func(c *cursor, v *V) bool {
			if k := c.kind(); k != '-' && (k < '0' || k > '9') {
				return c.mismatch("an integer")
			}
			text := c.skipText()
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || int64(V(n)) != n { // int may have 32 bits
				c.reportf(ruleType, "must be an integer, is %s", excerpt(text))
				return false
			}
			if n < least {
				c.reportf(ruleValue, "must be %d or more, is %d", least, n)
				return false
			}
			*v = V(n)
			return true
		},
		encode: func(b *builder, n V) { b.appendInt(int64(n)) },
		empty:  func(n V) bool { return n == 0 },
	}
}

// number is a number of any size (design R1).
var number = codec[Number]{
	decode: func(c *cursor, n *Number) bool {
		if isNumber(c.text[c.pos:]) {
			*n = Number(c.skipText())
			return true
		}
		if c.kind() != '{' {
			return c.mismatch("a number")
		}
		kept, err := canon.RestoreNumbers(c.text[c.pos:valueEnd(c.text, c.pos)])
		if err != nil || !isNumber(kept) {
			return c.mismatch(`a number, or {"$number":"…"} with one that a float64 does not hold`)
		}
		c.skip()
		*n = Number(kept)
		return true
	},
	encode: func(b *builder, n Number) {
		if !isNumber([]byte(n)) {
			b.reportf(ruleType, "must be a number, is %q", excerpt(string(n)))
			return
		}
		b.appendRaw([]byte(n))
	},
	empty: func(n Number) bool { return n == "" },
}

func isNumber(raw []byte) bool {
	return len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9')
}

// optional is c where nil stands for an absent value.
func optional[V any](c codec[V]) codec[*V] {
	return codec[*V]{
		decode: func(cur *cursor, p **V) bool {
			v := new(V)
			if !c.decode(cur, v) {
				return false
			}
			*p = v
			return true
		},
		encode: func(b *builder, v *V) { c.encode(b, *v) },
		empty:  func(v *V) bool { return v == nil },
	}
}

// raw is JSON of any type that starts with one of kinds. Numbers that a file keeps as objects
// are numbers in memory (design R1).
func raw(want, kinds string) codec[json.RawMessage] {
	return codec[json.RawMessage]{
		decode: func(c *cursor, v *json.RawMessage) bool {
			if kinds != "" && strings.IndexByte(kinds, c.kind()) < 0 {
				return c.mismatch(want)
			}
			stored := c.skip()
			if !bytes.Contains(stored, []byte(`$number":`)) {
				*v = stored[:len(stored):len(stored)]
				return true
			}
			restored, err := canon.RestoreNumbers(stored)
			if err != nil {
				c.found = append(c.found, textViolation(c.pointer(), err))
				return false
			}
			*v = restored
			return true
		},
		encode: func(b *builder, raw json.RawMessage) { b.appendRaw(raw) },
		empty:  func(raw json.RawMessage) bool { return raw == nil },
	}
}

var (
	anyValue  = raw("", "")
	rawObject = raw("an object", "{")
)

// content is the content of a message: a string, or a list of GK parts (design R15).
var content = codec[json.RawMessage]{
	decode: func(c *cursor, v *json.RawMessage) bool {
		start, found := c.pos, len(c.found)
		switch c.kind() {
		case '"':
		case '[':
			var part json.RawMessage
			c.elements(func() { rawObject.decode(c, &part) })
			c.pos = start
		default:
			return c.mismatch("a string or an array of parts")
		}
		return anyValue.decode(c, v) && len(c.found) == found
	},
	encode: anyValue.encode,
	empty:  anyValue.empty,
}

func list[V any](c codec[V]) codec[[]V] {
	return codec[[]V]{
		decode: func(cur *cursor, vs *[]V) bool {
			if cur.kind() != '[' {
				return cur.mismatch("an array")
			}
			*vs = []V{}
			ok := true
			cur.elements(func() {
				*vs = append(*vs, *new(V))
				ok = c.decode(cur, &(*vs)[len(*vs)-1]) && ok
			})
			return ok
		},
		encode: func(b *builder, vs []V) {
			b.text = append(b.text, '[')
			for i, v := range vs {
				if i > 0 {
					b.text = append(b.text, ',')
				}
				b.enter(step{index: i})
				c.encode(b, v)
				b.leave()
			}
			b.text = append(b.text, ']')
		},
		empty: func(vs []V) bool { return len(vs) == 0 },
	}
}

func mapOf[V any](c codec[V]) codec[map[string]V] {
	return codec[map[string]V]{
		decode: func(cur *cursor, m *map[string]V) bool {
			if cur.kind() != '{' {
				return cur.mismatch("an object")
			}
			*m = map[string]V{}
			ok := true
			cur.members(func(name string) {
				var v V
				ok = c.decode(cur, &v) && ok
				(*m)[name] = v
			})
			return ok
		},
		encode: func(b *builder, m map[string]V) {
			b.text = append(b.text, '{')
			for i, name := range slices.Sorted(maps.Keys(m)) {
				if i > 0 {
					b.text = append(b.text, ',')
				}
				b.enter(step{name: name, member: true})
				b.appendText(name)
				b.text = append(b.text, ':')
				c.encode(b, m[name])
				b.leave()
			}
			b.text = append(b.text, '}')
		},
		empty: func(m map[string]V) bool { return len(m) == 0 },
	}
}

// parsePointer returns the reference tokens of an RFC 6901 pointer, one at least.
func parsePointer(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, errors.New("the empty pointer names the whole request")
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("pointer %q must start with a slash (RFC 6901)", excerpt(pointer))
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(token), "~") {
			return nil, fmt.Errorf("pointer %q has a ~ that is neither ~0 nor ~1 (RFC 6901)", excerpt(pointer))
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}
