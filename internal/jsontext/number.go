package jsontext

import (
	"bytes"
	"math"
	"strconv"
)

// A NumberKind is what the spelling of a number tells about its canonical form (RFC 8785).
type NumberKind uint8

// The kinds of numbers. The zero value is not a number.
const (
	NotNumber        NumberKind = iota
	PlainNumber                 // in canonical form
	IntegerNumber               // only digits, too many to be plain
	FractionalNumber            // with a fraction or an exponent
)

// exactDigits is the number of significant decimal digits that a float64 always keeps (DBL_DIG in C). A decimal with at
// most that many digits is the shortest spelling of its float64.
const exactDigits = 15

// Number returns the end and the kind of the number that starts at src[i] (RFC 8259 section 6). If there is none, end
// is the offending position.
func Number(src []byte, i int) (end int, kind NumberKind) {
	start := i
	if i < len(src) && src[i] == '-' {
		i++
	}
	first := i
	i = skipDigits(src, i)
	digits := i - first
	if digits == 0 || digits > 1 && src[first] == '0' {
		return i, NotNumber
	}
	kind, zero := PlainNumber, src[first] == '0'
	if digits > exactDigits || zero && first > start { // -0 is canonical only before a fraction
		kind = IntegerNumber
	}

	if i < len(src) && src[i] == '.' {
		point := i + 1
		i = skipDigits(src, point)
		if i == point {
			return i, NotNumber
		}
		kind = FractionalNumber
		if isPlainFraction(src[point:i], digits, zero) {
			kind = PlainNumber
		}
	}
	if i < len(src) && (src[i] == 'e' || src[i] == 'E') {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		exponent := i
		i = skipDigits(src, i)
		if i == exponent {
			return i, NotNumber
		}
		kind = FractionalNumber
	}
	return i, kind
}

// isPlainFraction reports whether a number without exponent is in canonical form, as far as its digits are few enough
// to tell. fraction are the digits after the point, digits is the number of digits before it, and zero says that these
// are a single 0.
func isPlainFraction(fraction []byte, digits int, zero bool) bool {
	tiny := zero && bytes.HasPrefix(fraction, []byte("000000")) // ECMAScript uses an exponent below 1e-6
	return !tiny && fraction[len(fraction)-1] != '0' && digits+len(fraction) <= exactDigits
}

func skipDigits(src []byte, i int) int {
	for i < len(src) && '0' <= src[i] && src[i] <= '9' {
		i++
	}
	return i
}

// AppendFloat appends f, which must be finite, in the form of ECMAScript (RFC 8785 section 3.2.2.3).
func AppendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // also for -0
	}
	if abs := math.Abs(f); 1e-6 <= abs && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes at least two digits of exponent: 1e-07 for 1e-7.
	if n := len(dst); dst[n-2] == '0' && dst[n-4] == 'e' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
