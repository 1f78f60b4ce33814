package fields

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Reader reads values, and collects everything that is wrong with them.
type Reader struct{ Faults }

// Read reads v into the variable that dst points to, and returns what is wrong with v.
func (f *Format) Read(v jsontext.Value, dst any) []Fault {
	r := Reader{Faults{format: f}}
	r.Value(v, dst)
	return r.found
}

// Value reads v into the variable that dst points to, according to its type.
func (r *Reader) Value(v jsontext.Value, dst any) { r.value(v, reflect.ValueOf(dst).Elem(), nil) }

// Want reports whether v is of a kind. If not, it adds a fault.
func (r *Reader) Want(v jsontext.Value, kind string) bool {
	if v.Kind() == kind {
		return true
	}
	r.Report(r.format.Kind.Rule, r.format.Kind.Text, kind, v.Kind())
	return false
}

// value reads v with a member's reading, or else with the type's reading, or else according to the kind of the type.
func (r *Reader) value(v jsontext.Value, dst reflect.Value, read Reading) {
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		r.value(v, dst.Elem(), read)
		return
	}
	if read == nil {
		read = r.format.Types[dst.Type()]
	}
	if read != nil {
		read(r, v, dst.Addr().Interface())
		return
	}
	r.byKind(v, dst)
}

// ByKind reads v into the variable that dst points to, according to the kind of its type. It is for readings of types.
func (r *Reader) ByKind(v jsontext.Value, dst any) { r.byKind(v, reflect.ValueOf(dst).Elem()) }

func (r *Reader) byKind(v jsontext.Value, dst reflect.Value) {
	switch kind := dst.Kind(); {
	case kind == reflect.Struct:
		r.object(v, dst)
	case dst.Type() == rawType:
		dst.SetBytes(bytes.Clone(v.Raw()))
	case kind == reflect.Slice:
		r.list(v, dst)
	case kind == reflect.Map:
		r.values(v, dst)
	case kind == reflect.String:
		if r.Want(v, "a string") {
			dst.SetString(v.Word())
		}
	case kind == reflect.Bool:
		dst.SetBool(r.Want(v, "a boolean") && string(v.Raw()) == "true")
	default:
		panic("fields: no reading of " + dst.Type().String())
	}
}

// list reads a list. An empty list is not nil.
func (r *Reader) list(v jsontext.Value, dst reflect.Value) {
	if !r.Want(v, "a list") {
		return
	}
	n := v.Len()
	dst.Set(reflect.MakeSlice(dst.Type(), n, n))
	for i, element := range v.Elements() {
		r.In(strconv.Itoa(i), func() { r.value(element, dst.Index(i), nil) })
	}
}

// values reads an object with arbitrary member names into a map. An empty object is not nil.
func (r *Reader) values(v jsontext.Value, dst reflect.Value) {
	if !r.Want(v, "an object") {
		return
	}
	if raw := rawMembers(dst); raw != nil {
		*raw = map[string]json.RawMessage{}
		for name, m := range v.Members() {
			(*raw)[name] = bytes.Clone(m.Raw())
		}
		return
	}
	dst.Set(reflect.MakeMapWithSize(dst.Type(), v.Len()))
	for name, m := range v.Members() {
		value := reflect.New(dst.Type().Elem()).Elem()
		r.In(name, func() { r.value(m, value, nil) })
		dst.SetMapIndex(reflect.ValueOf(name), value)
	}
}

// object reads the members of a struct, and keeps or reports unknown members.
func (r *Reader) object(v jsontext.Value, dst reflect.Value) {
	if !r.Want(v, "an object") {
		return
	}
	o := r.format.object(dst.Type())
	taken := make(map[string]bool, len(o.members))
	for i := range o.members {
		name := o.members[i].Name
		r.In(name, func() { taken[name] = r.member(o, i, v.Member(name), dst) || o.unknown < 0 })
	}
	for name, m := range v.Members() {
		if !taken[name] {
			r.further(o, name, m, dst)
		}
	}
	r.check(dst)
}

// member reads the i-th member of a struct, and reports whether its field keeps it.
func (r *Reader) member(o *object, i int, v jsontext.Value, of reflect.Value) (taken bool) {
	m, open, null := &o.members[i], o.unknown >= 0, v.IsNull()
	switch {
	case !v.Present():
		if m.Required {
			r.Report(r.format.Missing.Rule, "%s", r.format.Missing.Text)
		}
		return false
	case null && open && m.Field.Type != rawType:
		return false
	case null && !open && m.Required:
		r.Report(r.format.Null.Rule, "%s", r.format.Null.Text)
		return true
	case null && !open && !m.Omitted:
		return true
	}
	dst := of.Field(m.Field.Index[0])
	r.value(v, dst, o.readings[i])
	return m.Required || !dst.IsZero()
}

// further keeps or reports a member that no field has.
func (r *Reader) further(o *object, name string, m jsontext.Value, dst reflect.Value) {
	if o.unknown >= 0 {
		jsontext.Keep(rawMembers(dst.Field(o.unknown)), name, bytes.Clone(m.Raw()))
		return
	}
	known := make([]string, len(o.members))
	for i, m := range o.members {
		known[i] = m.Name
	}
	r.In(name, func() { r.format.Unknown(r, name, known) })
}
