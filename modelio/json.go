package modelio

import (
	"bytes"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
)

// A FormatError reports where a JSON text, or a value to be written as one, violates the form that GK gives its type.
type FormatError struct {
	Type    string // the type that was read or written, in GK's terms: "message"
	Pointer string // RFC 6901 pointer to the place; empty for the complete value
	Problem string // what is wrong there
}

func (e *FormatError) Error() string {
	if e.Pointer == "" {
		return "modelio: " + e.Type + ": " + e.Problem
	}
	return "modelio: " + e.Type + ": " + jsontext.ShortPointer(e.Pointer) + ": " + e.Problem
}

// format reads and writes the types of GK.
var format = &fields.Format{
	Types: map[reflect.Type]fields.Reading{
		reflect.TypeFor[string]():      fields.As(readText),
		reflect.TypeFor[int64]():       fields.As(readInteger),
		reflect.TypeFor[int]():         fields.As(readIndex),
		reflect.TypeFor[Constrained](): fields.As(readConstrained),
	},
	Checks: map[reflect.Type]func(*fields.Faults, any){
		reflect.TypeFor[int]():  func(found *fields.Faults, i any) { checkIndex(found, int64(*i.(*int))) },
		reflect.TypeFor[Part](): func(found *fields.Faults, part any) { checkKinds(found, part.(*Part)) },
	},
	Kind:      fields.Problem{Text: "want %s, got %s"},
	Missing:   fields.Problem{Text: "required member is missing"},
	FirstOnly: true,
}

// marshal returns the JSON text of the value that value points to; what names its type for errors.
func marshal(what string, value any) ([]byte, error) {
	text, faults := format.Write(value)
	if faults != nil {
		return nil, &FormatError{what, faults[0].Pointer, faults[0].Message}
	}
	return text, nil
}

// unmarshal reads data, one JSON value, into *value; what names its type for errors. Repeated member names and lone
// surrogates, for which encoding/json drops something, are errors.
func unmarshal(what string, data []byte, value any) error {
	doc, err := jsontext.ParseStrict(bytes.Clone(data)) // data belongs to encoding/json, see [json.Unmarshaler]
	if err != nil {
		at := err.(*jsontext.Error) // the only type of error
		return &FormatError{what, at.Pointer, at.Err.Error()}
	}
	read := reflect.New(reflect.TypeOf(value).Elem())
	if faults := format.Read(doc.Root(), read.Interface()); faults != nil {
		return &FormatError{what, faults[0].Pointer, faults[0].Message}
	}
	reflect.ValueOf(value).Elem().Set(read.Elem())
	return nil
}

// readText reads a string in a list.
func readText(r *fields.Reader, v jsontext.Value, s *string) {
	if v.IsNull() {
		r.Report("", "want a value, got null")
	} else if r.Want(v, "a string") {
		*s = v.Word()
	}
}

// readInteger reads a number that is an integer in any spelling: 12, 12.0, 1.2e1.
func readInteger(r *fields.Reader, v jsontext.Value, n *int64) {
	if !r.Want(v, "a number") {
		return
	}
	digits := string(v.Raw())
	var err error
	if *n, err = strconv.ParseInt(digits, 10, 64); err == nil {
		return
	}
	const exact = 1 << 53 // a float64 represents every integer up to this
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > exact {
		r.Report("", "want an integer of 64 bits, got %s", digits)
	}
	*n = int64(f)
}

// readIndex reads the index of a candidate.
func readIndex(r *fields.Reader, v jsontext.Value, i *int) {
	var n int64
	readInteger(r, v, &n)
	checkIndex(&r.Faults, n)
	*i = int(n)
}

func checkIndex(found *fields.Faults, n int64) {
	if n < 0 || n > math.MaxInt32 {
		found.Report("", "want an index, got %d", n)
	}
}

// readConstrained reads when a model enforces a schema, which may also be a boolean.
func readConstrained(r *fields.Reader, v jsontext.Value, when *Constrained) {
	switch {
	case v.Kind() != "a boolean":
		readText(r, v, (*string)(when))
	case string(v.Raw()) == "true":
		*when = ConstrainedAll
	default:
		*when = ConstrainedNone
	}
}

// checkKinds reports a part of several kinds. Custom may be combined with another kind, as in Genkit's own schema.
func checkKinds(found *fields.Faults, p *Part) {
	var kinds []string
	add := func(kind string, has bool) {
		if has {
			kinds = append(kinds, kind)
		}
	}
	add("text", p.Text != nil)
	add("media", p.Media != nil)
	add("toolRequest", p.ToolRequest != nil)
	add("toolResponse", p.ToolResponse != nil)
	add("reasoning", p.Reasoning != nil)
	if len(kinds) > 1 {
		found.Report("", "a part is of one kind, not %s", strings.Join(kinds, " and "))
	}
}
