package modelio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
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

// pointer returns the RFC 6901 pointer of path.
func pointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	return b.String()
}

// A jsonReader walks a JSON text that json.Valid has accepted, so that it has to look only
// for what encoding/json lets pass: repeated member names and lone surrogates, both of which
// encoding/json resolves by dropping something.
type jsonReader struct {
	data  []byte
	off   int
	path  []string
	names [][]byte // names seen in the objects that are open, innermost last
}

// readJSON makes *value what data, one JSON value, says; what names its type for errors.
func readJSON[T any](what string, data []byte, value *T, read func(*jsonReader, *T) (bool, error)) error {
	var v T
	r, err := newJSONReader(data)
	if err == nil {
		_, err = read(r, &v)
	}
	if err != nil {
		err := err.(*FormatError) // the reader makes no other
		err.Type = what
		return err
	}
	*value = v
	return nil
}

func newJSONReader(data []byte) (*jsonReader, error) {
	if !json.Valid(data) {
		err := json.Unmarshal(data, new(any))
		return nil, &FormatError{Problem: fmt.Sprintf("not JSON: %v", err)}
	}
	if !utf8.Valid(data) {
		return nil, &FormatError{Problem: "not UTF-8"}
	}
	r := &jsonReader{data: data}
	r.space()
	return r, nil
}

func (r *jsonReader) errorf(format string, args ...any) error {
	return &FormatError{Pointer: pointer(r.path), Problem: fmt.Sprintf(format, args...)}
}

func (r *jsonReader) space() {
	for r.off < len(r.data) && strings.IndexByte(" \t\r\n", r.data[r.off]) >= 0 {
		r.off++
	}
}

// kind names the kind of the value at hand, for messages.
func (r *jsonReader) kind() string {
	switch r.data[r.off] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// want fails unless the value at hand begins with first.
func (r *jsonReader) want(first byte, kind string) error {
	if r.data[r.off] != first {
		return r.errorf("want %s, got %s", kind, r.kind())
	}
	return nil
}

// object reads an object that must have the required members. For each member it calls field,
// which reads the value and reports true, or reports false wherever it stopped: then the
// member is kept in unknown.
func (r *jsonReader) object(unknown *Object, required []string, field func(name string) (bool, error)) error {
	if err := r.want('{', "an object"); err != nil {
		return err
	}
	return r.members(required, func(name string) error {
		start := r.off
		known, err := field(name)
		if err != nil || known {
			return err
		}
		r.off = start
		value, err := r.raw()
		if err != nil {
			return err
		}
		if *unknown == nil {
			*unknown = Object{}
		}
		(*unknown)[name] = value
		return nil
	})
}

// members calls member with each name of the object at hand; member reads the value.
func (r *jsonReader) members(required []string, member func(name string) error) error {
	base := len(r.names)
	r.off++ // {
	for r.space(); r.data[r.off] != '}'; r.space() {
		if r.data[r.off] == ',' {
			r.off++
			r.space()
		}
		name, err := r.str()
		if err != nil {
			return err
		}
		r.names = append(r.names, name)
		r.space()
		r.off++ // :
		r.space()
		r.path = append(r.path, string(name))
		if err := member(string(name)); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
	r.off++ // }
	names := r.names[base:]
	slices.SortFunc(names, bytes.Compare)
	for i := 1; i < len(names); i++ {
		if bytes.Equal(names[i-1], names[i]) {
			r.path = append(r.path, string(names[i]))
			return r.errorf("member appears twice")
		}
	}
	for _, name := range required {
		if !slices.ContainsFunc(names, func(b []byte) bool { return string(b) == name }) {
			r.path = append(r.path, name)
			return r.errorf("required member is missing")
		}
	}
	r.names = r.names[:base]
	return nil
}

// elements calls element at each value of the list at hand, to read it.
func (r *jsonReader) elements(element func() error) error {
	r.off++ // [
	for i := 0; ; i++ {
		r.space()
		if r.data[r.off] == ']' {
			r.off++
			return nil
		}
		if r.data[r.off] == ',' {
			r.off++
			r.space()
		}
		r.path = append(r.path, strconv.Itoa(i))
		if err := element(); err != nil {
			return err
		}
		r.path = r.path[:len(r.path)-1]
	}
}

// raw returns a copy of the value at hand as it is spelled.
func (r *jsonReader) raw() (json.RawMessage, error) {
	start := r.off
	if err := r.skip(); err != nil {
		return nil, err
	}
	return bytes.Clone(r.data[start:r.off]), nil
}

func (r *jsonReader) skip() error {
	switch r.data[r.off] {
	case '{':
		return r.members(nil, func(string) error { return r.skip() })
	case '[':
		return r.elements(r.skip)
	case '"':
		_, err := r.str()
		return err
	}
	r.off += r.scalar()
	return nil
}

// scalar returns the length of the number, boolean or null at hand.
func (r *jsonReader) scalar() int {
	n := bytes.IndexAny(r.data[r.off:], ",]} \t\r\n")
	if n < 0 {
		return len(r.data) - r.off
	}
	return n
}

// str reads a string. Its result may share memory with the text.
func (r *jsonReader) str() ([]byte, error) {
	start, plain := r.off+1, true
	for r.off = start; r.data[r.off] != '"'; r.off++ {
		if r.data[r.off] != '\\' {
			continue
		}
		plain = false
		r.off++
		if r.data[r.off] != 'u' {
			continue
		}
		switch unit := r.unit(r.off); {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return nil, r.errorf("string holds a lone surrogate")
		case unit >= 0xD800 && unit <= 0xDBFF:
			low := r.off + 6
			if r.data[low-1] != '\\' || r.data[low] != 'u' || r.unit(low)&^0x3FF != 0xDC00 {
				return nil, r.errorf("string holds a lone surrogate")
			}
			r.off = low
		}
		r.off += 4
	}
	r.off++ // "
	if plain {
		return r.data[start : r.off-1], nil
	}
	var s string
	if err := json.Unmarshal(r.data[start-1:r.off], &s); err != nil {
		return nil, r.errorf("%v", err) // unreachable: the text is valid JSON
	}
	return []byte(s), nil
}

// unit returns the UTF-16 code unit that the escape with its u at off spells.
func (r *jsonReader) unit(off int) uint64 {
	unit, _ := strconv.ParseUint(string(r.data[off+1:off+5]), 16, 16) // json.Valid has seen four hex digits
	return unit
}

// The read functions below read a member's value into a field. They report false, so that
// the member goes to Unknown, where the field could not tell the value from an absent one:
// null, and the field's zero value spelled out.

// readRequired reads a string whose member is always written, also when it is empty.
func readRequired[T ~string](r *jsonReader, field *T) (bool, error) {
	if r.data[r.off] == 'n' {
		return false, nil
	}
	if err := r.want('"', "a string"); err != nil {
		return false, err
	}
	s, err := r.str()
	*field = T(s)
	return true, err
}

// readString reads a string whose member is written unless it is empty.
func readString[T ~string](r *jsonReader, field *T) (bool, error) {
	known, err := readRequired(r, field)
	return known && *field != "", err
}

// readOptional reads a value that may be absent, with read.
func readOptional[T any](r *jsonReader, field **T, read func(*jsonReader, *T) (bool, error)) (bool, error) {
	if r.data[r.off] == 'n' {
		return false, nil
	}
	*field = new(T)
	return read(r, *field)
}

func readBool(r *jsonReader, field *bool) (bool, error) {
	switch r.data[r.off] {
	case 't':
		*field = true
	case 'f':
		*field = false
	default:
		return false, r.errorf("want a boolean, got %s", r.kind())
	}
	r.off += r.scalar()
	return true, nil
}

// readTrue reads a boolean whose member is written only if it is true.
func readTrue(r *jsonReader, field *bool) (bool, error) {
	if r.data[r.off] == 'n' {
		return false, nil
	}
	known, err := readBool(r, field)
	return known && *field, err
}

func readRaw(r *jsonReader, field *json.RawMessage) (bool, error) {
	raw, err := r.raw()
	*field = raw
	return true, err
}

func readObject(r *jsonReader, field *Object) (bool, error) {
	if r.data[r.off] == 'n' {
		return false, nil
	}
	*field = Object{}
	return true, r.object(field, nil, func(string) (bool, error) { return false, nil })
}

// readInt reads a number that is an integer however it is spelled: 12, 12.0, 1.2e1.
func readInt(r *jsonReader, field *int64) (bool, error) {
	if c := r.data[r.off]; c != '-' && (c < '0' || c > '9') {
		return false, r.errorf("want a number, got %s", r.kind())
	}
	text := string(r.data[r.off : r.off+r.scalar()])
	r.off += len(text)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		const exact = 1 << 53 // up to here a float64 holds every integer
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
			return false, r.errorf("want an integer of 64 bits, got %s", text)
		}
		n = int64(f)
	}
	*field = n
	return true, nil
}

// readList reads a list of values, each with read. An empty list is not nil.
func readList[T any](r *jsonReader, field *[]T, read func(*jsonReader, *T) (bool, error)) (bool, error) {
	if r.data[r.off] == 'n' {
		return false, nil
	}
	if err := r.want('[', "a list"); err != nil {
		return false, err
	}
	*field = []T{}
	return true, r.elements(func() error {
		var v T
		known, err := read(r, &v)
		if err == nil && !known {
			err = r.errorf("want a value, got null")
		}
		*field = append(*field, v)
		return err
	})
}

// readIndex reads a candidate's index, which is written unless it is zero.
func readIndex(r *jsonReader, field *int) (bool, error) {
	if r.data[r.off] == 'n' {
		return false, nil
	}
	var n int64
	if _, err := readInt(r, &n); err != nil {
		return false, err
	}
	if n < 0 || n > math.MaxInt32 {
		return false, r.errorf("want an index, got %d", n)
	}
	*field = int(n)
	return n != 0, nil
}
