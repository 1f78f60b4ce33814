package jsontext

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// An [Error] wraps one of these, for callers that branch on the kind of fault.
var (
	// ErrSyntax says that the text is not one JSON value (RFC 8259).
	ErrSyntax = errors.New("invalid JSON")
	// ErrEncoding says that a string is not valid UTF-8, or holds a lone surrogate where none may be
	// (RFC 8785 section 3.2.2.2). A text with bytes that are not UTF-8 is [ErrSyntax] too.
	ErrEncoding = errors.New("invalid Unicode")
	// ErrDuplicate says that an object has two members of the same name (RFC 7493 section 2.3).
	ErrDuplicate = errors.New("duplicate member name")
	// ErrDepth says that arrays and objects are nested deeper than [MaxDepth].
	ErrDepth = errors.New("nested too deep")
)

// An Error says where a text is not acceptable, and why. It names one place, also where a text breaks several rules.
type Error struct {
	Offset  int64  // bytes before the offending place
	Pointer string // RFC 6901 pointer to the innermost value that holds it; empty means the whole text
	Err     error  // wraps one of the sentinel errors of this package, or of package canon
}

func (e *Error) Error() string {
	at := ShortPointer(e.Pointer)
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

// Within returns err, of a value below the member or element that token names, with its pointer
// led by that. Any other error stays as it is.
func Within(token string, err error) error {
	if e, ok := err.(*Error); ok {
		e.Pointer = PointerTo(token) + e.Pointer
	}
	return err
}

// Excerpt returns s cut to a length that does no harm in a message: texts come from
// anywhere, and errors end in logs.
func Excerpt(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// An invalidByte is a byte that is not UTF-8.
type invalidByte byte

func (b invalidByte) Error() string {
	return fmt.Sprintf("%v: byte %#02x is not UTF-8 here", ErrEncoding, byte(b))
}

// Is reports that b is [ErrEncoding] and [ErrSyntax].
func (invalidByte) Is(target error) bool { return target == ErrEncoding || target == ErrSyntax }
