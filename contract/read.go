package contract

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A reader reads the JSON of the contract's types and collects all that is wrong with it.
type reader struct {
	path  []string
	found violations
}

// A reading reads one value.
type reading[T any] func(r *reader, v jsontext.Value, dst *T)

// unmarshal makes *dst what data says; what names its type for errors. A text that is not JSON, or
// that has a member twice, is one violation; of any other all are found.
func unmarshal[T any](what string, data []byte, dst *T, read reading[T]) error {
	doc, err := jsontext.ParseStrict(bytes.Clone(data)) // is the caller's
	if err != nil {
		if at, ok := err.(*jsontext.Error); ok {
			return wrong(what, at.Pointer, ruleJSON, "%v", at.Err)
		}
		return wrong(what, "", ruleJSON, "%v", err)
	}
	var r reader
	var got T
	read(&r, doc.Root(), &got)
	if r.found != nil {
		return newError(what, r.found...)
	}
	*dst = got
	return nil
}

func (r *reader) report(rule, format string, args ...any) {
	r.found.add(jsontext.PointerTo(r.path...), rule, format, args...)
}

// in reads a value one level down.
func (r *reader) in(token string, read func()) {
	r.path = append(r.path, token)
	read()
	r.path = r.path[:len(r.path)-1]
}

// want reports a value of another kind.
func (r *reader) want(v jsontext.Value, kind string) bool {
	if v.Kind() == kind {
		return true
	}
	r.report(ruleType, "must be %s, is %s", kind, v.Kind())
	return false
}

// text returns the characters of a string; what names what it should be.
func (r *reader) text(v jsontext.Value, what string) (text string, ok bool) {
	if text, ok = v.Text(); !ok { // there are no lone surrogates
		r.report(ruleType, "must be %s, is %s", what, v.Kind())
	}
	return text, ok
}

func readText(r *reader, v jsontext.Value, dst *string) { *dst, _ = r.text(v, "a text") }

// readWord reads a text that says something.
func readWord(r *reader, v jsontext.Value, dst *string) {
	readSaying(r, v, dst, ruleBlank, "must not be blank")
}

// readName reads a text without which nothing can start.
func readName(r *reader, v jsontext.Value, dst *string) {
	readSaying(r, v, dst, ruleMissing, "is blank")
}

func readSaying(r *reader, v jsontext.Value, dst *string, rule, problem string) {
	var ok bool
	if *dst, ok = r.text(v, "a text"); ok && strings.TrimSpace(*dst) == "" {
		r.report(rule, "%s", problem)
	}
}

func readBool(r *reader, v jsontext.Value, dst *bool) {
	if r.want(v, "a boolean") {
		*dst = string(v.Raw()) == "true"
	}
}

// readNat reads a natural number, however it is spelled.
func readNat(r *reader, v jsontext.Value, dst *uint64) {
	const most = 1 << 53 // beyond, a float64 has gaps
	n, ok := natural(v.Raw())
	if !ok || n > most {
		is := v.Kind()
		if is == "a number" {
			is = string(v.Raw())
		}
		r.report(ruleType, "must be a natural number of at most %d, is %s", uint64(most), is)
	}
	*dst = n
}

// natural returns the value of a natural number, 1e2 as well as 100.
func natural[T ~string | ~[]byte](number T) (uint64, bool) {
	text, err := canon.JSON([]byte(number))
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	return n, err == nil
}

func readHash(r *reader, v jsontext.Value, dst *canon.Hash) {
	text, ok := r.text(v, "a hash")
	if *dst = canon.Hash(text); ok && !dst.Valid() {
		r.report(ruleHash, "must be sha256: and 64 lower-case hexadecimal digits, is %q", string(*dst))
	}
}

var decimalText = regexp.MustCompile(`^[+-]?(\d+)(\.\d+)?([eE][+-]?\d+)?$`)

func readDecimal(r *reader, v jsontext.Value, dst *Decimal) {
	text, ok := r.text(v, "a decimal as a text")
	if *dst = Decimal(text); ok && !decimalText.MatchString(text) {
		r.report(ruleDecimal, "must be a decimal such as 0.2 or 1e-3, is %q", string(*dst))
	}
}

func readObject(r *reader, v jsontext.Value, dst *json.RawMessage) {
	if r.want(v, "an object") {
		*dst = slices.Clone(v.Raw())
	}
}

// listOf reads a list. An empty one is not nil: nil is an option that is not set.
func listOf[T any](read reading[T]) reading[[]T] {
	return func(r *reader, v jsontext.Value, dst *[]T) {
		if !r.want(v, "a list") {
			return
		}
		*dst = make([]T, v.Len())
		for i, element := range v.Elements() {
			r.in(strconv.Itoa(i), func() { read(r, element, &(*dst)[i]) })
		}
	}
}

func mapOf[T any](read reading[T]) reading[map[string]T] {
	return func(r *reader, v jsontext.Value, dst *map[string]T) {
		if !r.want(v, "an object") {
			return
		}
		*dst = make(map[string]T, v.Len())
		for name, member := range v.Members() {
			var value T
			r.in(name, func() { read(r, member, &value) })
			(*dst)[name] = value
		}
	}
}

// A field is one member of a record.
type field struct {
	name     string
	required bool
	read     func(*reader, jsontext.Value)
}

// required is a member that must be there, and not null.
func required[T any](name string, dst *T, read reading[T]) field {
	return field{name, true, func(r *reader, v jsontext.Value) { read(r, v, dst) }}
}

// option is a member that may be null or absent.
func option[T any](name string, dst **T, read reading[T]) field {
	return field{name, false, func(r *reader, v jsontext.Value) {
		*dst = new(T)
		read(r, v, *dst)
	}}
}

// optional is an option whose type has a nil of its own.
func optional[T any](name string, dst *T, read reading[T]) field {
	return field{name, false, func(r *reader, v jsontext.Value) { read(r, v, dst) }}
}

// record reads an object with these members and no others.
func (r *reader) record(v jsontext.Value, fields ...field) {
	if !r.want(v, "an object") {
		return
	}
	for _, f := range fields {
		m := v.Member(f.name)
		r.in(f.name, func() {
			switch {
			case m.Present() && !m.IsNull():
				f.read(r, m)
			case f.required && m.IsNull():
				r.report(ruleMissing, "must not be null")
			case f.required:
				r.report(ruleMissing, "is required")
			}
		})
	}
	for name := range v.Members() {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			r.in(name, func() { r.report(ruleUnknown, "is no member of this type") })
		}
	}
}

// variant reads {"$tag":…,"$value":…}, the form that the contract's sum types have. values are the
// readings of the tags; nil is a tag without a value.
func (r *reader) variant(v jsontext.Value, values map[string]func(*reader, jsontext.Value)) (tag string) {
	var value jsontext.Value
	keep := func(_ *reader, v jsontext.Value, dst *jsontext.Value) { *dst = v }
	r.record(v, required("$tag", &tag, readText), optional("$value", &value, keep))
	if tag == "" {
		return ""
	}
	read, ok := values[tag]
	switch {
	case !ok:
		r.in("$tag", func() {
			r.report(ruleChoice, "must be one of %s, is %q", strings.Join(slices.Sorted(maps.Keys(values)), ", "), tag)
		})
	case read == nil && value.Present():
		r.in("$value", func() { r.report(ruleUnknown, "%s has no value", tag) })
	case read != nil && !value.Present():
		r.in("$value", func() { r.report(ruleMissing, "is required with %s", tag) })
	case read != nil:
		r.in("$value", func() { read(r, value) })
	}
	return tag
}
