package canon

import (
	"fmt"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A numberPolicy says what to do with numbers that do not fit a float64.
type numberPolicy uint8

const (
	rejectNumbers  numberPolicy = iota // they are an error
	keepNumbers                        // write them as kept numbers
	restoreNumbers                     // they are an error, but kept numbers are restored
)

// appendNumber appends the canonical form of a number of the given kind. The error wraps
// ErrNumber if the number does not fit a float64.
func appendNumber(dst, text []byte, kind jsontext.NumberKind) ([]byte, error) {
	if kind == jsontext.PlainNumber {
		return append(dst, text...), nil
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil { // the grammar was checked, so it is out of range
		return dst, fmt.Errorf("%w: %s is out of range", ErrNumber, jsontext.Excerpt(string(text)))
	}
	if kind == jsontext.IntegerNumber {
		// The digits of the canonical form, even if that has an exponent.
		var buf [320]byte
		if digits := strconv.AppendFloat(buf[:0], f, 'f', -1, 64); string(digits) != string(text) {
			return dst, fmt.Errorf("%w: integer %s would become %s", ErrNumber, jsontext.Excerpt(string(text)), digits)
		}
	}
	return jsontext.AppendFloat(dst, f), nil
}
