package jsontext

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// An [Error] wraps one of these, for callers that branch on the kind of error.
var (
	// ErrSyntax means that the text is not one JSON value (RFC 8259).
	ErrSyntax = errors.New("invalid JSON")
	// ErrEncoding means that a string is not valid UTF-8, or contains a lone surrogate where it must not have one (RFC
	// 8785 section 3.2.2.2). A text with bytes that are not UTF-8 is [ErrSyntax] too.
	ErrEncoding = errors.New("invalid Unicode")
	// ErrDuplicate means that an object has two members with the same name (RFC 7493 section 2.3).
	ErrDuplicate = errors.New("duplicate member name")
	// ErrDepth means that arrays and objects are nested deeper than [MaxDepth].
	ErrDepth = errors.New("nested too deep")
)

// An Error reports where and why a text is not acceptable. If a text breaks several rules, the error reports one of
// them.
type Error struct {
	Offset  int64  // bytes before the offending position
	Pointer string // RFC 6901 pointer to the innermost value that contains it; empty for the complete text
	Err     error  // wraps a sentinel error of this package or of package canon
}

func (e *Error) Error() string {
	at := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar // so that names cannot control the terminal
	}, cmp.Or(ShortPointer(e.Pointer), "top level"))
	return fmt.Sprintf("%s: offset %d: %v", at, e.Offset, e.Err)
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// Within adds token, which names a member or element, to the front of the pointer of err, an error within that value.
// It returns any other error unchanged.
func Within(token string, err error) error {
	if e, ok := err.(*Error); ok {
		e.Pointer = PointerTo(token) + e.Pointer
	}
	return err
}

// Excerpt shortens s for a message: texts may come from anywhere, and errors end up in logs.
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

// Is reports that b is both [ErrEncoding] and [ErrSyntax].
func (invalidByte) Is(target error) bool { return target == ErrEncoding || target == ErrSyntax }
