package canon

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// keptName is the name of the only member of a kept number.
const keptName = "$number"

// KeepNumbers is [JSON], except that a number that does not fit a float64 becomes an object that keeps its text. So
// 9223372036854775807 becomes {"$number":"9223372036854775807"}, and 1e400 becomes {"$number":"1e400"}. All other
// numbers stay numbers, as in JSON.
//
// So that nothing else has that form, an object of src whose only member is named $number,
// $$number, and so on, has one more $ put before that name. Two texts share a result only if
// they differ in nothing but white space, order of members, escapes, and the spelling of
// numbers that fit (design R1).
//
// The errors are those of JSON without [ErrNumber]. A kept number is one level of nesting.
func KeepNumbers(src []byte) ([]byte, error) {
	return canonicalize(src, keepNumbers)
}

// RestoreNumbers is the inverse of [KeepNumbers]: it returns the canonical form of src, with kept numbers as they
// were spelled. With these the result is no text that [JSON] takes. The errors are those of JSON and [ErrKept], for
// an object that looks like a kept number but is none that KeepNumbers writes.
func RestoreNumbers(src []byte) ([]byte, error) {
	return canonicalize(src, restoreNumbers)
}

// single is object for one whose only member is m, where numbers are kept or restored. It renames
// the member, or writes what it keeps and reports so.
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
		Offset: v.Offset() + 1, // behind the brace
		Err:    fmt.Errorf("%w: want a string with a number that does not fit a float64", ErrKept),
	}
}
