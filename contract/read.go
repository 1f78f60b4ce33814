package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

// A reader reads the JSON of the contract's types and collects all that is wrong with it.
type reader struct {
	path  []string
	found []Violation
}

// A reading reads one value.
type reading[T any] func(r *reader, raw json.RawMessage, v *T)

// unmarshal makes *v what data says; what names its type for errors. A text that is not JSON, or
// that has a member twice, is one violation; of any other all are found.
func unmarshal[T any](what string, data []byte, v *T, read reading[T]) error {
	text, err := canon.KeepNumbers(data)
	if err == nil {
		text, err = canon.RestoreNumbers(text) // numbers of any size as they are
	}
	if err != nil {
		found := Violation{Rule: ruleJSON, Message: err.Error()}
		var at *canon.Error
		if errors.As(err, &at) {
			found.Pointer, found.Message = at.Pointer, at.Err.Error()
		}
		return newError(what, found)
	}
	var r reader
	var got T
	read(&r, text, &got)
	if r.found != nil {
		return newError(what, r.found...)
	}
	*v = got
	return nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func (r *reader) report(rule, format string, args ...any) {
	r.found = append(r.found, Violation{r.pointer(), rule, fmt.Sprintf(format, args...)})
}

// pointer returns the RFC 6901 pointer of the value at hand.
func (r *reader) pointer() string {
	var pointer strings.Builder
	for _, token := range r.path {
		pointer.WriteString("/" + pointerEscapes.Replace(token))
	}
	return pointer.String()
}

// in reads a value one level down.
func (r *reader) in(token string, read func()) {
	r.path = append(r.path, token)
	read()
	r.path = r.path[:len(r.path)-1]
}

// want reports a value that does not begin as its type does. All texts are canonical, so the first
// byte tells.
func (r *reader) want(raw json.RawMessage, first byte, kind string) bool {
	if raw[0] == first {
		return true
	}
	r.report(ruleType, "must be %s, is %s", kind, kindOf(raw))
	return false
}

func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

func readText(r *reader, raw json.RawMessage, v *string) {
	if r.want(raw, '"', "a text") {
		*v = textOf(raw)
	}
}

// textOf returns the text of a JSON string.
func textOf(raw json.RawMessage) (text string) {
	_ = json.Unmarshal(raw, &text) // is one
	return text
}

// readWord reads a text that says something.
func readWord(r *reader, raw json.RawMessage, v *string) {
	readText(r, raw, v)
	if raw[0] == '"' && strings.TrimSpace(*v) == "" {
		r.report(ruleBlank, "must not be blank")
	}
}

// readName reads a text without which nothing can start.
func readName(r *reader, raw json.RawMessage, v *string) {
	readText(r, raw, v)
	if raw[0] == '"' && strings.TrimSpace(*v) == "" {
		r.report(ruleMissing, "is blank")
	}
}

func readBool(r *reader, raw json.RawMessage, v *bool) {
	if *v = string(raw) == "true"; !*v && string(raw) != "false" {
		r.report(ruleType, "must be a boolean, is %s", kindOf(raw))
	}
}

// readNat reads a natural number, which canonical JSON writes with digits alone.
func readNat(r *reader, raw json.RawMessage, v *uint64) {
	const most = 1 << 53 // beyond, a float64 has gaps
	n, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil || n > most {
		is := kindOf(raw)
		if is == "a number" {
			is = string(raw)
		}
		r.report(ruleType, "must be a natural number of at most %d, is %s", uint64(most), is)
	}
	*v = n
}

func readHash(r *reader, raw json.RawMessage, v *canon.Hash) {
	if !r.want(raw, '"', "a hash") {
		return
	}
	if *v = canon.Hash(textOf(raw)); !v.Valid() {
		r.report(ruleHash, "must be sha256: and 64 lower-case hexadecimal digits, is %q", string(*v))
	}
}

var decimalText = regexp.MustCompile(`^[+-]?(\d+)(\.\d+)?([eE][+-]?\d+)?$`)

func readDecimal(r *reader, raw json.RawMessage, v *Decimal) {
	if !r.want(raw, '"', "a decimal as a text") {
		return
	}
	if *v = Decimal(textOf(raw)); !decimalText.MatchString(string(*v)) {
		r.report(ruleDecimal, "must be a decimal such as 0.2 or 1e-3, is %q", string(*v))
	}
}

func readRaw(_ *reader, raw json.RawMessage, v *json.RawMessage) { *v = raw }

// listOf reads a list. An empty one is not nil: nil is an option that is not set.
func listOf[T any](read reading[T]) reading[[]T] {
	return func(r *reader, raw json.RawMessage, v *[]T) {
		var elements []json.RawMessage
		if !r.want(raw, '[', "a list") || json.Unmarshal(raw, &elements) != nil {
			return
		}
		*v = make([]T, len(elements))
		for i, element := range elements {
			r.in(strconv.Itoa(i), func() { read(r, element, &(*v)[i]) })
		}
	}
}

func mapOf[T any](read reading[T]) reading[map[string]T] {
	return func(r *reader, raw json.RawMessage, v *map[string]T) {
		var members map[string]json.RawMessage
		if !r.want(raw, '{', "an object") || json.Unmarshal(raw, &members) != nil {
			return
		}
		*v = make(map[string]T, len(members))
		for _, name := range slices.Sorted(maps.Keys(members)) {
			var value T
			r.in(name, func() { read(r, members[name], &value) })
			(*v)[name] = value
		}
	}
}

// A field is one member of a record.
type field struct {
	name     string
	required bool
	read     func(*reader, json.RawMessage)
}

// required is a member that must be there, and not null.
func required[T any](name string, v *T, read reading[T]) field {
	return field{name, true, func(r *reader, raw json.RawMessage) { read(r, raw, v) }}
}

// option is a member that may be null or absent.
func option[T any](name string, v **T, read reading[T]) field {
	return field{name, false, func(r *reader, raw json.RawMessage) {
		*v = new(T)
		read(r, raw, *v)
	}}
}

// optional is an option whose type has a nil of its own.
func optional[T any](name string, v *T, read reading[T]) field {
	return field{name, false, func(r *reader, raw json.RawMessage) { read(r, raw, v) }}
}

// record reads an object with these members and no others.
func (r *reader) record(raw json.RawMessage, fields ...field) {
	var members map[string]json.RawMessage
	if !r.want(raw, '{', "an object") || json.Unmarshal(raw, &members) != nil {
		return
	}
	for _, f := range fields {
		value, ok := members[f.name]
		delete(members, f.name)
		switch null := string(value) == "null"; {
		case ok && !null:
			r.in(f.name, func() { f.read(r, value) })
		case f.required && null:
			r.in(f.name, func() { r.report(ruleMissing, "must not be null") })
		case f.required:
			r.in(f.name, func() { r.report(ruleMissing, "is required") })
		}
	}
	for name := range members {
		r.in(name, func() { r.report(ruleUnknown, "is no member of this type") })
	}
}

// variant reads {"$tag":…,"$value":…}, the form that the contract's sum types have. values are the
// readings of the tags; nil is a tag without a value.
func (r *reader) variant(raw json.RawMessage, values map[string]func(*reader, json.RawMessage)) (tag string) {
	var value json.RawMessage
	r.record(raw, required("$tag", &tag, readText), optional("$value", &value, readRaw))
	if tag == "" {
		return ""
	}
	read, ok := values[tag]
	switch {
	case !ok:
		r.in("$tag", func() {
			r.report(ruleChoice, "must be one of %s, is %q", strings.Join(slices.Sorted(maps.Keys(values)), ", "), tag)
		})
	case read == nil && value != nil:
		r.in("$value", func() { r.report(ruleUnknown, "%s has no value", tag) })
	case read != nil && value == nil:
		r.in("$value", func() { r.report(ruleMissing, "is required with %s", tag) })
	case read != nil:
		r.in("$value", func() { read(r, value) })
	}
	return tag
}
