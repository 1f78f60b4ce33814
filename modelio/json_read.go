package modelio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A FormatError says where a JSON text, or a value that is to become one, breaks the shape
// that GK gives its type.
type FormatError struct {
	Type    string // what was read or written, in GK's words: "message"
	Pointer string // RFC 6901 pointer to the place; empty: the whole
	Problem string // what is wrong there
}

func (e *FormatError) Error() string {
	if e.Pointer == "" {
		return "modelio: " + e.Type + ": " + e.Problem
	}
	return "modelio: " + e.Type + ": " + e.Pointer + ": " + e.Problem
}

// within returns err with its pointer led by token.
func within(token string, err error) error {
	if e, ok := err.(*FormatError); ok {
		e.Pointer = jsontext.PointerTo(token) + e.Pointer
	}
	return err
}

func problemf(format string, args ...any) error {
	return &FormatError{Problem: fmt.Sprintf(format, args...)}
}

// readJSON makes *value what data, one JSON value, says; what names its type for errors.
func readJSON[T any](what string, data []byte, value *T, read func(jsontext.Value, *T) (bool, error)) error {
	var v T
	root, err := parseJSON(data)
	if err == nil {
		_, err = read(root, &v)
	}
	if err != nil {
		err := err.(*FormatError) // the readers make no other
		err.Type = what
		return err
	}
	*value = v
	return nil
}

// parseJSON returns the value that data is. Member names that are repeated and lone surrogates, which
// encoding/json resolves by dropping something, are errors.
func parseJSON(data []byte) (jsontext.Value, error) {
	doc, err := jsontext.ParseStrict(data)
	if at, ok := err.(*jsontext.Error); ok {
		return jsontext.Value{}, &FormatError{Pointer: at.Pointer, Problem: at.Err.Error()}
	}
	if err != nil {
		return jsontext.Value{}, problemf("%v", err)
	}
	return doc.Root(), nil
}

func wantKind(v jsontext.Value, kind string) error {
	if v.Kind() != kind {
		return problemf("want %s, got %s", kind, v.Kind())
	}
	return nil
}

// readMembers reads an object that must have the required members. For each member it calls field,
// which reads the value and reports true, or reports false: then the member is kept in unknown.
func readMembers(
	v jsontext.Value, unknown *Object, required []string, field func(name string, m jsontext.Value) (bool, error),
) error {
	if err := wantKind(v, "an object"); err != nil {
		return err
	}
	for name, m := range v.Members() {
		known, err := field(name, m)
		if err != nil {
			return within(name, err)
		}
		if !known {
			jsontext.Keep(unknown, name, bytes.Clone(m.Raw()))
		}
	}
	for _, name := range required {
		if !v.Member(name).Present() {
			return within(name, problemf("required member is missing"))
		}
	}
	return nil
}

// The read functions below read a member's value into a field. They report false, so that
// the member goes to Unknown, where the field could not tell the value from an absent one:
// null, and the field's zero value spelled out.

// readRequired reads a string whose member is always written, also when it is empty.
func readRequired[T ~string](v jsontext.Value, field *T) (bool, error) {
	if v.IsNull() {
		return false, nil
	}
	s, ok := v.Text()
	if !ok {
		return false, wantKind(v, "a string")
	}
	*field = T(s)
	return true, nil
}

// readString reads a string whose member is written unless it is empty.
func readString[T ~string](v jsontext.Value, field *T) (bool, error) {
	known, err := readRequired(v, field)
	return known && *field != "", err
}

// readOptional reads a value that may be absent, with read.
func readOptional[T any](v jsontext.Value, field **T, read func(jsontext.Value, *T) (bool, error)) (bool, error) {
	if v.IsNull() {
		return false, nil
	}
	*field = new(T)
	return read(v, *field)
}

func readBool(v jsontext.Value, field *bool) (bool, error) {
	*field = string(v.Raw()) == "true"
	return true, wantKind(v, "a boolean")
}

// readTrue reads a boolean whose member is written only if it is true.
func readTrue(v jsontext.Value, field *bool) (bool, error) {
	if v.IsNull() {
		return false, nil
	}
	known, err := readBool(v, field)
	return known && *field, err
}

func readRaw(v jsontext.Value, field *json.RawMessage) (bool, error) {
	*field = bytes.Clone(v.Raw())
	return true, nil
}

func readObject(v jsontext.Value, field *Object) (bool, error) {
	if v.IsNull() {
		return false, nil
	}
	*field = Object{}
	return true, readMembers(v, field, nil, func(string, jsontext.Value) (bool, error) { return false, nil })
}

// readInt reads a number that is an integer however it is spelled: 12, 12.0, 1.2e1.
func readInt(v jsontext.Value, field *int64) (bool, error) {
	if err := wantKind(v, "a number"); err != nil {
		return false, err
	}
	text := string(v.Raw())
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		const exact = 1 << 53 // up to here a float64 holds every integer
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
			return false, problemf("want an integer of 64 bits, got %s", text)
		}
		n = int64(f)
	}
	*field = n
	return true, nil
}

// readList reads a list of values, each with read. An empty list is not nil.
func readList[T any](v jsontext.Value, field *[]T, read func(jsontext.Value, *T) (bool, error)) (bool, error) {
	if v.IsNull() {
		return false, nil
	}
	*field = []T{}
	for i, e := range v.Elements() {
		var element T
		known, err := read(e, &element)
		if err == nil && !known {
			err = problemf("want a value, got null")
		}
		if err != nil {
			return false, within(strconv.Itoa(i), err)
		}
		*field = append(*field, element)
	}
	return true, wantKind(v, "a list")
}

// readIndex reads a candidate's index, which is written unless it is zero.
func readIndex(v jsontext.Value, field *int) (bool, error) {
	if v.IsNull() {
		return false, nil
	}
	var n int64
	if _, err := readInt(v, &n); err != nil {
		return false, err
	}
	if n < 0 || n > math.MaxInt32 {
		return false, problemf("want an index, got %d", n)
	}
	*field = int(n)
	return n != 0, nil
}
