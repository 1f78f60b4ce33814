package canon

import (
	"fmt"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// MaxDepth is how deeply arrays and objects may be nested (design R1).
const MaxDepth = jsontext.MaxDepth

// JSON returns the canonical form of src, one JSON text, in new memory. An error is an
// [*Error] that wraps one of [ErrSyntax], [ErrEncoding], [ErrDuplicate], [ErrDepth] and
// [ErrNumber].
func JSON(src []byte) ([]byte, error) {
	return canonicalize(src, rejectNumbers)
}

// Marshal returns the canonical form of the [json.Marshal] encoding of v. Its errors are those of json.Marshal and of
// [JSON]; an int64 that does not fit a float64 is [ErrNumber]. Like json.Marshal it replaces bytes of Go strings that
// are not UTF-8 with U+FFFD.
func Marshal(v any) ([]byte, error) {
	text, err := jsontext.Marshal(v)
	if err == nil && !Canonical(text) { // most structs have their fields in canonical order
		text, err = JSON(text)
	}
	if err != nil {
		return nil, fmt.Errorf("canonical JSON of %T: %w", v, err)
	}
	return text, nil
}

// SumJSON returns the hash of the canonical form of v that [Marshal] returns. To hash a JSON text, pass the result of
// [JSON] to [Sum].
func SumJSON(v any) (Hash, error) {
	text, err := Marshal(v)
	if err != nil {
		return "", err
	}
	return Sum(text), nil
}
