package canon

import (
	"errors"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// An [Error] wraps one of these, for callers that branch on the kind of fault.
var (
	// ErrSyntax says that the text is not one JSON value (RFC 8259).
	ErrSyntax = jsontext.ErrSyntax
	// ErrEncoding says that a string is not valid UTF-8 or holds a lone surrogate
	// (RFC 8785 section 3.2.2.2).
	ErrEncoding = jsontext.ErrEncoding
	// ErrDuplicate says that an object has two members of the same name (RFC 7493
	// section 2.3).
	ErrDuplicate = jsontext.ErrDuplicate
	// ErrDepth says that arrays and objects are nested deeper than [MaxDepth].
	ErrDepth = jsontext.ErrDepth
	// ErrNumber says that a number does not fit a float64: it is out of range, or it is an
	// integer that would be rounded. [KeepNumbers] is the way out.
	ErrNumber = errors.New("number does not fit a float64")
	// ErrKept says that an object looks like a kept number but is none that
	// [KeepNumbers] writes.
	ErrKept = errors.New("not a kept number")
)

// An Error says where and why a text is not acceptable, by Offset and Pointer (RFC 6901). Err is one of this
// package's sentinel errors. It names one place, also where a text breaks several rules.
type Error = jsontext.Error
