package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// Free JSON: values of any kind, for which the format defines only the spelling in files.
//
// Two kinds of values are written to files as an object with one member: a number that does not fit a float64,
// {"$number":"9223372036854775807"}, and a longer text, {"$text":["…","…"]}. To keep these unambiguous, files add one
// more $ to such a name if it was sent.

// freeObject is the current object, with arbitrary members.
func (c *cursor) freeObject(o *modelio.Object) {
	if !c.reading() {
		spelled := *o
		if len(spelled) == 1 {
			for name, raw := range *o {
				if _, kind := special(name); kind != "" {
					spelled = modelio.Object{"$" + name: raw}
				}
			}
		}
		c.writeMembers(slices.SortedFunc(maps.Keys(spelled), c.order()), func(name string) { c.writeRaw(spelled[name]) })
		return
	}
	at := c.at
	if !at.IsObject() {
		c.mismatch("an object")
		return
	}
	*o = modelio.Object{}
	single := at.Len() == 1
	for name, value := range at.Members() {
		if dollars, kind := special(name); single && kind != "" {
			if dollars == 1 { // a text or a number in place of an object
				c.mismatch("an object")
				return
			}
			name = name[1:]
		}
		c.at = value
		c.enter(name)
		(*o)[name] = c.memory()
		c.leave()
	}
	c.at = at
}

// memory returns the current value in its in-memory form.
func (c *cursor) memory() json.RawMessage {
	start := len(c.dst)
	c.value(c.at)
	return c.dst[start:len(c.dst):len(c.dst)]
}

// writeRaw writes a value from its in-memory form.
func (c *cursor) writeRaw(raw json.RawMessage) {
	if c.isAsWritten(raw) {
		c.dst = append(c.dst, raw...)
		return
	}
	doc, err := jsontext.ParseStrict(raw)
	if err != nil {
		c.found = append(c.found, textViolation(c.pointer(), err))
		c.write("null")
		return
	}
	c.value(doc.Root())
}

// isAsWritten reports whether a value in memory is written unchanged, like most. Such a value is canonical and contains
// nothing that could be special, an array index or a text in pieces.
func (c *cursor) isAsWritten(raw []byte) bool {
	if !canon.Canonical(raw) || bytes.IndexByte(raw, '$') >= 0 || c.form == inFile && mayHavePieces(raw) {
		return false
	}
	for i := 0; c.form != inCore; i++ {
		n := bytes.IndexByte(raw[i:], '"')
		if i += n + 1; n < 0 || i == len(raw) {
			break
		}
		if raw[i] >= '0' && raw[i] <= '9' {
			return false
		}
	}
	return true
}

// order returns the comparison of names for the current form.
func (c *cursor) order() func(a, b string) int {
	switch c.form {
	case inMemory, inCore:
		return jsontext.CompareNames[string]
	case asSealed:
		return textOrder
	}
	return fileOrder
}

// value appends v in the current form.
func (c *cursor) value(v jsontext.Value) {
	switch {
	case v.IsObject():
		c.valueObject(v)
	case v.IsArray():
		c.write("[")
		for i, e := range v.Elements() {
			c.comma(i)
			c.element(i)
			c.value(e)
			c.leave()
			if c.form == asSealed && len(c.dst) >= spillMost {
				c.hashed()
			}
		}
		c.write("]")
	case v.IsString():
		c.valueText(v)
	case v.NumberKind() != jsontext.NotNumber:
		c.valueNumber(v)
	default:
		c.dst = append(c.dst, v.Raw()...)
	}
}

// spillMost limits how much of a sealed record is in memory before it is hashed, so that a long record is not in memory
// twice.
const spillMost = 64 << 10

// hashed hashes the output so far.
func (c *cursor) hashed() {
	if c.sum == nil {
		c.sum = sha256.New()
	}
	c.sum.Write(c.dst)
	c.dst = c.dst[:0]
}

// writeLong appends a text that is written unchanged. When sealing, a long text is hashed without being copied.
func (c *cursor) writeLong(raw []byte) {
	if c.form != asSealed || len(raw) < spillMost {
		c.dst = append(c.dst, raw...)
		return
	}
	c.hashed()
	c.sum.Write(raw)
}

func (c *cursor) valueText(v jsontext.Value) {
	if c.form == inFile && mayHavePieces(v.Raw()) {
		text, _ := v.Text() // the text was parsed strictly
		if pieces := Split(text); len(pieces) > 1 {
			c.write(`{"$text":`)
			c.writeStrings(pieces)
			c.write("}")
			return
		}
	}
	if raw := v.Raw(); !v.Escaped() || canon.Canonical(raw) {
		c.writeLong(raw)
		return
	}
	text, _ := v.Text()
	c.writeText(text)
}

func (c *cursor) valueObject(v jsontext.Value) {
	first := len(c.members)
	for name, value := range v.Members() {
		c.members = append(c.members, member{name: name, value: value})
	}
	all := c.members[first:]
	if len(all) == 1 && c.form != asSealed {
		if dollars, kind := special(all[0].name); kind != "" {
			c.members = c.members[:first]
			c.valueSpecial(all[0], dollars, kind)
			return
		}
	}
	order := c.order()
	byName := func(a, b member) int { return order(a.name, b.name) }
	if !slices.IsSortedFunc(all, byName) {
		inorder.By(all, byName)
	}
	c.write("{")
	for i := range len(all) {
		m := c.members[first+i]
		c.comma(i)
		c.writeText(m.name)
		c.write(":")
		c.enter(m.name)
		c.value(m.value)
		c.leave()
	}
	c.write("}")
	c.members = c.members[:first]
}

// special returns the number of $ before the word, number or text, that makes a name special.
func special(name string) (dollars int, kind string) {
	rest := strings.TrimLeft(name, "$")
	if dollars = len(name) - len(rest); dollars > 0 && (rest == "number" || rest == "text") {
		return dollars, rest
	}
	return 0, ""
}

// valueSpecial appends an object with a single member m, whose name is special.
func (c *cursor) valueSpecial(m member, dollars int, kind string) {
	switch {
	case !c.reading():
		m.name = "$" + m.name
	case dollars > 1:
		m.name = m.name[1:]
	case kind == "number":
		if number, ok := keptNumber(m.value); ok {
			c.write(number)
		} else {
			c.report(RuleNumber, "must be a string with a number that does not fit a float64", m.name)
			c.write("null")
		}
		return
	default:
		text := ""
		c.enter(m.name)
		if c.at = m.value; c.at.IsArray() {
			text = c.joined()
		} else {
			c.mismatch("an array of the pieces of a text")
		}
		c.leave()
		c.writeText(text)
		return
	}
	c.writeMembers([]string{m.name}, func(string) { c.value(m.value) })
}

func (c *cursor) valueNumber(v jsontext.Value) {
	raw := v.Raw()
	if v.NumberKind() == jsontext.PlainNumber {
		c.dst = append(c.dst, raw...)
		return
	}
	text, err := canon.JSON(raw)
	switch {
	case err == nil:
		c.dst = append(c.dst, text...)
	case c.form == inMemory, c.form == asSealed:
		c.report(RuleNumber, notFitting(string(raw)))
		c.dst = append(c.dst, raw...)
	default:
		c.write(`{"$number":`)
		c.writeText(string(raw))
		c.write("}")
	}
}

func notFitting(number string) string {
	return `does not fit a float64: it must be kept as {"$number":` + strconv.QuoteToASCII(jsontext.Excerpt(number)) + "}"
}

// keptNumber returns the number in v, the member of a kept number.
func keptNumber(v jsontext.Value) (string, bool) {
	text, _ := v.Text() // not a number unless it is a string
	end, kind := jsontext.Number([]byte(text), 0)
	if kind == jsontext.NotNumber || end < len(text) {
		return "", false
	}
	_, err := canon.JSON([]byte(text))
	return text, err != nil
}

// number is the current number, of any size (design R1).
func (c *cursor) number(n *json.Number) {
	if !c.reading() {
		c.writeNumber(*n)
		return
	}
	number, ok := c.at.Number()
	kept, isKept := keptNumber(c.at.Member("$number"))
	switch {
	case ok && c.at.NumberKind() != jsontext.PlainNumber && canonicalNumber(*number) == "":
		c.report(RuleNumber, notFitting(string(*number)))
	case ok:
		*n = *number
	case isKept && c.at.Len() == 1:
		*n = json.Number(kept)
	default:
		c.mismatch(`a number, or {"$number":"…"} with one that a float64 does not hold`)
	}
}

func (c *cursor) writeNumber(n json.Number) {
	end, kind := jsontext.Number([]byte(n), 0)
	if kind == jsontext.NotNumber || end < len(n) {
		c.reportf(RuleType, "must be a number, is %q", jsontext.Excerpt(string(n)))
		return
	}
	c.writeRaw([]byte(n))
}

// canonicalNumber returns the ECMAScript spelling of n; empty if it does not fit a float64.
func canonicalNumber(n json.Number) string {
	text, _ := canon.JSON([]byte(n))
	return string(text)
}
