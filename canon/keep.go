package canon

import (
	"bytes"
	"fmt"
	"strings"
)

// keptName is the name of the only member of a kept number.
const keptName = "$number"

// KeepNumbers returns the canonical form of src, as [JSON] does, but with every number that
// does not fit a float64 written as an object that keeps its text: 9223372036854775807
// becomes {"$number":"9223372036854775807"}, and 1e400 becomes {"$number":"1e400"}. All
// other numbers stay numbers, as in JSON.
//
// So that nothing else has that form, an object of src whose only member is named $number,
// $$number, and so on, has one more $ put before that name. Two texts share a result only if
// they differ in nothing but white space, order of members, escapes, and the spelling of
// numbers that fit (design R1).
//
// The errors are those of JSON without [ErrNumber]. A kept number is one level of nesting.
func KeepNumbers(src []byte) ([]byte, error) {
	if Canonical(src) && !mentionsKept(src) {
		return bytes.Clone(src), nil
	}
	return canonicalize(src, keepNumbers)
}

// RestoreNumbers is the inverse of [KeepNumbers]: it returns the canonical form of src, but
// with kept numbers as the numbers they were, spelled as they were. With these the result is
// no text that [JSON] takes. The errors are those of JSON and [ErrKept], for an object
// that looks like a kept number but is none that KeepNumbers writes.
func RestoreNumbers(src []byte) ([]byte, error) {
	if Canonical(src) && !mentionsKept(src) {
		return bytes.Clone(src), nil
	}
	return canonicalize(src, restoreNumbers)
}

// mentionsKept reports whether src, which is canonical, may have a member whose name ends
// in $number.
func mentionsKept(src []byte) bool {
	return bytes.Contains(src, []byte(keptName+`":`))
}

// appendKept appends the number text as a kept number.
func appendKept(dst, text []byte) []byte {
	dst = append(dst, `{"`+keptName+`":"`...)
	dst = append(dst, text...)
	return append(dst, `"}`...)
}

// closeSingle is closeObject for an object with one member, m, where numbers are kept or
// restored.
func (r *rewriter) closeSingle(start int, m member) error {
	dollars, ok := strings.CutSuffix(string(m.name), keptName)
	if !ok || strings.Trim(dollars, "$") != "" {
		return nil
	}
	switch {
	case r.policy == keepNumbers:
		r.move(start, []member{m}, 1)
	case dollars != "":
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

// appendMember appends the member that s spans in r.dst, with dollar as in a move.
func (r *rewriter) appendMember(out []byte, s span, dollar int) []byte {
	switch {
	case dollar > 0:
		out = append(out, `"$`...)
		s.start += len(`"`)
	case dollar < 0:
		out = append(out, '"')
		s.start += len(`"$`)
	}
	return r.appendArranged(out, s)
}
