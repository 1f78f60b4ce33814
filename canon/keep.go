package canon

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// keptName is the name of a kept number's only member.
const keptName = "$number"

// KeepNumbers is [JSON], except that a number that does not fit a float64 becomes an object that keeps its text. So
// 9223372036854775807 becomes {"$number":"9223372036854775807"}, and 1e400 becomes {"$number":"1e400"}. All other
// numbers stay numbers, as in JSON.
//
// To keep that form unambiguous, an object in src whose only member is named $number, $$number, and so on gets one more
// $ before that name. Two texts have the same result only if they differ in white space, order of members, escapes, and
// the spelling of numbers that fit, and in nothing else (design R1).
//
// The errors are those of JSON except [ErrNumber]. A kept number adds one level of nesting.
func KeepNumbers(src []byte) ([]byte, error) {
	return canonicalize(src, keepNumbers)
}

// RestoreNumbers is the inverse of [KeepNumbers]: it returns the canonical form of src with kept numbers in their
// original spelling. [JSON] does not accept a result that contains such numbers. The errors are those of JSON, and
// [ErrKept] for an object that looks like a kept number but that KeepNumbers would not write.
func RestoreNumbers(src []byte) ([]byte, error) {
	return canonicalize(src, restoreNumbers)
}

// single handles an object whose only member is m, when numbers are kept or restored. It either renames the member, or
// writes the kept number and reports that it did.
func (w *writer) single(v jsontext.Value, m *member) (written bool, err error) {
	dollars, ok := strings.CutSuffix(m.name, keptName)
	if !ok || strings.Trim(dollars, "$") != "" {
		return false, nil
	}
	switch {
	case w.policy == keepNumbers:
		m.name = "$" + m.name
		return false, nil
	case dollars != "":
		m.name = m.name[1:]
		return false, nil
	}
	text, _ := m.value.Text()
	end, kind := jsontext.Number([]byte(text), 0)
	if end == len(text) && kind != jsontext.NotNumber {
		if _, err := appendNumber(nil, []byte(text), kind); err != nil {
			w.dst = append(w.dst, text...)
			return true, nil
		}
	}
	return false, &Error{
		Offset: v.Offset() + 1, // after the brace
		Err:    fmt.Errorf("%w: want a string with a number that does not fit a float64", ErrKept),
	}
}
