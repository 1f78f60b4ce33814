package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
	"github.com/traceforge/traceforge-go/modelio"
)

// format reads the JSON of the contract's types, and reports everything that is wrong with it.
var format = &fields.Format{
	Types: map[reflect.Type]fields.Reading{
		reflect.TypeFor[string]():          fields.As(readText),
		reflect.TypeFor[uint64]():          fields.As(readNat),
		reflect.TypeFor[canon.Hash]():      fields.As(readHash),
		reflect.TypeFor[Decimal]():         fields.As(readDecimal),
		reflect.TypeFor[json.RawMessage](): fields.As(readObject),
		reflect.TypeFor[jsontext.Value]():  fields.As(keepValue),
		reflect.TypeFor[ToolChoice]():      fields.As(readToolChoice),
		reflect.TypeFor[TextOrSecretRef](): fields.As(readTextOrSecretRef),
		reflect.TypeFor[content]():         fields.As(readContent),
		reflect.TypeFor[modelio.Part]():    fields.As(readPart),
		reflect.TypeFor[modelio.Object]():  fields.As(readMetadata),
		reflect.TypeFor[modelio.Role]():    fields.As(readRole),
		reflect.TypeFor[tool]():            fields.As(readTool),
	},
	Named: map[string]fields.Reading{
		"word": fields.As(saying(ruleBlank, "must not be blank")),
		"name": fields.As(saying(ruleMissing, "is blank")), // required for any call
		"key":  fields.As(readKeyRef),
	},
	Checks:  map[reflect.Type]func(*fields.Faults, any){reflect.TypeFor[ResponseFormat](): checkResponseFormat},
	Kind:    fields.Problem{Rule: ruleType, Text: "must be %s, is %s"},
	Missing: fields.Problem{Rule: ruleMissing, Text: "is required"},
	Null:    fields.Problem{Rule: ruleMissing, Text: "must not be null"},
	Unknown: func(r *fields.Reader, _ string, _ []string) { r.Report(ruleUnknown, "is no member of this type") },
}

// unmarshal reads data into *dst; what names its type for errors. A text that is not JSON, or that has a repeated
// member, is one violation. For any other text all violations are reported, including the known ones.
func unmarshal[T any](what string, data []byte, dst *T, known ...modelio.Violation) error {
	doc, err := jsontext.ParseStrict(bytes.Clone(data)) // data belongs to the caller
	if err != nil {
		at := err.(*jsontext.Error) // the only type of error
		return wrong(what, at.Pointer, ruleJSON, "%v", at.Err)
	}
	var got T
	for _, fault := range format.Read(doc.Root(), &got) {
		known = append(known, modelio.Violation(fault))
	}
	if known != nil {
		return newError(what, known...)
	}
	*dst = got
	return nil
}

// text returns the characters of a string; what describes the expected value.
func text(r *fields.Reader, v jsontext.Value, what string) (text string, ok bool) {
	if text, ok = v.Text(); !ok { // lone surrogates have been refused
		r.Report(ruleType, "must be %s, is %s", what, v.Kind())
	}
	return text, ok
}

func readText(r *fields.Reader, v jsontext.Value, dst *string) { *dst, _ = text(r, v, "a text") }

// saying returns a reader for a text that must not be blank, and reports one that is.
func saying(rule, problem string) func(*fields.Reader, jsontext.Value, *string) {
	return func(r *fields.Reader, v jsontext.Value, dst *string) {
		var ok bool
		if *dst, ok = text(r, v, "a text"); ok && strings.TrimSpace(*dst) == "" {
			r.Report(rule, "%s", problem)
		}
	}
}

// readNat reads a natural number in any spelling.
func readNat(r *fields.Reader, v jsontext.Value, dst *uint64) {
	n, ok := natural(v.Raw())
	if !ok {
		is := v.Kind()
		if is == "a number" {
			is = string(v.Raw())
		}
		r.Report(ruleType, "must be a natural number of at most %d, is %s", uint64(maxNatural), is)
	}
	*dst = n
}

// maxNatural is the largest natural number of the contract: above it, a float64 has gaps.
const maxNatural = 1 << 53

// natural returns the value of a natural number, such as 100 or 1e2.
func natural[T ~string | ~[]byte](number T) (uint64, bool) {
	text, err := canon.JSON([]byte(number))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	return n, err == nil && n <= maxNatural
}

func readHash(r *fields.Reader, v jsontext.Value, dst *canon.Hash) {
	hash, ok := text(r, v, "a hash")
	if *dst = canon.Hash(hash); ok && !dst.Valid() {
		r.Report(ruleHash, "must be sha256: and 64 lower-case hexadecimal digits, is %q", hash)
	}
}

var decimalText = regexp.MustCompile(`^[+-]?(\d+)(\.\d+)?([eE][+-]?\d+)?$`)

func readDecimal(r *fields.Reader, v jsontext.Value, dst *Decimal) {
	decimal, ok := text(r, v, "a decimal as a text")
	if *dst = Decimal(decimal); ok && !decimalText.MatchString(decimal) {
		r.Report(ruleDecimal, "must be a decimal such as 0.2 or 1e-3, is %q", decimal)
	}
}

func readObject(r *fields.Reader, v jsontext.Value, dst *json.RawMessage) {
	if r.Want(v, "an object") {
		*dst = slices.Clone(v.Raw())
	}
}

func keepValue(_ *fields.Reader, v jsontext.Value, dst *jsontext.Value) { *dst = v }

// readVariant reads {"$tag":…,"$value":…}, the form of the contract's sum types. values maps each tag to the
// destination of its value, or to nil for a tag without a value.
func readVariant(r *fields.Reader, v jsontext.Value, values map[string]any) (tag string) {
	var variant struct {
		Tag   string          `json:"$tag"`
		Value *jsontext.Value `json:"$value"`
	}
	if r.Value(v, &variant); !v.Member("$tag").IsString() { // reported already
		return ""
	}
	value, ok := values[variant.Tag]
	switch {
	case !ok:
		r.In("$tag", func() {
			r.Report(ruleChoice, "must be one of %s, is %q", strings.Join(slices.Sorted(maps.Keys(values)), ", "), variant.Tag)
		})
	case value == nil && variant.Value != nil:
		r.In("$value", func() { r.Report(ruleUnknown, "%s has no value", variant.Tag) })
	case value != nil && variant.Value == nil:
		r.In("$value", func() { r.Report(ruleMissing, "is required with %s", variant.Tag) })
	case value != nil:
		r.In("$value", func() { r.Value(*variant.Value, value) })
	}
	return variant.Tag
}
