package canon

import (
	"bytes"
	"fmt"
	"strings"
)

// keptName is the name of the only member of a kept number.
const keptName = "$number"

// KeepNumbers returns the canonical form of src, as [JSON] does, but with every number that does
// not fit a float64 written as an object that keeps its text: 9223372036854775807
// becomes {"$number":"9223372036854775807"}, and 1e400 becomes {"$number":"1e400"}. Numbers that
// are merely rounded, such as 0.1, stay numbers.
//
// So that no other text has that form, an object of src whose only member is named $number,
// $$number, and so on, has one more $ put before that name. Two texts
// share a result only if they differ in nothing but white space, order of members, escapes
// and the spelling of numbers that fit (design R1).
//
// The errors are those of JSON without [ErrNumber]. A kept number counts as one level of
// nesting.
func KeepNumbers(src []byte) ([]byte, error) {
	if Canonical(src) && !mentionsKept(src) {
		return bytes.Clone(src), nil
	}
	return canonicalize(src, keepNumbers)
}

// RestoreNumbers is the inverse of [KeepNumbers]: it returns the canonical form of src
// with kept numbers as the numbers they were, in the spelling they had. The result is canonical only
// if there are none. Beside the errors of [JSON] there is [ErrKept], for an object that
// looks like a kept number but is none that KeepNumbers writes.
func RestoreNumbers(src []byte) ([]byte, error) {
	if Canonical(src) && !mentionsKept(src) {
		return bytes.Clone(src), nil
	}
	return canonicalize(src, restoreNumbers)
}

// mentionsKept reports whether src, which is canonical, may have a member whose name ends in $number.
func mentionsKept(src []byte) bool {
	return bytes.Contains(src, []byte(keptName+`":`))
}

// appendKept appends the number text as a kept number.
func appendKept(dst, text []byte) []byte {
	dst = append(dst, `{"`+keptName+`":"`...)
	dst = append(dst, text...)
	return append(dst, `"}`...)
}

// closeSingle is closeObject for an object with one member, where numbers are kept or restored.
func (r *rewriter) closeSingle(start int, m member) error {
	dollars := len(m.name) - len(keptName)
	if dollars < 0 || strings.Trim(string(m.name[:dollars]), "$") != "" || string(m.name[dollars:]) != keptName {
		return nil
	}
	switch {
	case r.numbers == keepNumbers:
		r.move(start, []member{m}, +1)
	case dollars > 0:
		r.move(start, []member{m}, -1)
	default:
		text, ok := keptText(r.dst[m.span.start:m.span.end])
		if !ok {
			r.pos = m.at
			return fmt.Errorf("%w: want a string with a number that does not fit a float64", ErrKept)
		}
		r.dst = append(r.dst[:start], text...)
	}
	return nil
}

// keptText returns the number that the only member of a kept number holds.
func keptText(member []byte) (text []byte, ok bool) {
	quoted := member[len(keptName)+len(`"":`):]
	if quoted[0] != '"' {
		return nil, false
	}
	text = quoted[1 : len(quoted)-1]
	end, kind := scanNumber(text, 0)
	if end < len(text) || kind == notNumber {
		return nil, false
	}
	_, err := appendNumber(nil, text, kind)
	return text, err != nil
}

// appendMember appends the member that s spans in r.dst, with as many $ before its name as
// dollar says more or less.
func (r *rewriter) appendMember(out []byte, s span, dollar int) []byte {
	if dollar == 0 {
		return r.appendArranged(out, s)
	}
	out = append(out, '"')
	s.start++
	if dollar > 0 {
		out = append(out, '$')
	} else {
		s.start++
	}
	return r.appendArranged(out, s)
}
