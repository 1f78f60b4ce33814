package canon

import (
	"errors"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// An [Error] wraps one of these, for callers that branch on the kind of error.
var (
	// ErrSyntax means that the text is not one JSON value (RFC 8259).
	ErrSyntax = jsontext.ErrSyntax
	// ErrEncoding means that a string is not valid UTF-8 or contains a lone surrogate (RFC 8785 section 3.2.2.2).
	ErrEncoding = jsontext.ErrEncoding
	// ErrDuplicate means that an object has two members with the same name (RFC 7493 section 2.3).
	ErrDuplicate = jsontext.ErrDuplicate
	// ErrDepth means that arrays and objects are nested deeper than [MaxDepth].
	ErrDepth = jsontext.ErrDepth
	// ErrNumber means that a number does not fit a float64: it is out of range, or an integer that would be rounded.
	// [KeepNumbers] keeps such numbers.
	ErrNumber = errors.New("number does not fit a float64")
	// ErrKept means that an object looks like a kept number, but [KeepNumbers] would not write it.
	ErrKept = errors.New("not a kept number")
)

// An Error reports where and why a text is not acceptable, by Offset and Pointer (RFC 6901). Err is one of this
// package's sentinel errors. If a text breaks several rules, the error reports one of them.
type Error = jsontext.Error
