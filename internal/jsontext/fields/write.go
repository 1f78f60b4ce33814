package fields

import (
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Write returns the JSON text of what v points to, or what is wrong with it.
func (f *Format) Write(v any) ([]byte, []Fault) {
	w := writer{Faults: Faults{format: f}}
	w.value(reflect.ValueOf(v).Elem())
	return w.text, w.found
}

type writer struct {
	Faults
	text []byte
}

func (w *writer) value(v reflect.Value) {
	switch kind, members := v.Kind(), rawMembers(v); {
	case members != nil:
		w.text = append(w.text, '{')
		w.rest(len(w.text), *members, inorder.Names(*members))
		w.text = append(w.text, '}')
	case kind == reflect.Struct:
		w.object(v)
	case v.Type() == rawType:
		w.raw(v.Bytes())
	case kind == reflect.Pointer:
		w.value(v.Elem())
	case kind == reflect.Slice:
		w.list(v)
	case kind == reflect.String:
		w.string(v.String())
	case kind == reflect.Bool:
		w.text = strconv.AppendBool(w.text, v.Bool())
	case v.CanInt():
		w.text = strconv.AppendInt(w.text, v.Int(), 10)
		w.check(v)
	default:
		panic("fields: no writing of " + v.Type().String())
	}
}

// string writes a string. It refuses bytes that are not UTF-8, which would come back as other text.
func (w *writer) string(s string) {
	if !utf8.ValidString(s) {
		w.Report("", "string is not UTF-8")
	}
	w.text = jsontext.AppendText(w.text, s)
}

// raw writes a value as it is spelled, which must be one that can be read again.
func (w *writer) raw(text json.RawMessage) {
	_, err := jsontext.ParseStrict(text)
	if at, ok := err.(*jsontext.Error); ok {
		w.ReportBelow(at.Pointer, "", at.Err.Error())
	} else if err != nil {
		w.Report("", "%v", err)
	}
	w.text = append(w.text, text...)
}

func (w *writer) list(v reflect.Value) {
	w.text = append(w.text, '[')
	for i := range v.Len() {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.In(strconv.Itoa(i), func() { w.value(v.Index(i)) })
	}
	w.text = append(w.text, ']')
}

// object writes the members of a struct with those that no field has, all sorted by name. A field that is set wins
// over an unknown member of its name; one that is required is written also where it is zero, unless such a member
// stands for it.
func (w *writer) object(v reflect.Value) {
	o := w.format.object(v.Type())
	var unknown map[string]json.RawMessage
	if o.unknown >= 0 {
		unknown = *rawMembers(v.Field(o.unknown))
	}
	rest := inorder.Names(unknown)
	w.text = append(w.text, '{')
	start := len(w.text)
	for i := range o.members {
		m := &o.members[i]
		value := v.Field(m.Field.Index[0])
		if _, spelled := unknown[m.Name]; value.IsZero() && (spelled || !m.Required) {
			continue
		}
		before := 0
		for before < len(rest) && rest[before] < m.Name {
			before++
		}
		w.rest(start, unknown, rest[:before])
		if rest = rest[before:]; len(rest) > 0 && rest[0] == m.Name {
			rest = rest[1:]
		}
		w.member(start, m.Name, value)
	}
	w.rest(start, unknown, rest)
	w.text = append(w.text, '}')
	w.check(v)
}

// rest writes members as they are spelled. start is where those of their object start.
func (w *writer) rest(start int, unknown map[string]json.RawMessage, names []string) {
	for _, name := range names {
		raw := unknown[name]
		w.member(start, name, reflect.ValueOf(&raw).Elem())
	}
}

func (w *writer) member(start int, name string, value reflect.Value) {
	if len(w.text) > start {
		w.text = append(w.text, ',')
	}
	w.In(name, func() {
		w.string(name)
		w.text = append(w.text, ':')
		w.value(value)
	})
}
