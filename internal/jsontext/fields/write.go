package fields

import (
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Write returns the JSON text of the value that v points to, or what is wrong with it.
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
	switch kind, raw := v.Kind(), rawMembers(v); {
	case raw != nil:
		w.members(spelled(*raw))
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

// string writes a string. It refuses bytes that are not UTF-8, because they would be read back as a different text.
func (w *writer) string(s string) {
	if !utf8.ValidString(s) {
		w.Report("", "string is not UTF-8")
	}
	w.text = jsontext.AppendText(w.text, s)
}

// raw writes a value as it is spelled. The value must be readable again.
func (w *writer) raw(text json.RawMessage) {
	if _, err := jsontext.ParseStrict(text); err != nil {
		at := err.(*jsontext.Error) // the only type of error
		w.ReportBelow(at.Pointer, "", at.Err.Error())
	}
	w.text = append(w.text, text...)
}

func (w *writer) list(v reflect.Value) {
	w.text = append(w.text, '[')
	for i := range v.Len() {
		w.text = jsontext.AppendComma(w.text, i)
		w.In(strconv.Itoa(i), func() { w.value(v.Index(i)) })
	}
	w.text = append(w.text, ']')
}

// object writes the members of a struct, including unknown members. A field that is set takes precedence over an
// unknown member with its name. A required field is written even if it is zero, unless there is such a member.
func (w *writer) object(v reflect.Value) {
	o := w.format.object(v.Type())
	all := map[string]reflect.Value{}
	if o.unknown >= 0 {
		all = spelled(*rawMembers(v.Field(o.unknown)))
	}
	for i := range o.members {
		m := &o.members[i]
		value := v.Field(m.Field.Index[0])
		if _, unknown := all[m.Name]; !value.IsZero() || m.Required && !unknown {
			all[m.Name] = value
		}
	}
	w.members(all)
	w.check(v)
}

// spelled returns members that are written as they are spelled.
func spelled(raw map[string]json.RawMessage) map[string]reflect.Value {
	all := map[string]reflect.Value{}
	for name, text := range raw {
		all[name] = reflect.ValueOf(&text).Elem()
	}
	return all
}

// members writes members sorted by name.
func (w *writer) members(all map[string]reflect.Value) {
	w.text = append(w.text, '{')
	for i, name := range inorder.Names(all) {
		w.text = jsontext.AppendComma(w.text, i)
		w.In(name, func() {
			w.string(name)
			w.text = append(w.text, ':')
			w.value(all[name])
		})
	}
	w.text = append(w.text, '}')
}
