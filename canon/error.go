package canon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// What an [Error] wraps, for callers that branch.
var (
	// ErrSyntax says that the text is not one JSON value (RFC 8259).
	ErrSyntax = errors.New("invalid JSON")
	// ErrEncoding says that a string is not valid UTF-8 or holds a lone surrogate
	// (RFC 8785 section 3.2.2.2).
	ErrEncoding = errors.New("invalid Unicode")
	// ErrDuplicate says that an object has two members of the same name (RFC 7493
	// section 2.3).
	ErrDuplicate = errors.New("duplicate member name")
	// ErrDepth says that arrays and objects are nested deeper than [MaxDepth].
	ErrDepth = errors.New("nested too deep")
	// ErrNumber says that a number does not fit a float64: it is out of range, or it is an
	// integer that would be rounded. [KeepNumbers] is the way out.
	ErrNumber = errors.New("number does not fit a float64")
	// ErrKept says that an object looks like a kept number but is none that
	// [KeepNumbers] writes.
	ErrKept = errors.New("not a kept number")
)

// An Error says where a text is not acceptable, and why. Of a text that breaks several rules
// it names one place.
type Error struct {
	Offset  int64  // bytes before the offending place
	Pointer string // RFC 6901 pointer to the innermost value that holds it; empty: the whole text
	Err     error  // wraps one of the sentinel errors of this package
}

func (e *Error) Error() string {
	at := excerpt(e.Pointer)
	if at == "" {
		at = "top level"
	}
	at = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar // no names that command the terminal
	}, at)
	return fmt.Sprintf("%s: offset %d: %v", at, e.Offset, e.Err)
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// excerpt returns s cut to a length that does no harm in a message: texts come from
// anywhere, and errors end in logs.
func excerpt(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer joins reference tokens, innermost first, to an RFC 6901 pointer.
func pointer(tokens []string) string {
	var b strings.Builder
	for _, token := range slices.Backward(tokens) {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(token))
	}
	return b.String()
}
