package fields

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/locked"
)

// A Format is what the structs of a package have in common. Its fields must not change after its first use.
type Format struct {
	Types map[reflect.Type]Reading // how values of a type are read; the default depends on their kind
	Named map[string]Reading       // the readings that tags name
	// checks of structs that were read, and of all values that are written; called with a pointer
	Checks map[reflect.Type]func(*Faults, any)

	// The problems of a value of the wrong kind, by the wanted and the actual kind. The last is that of a required
	// member that is absent or null.
	Kind, Missing, Null Problem
	// Unknown reports a member that no field of a struct has; known are the names of the fields.
	Unknown func(r *Reader, name string, known []string)
	// FirstOnly stops at the first fault.
	FirstOnly bool

	structs locked.Map[reflect.Type, *object]
}

// A Problem is the rule and the message of a fault, as a format defines them.
type Problem struct{ Rule, Text string }

// A Reading reads a value into the variable that dst points to.
type Reading func(r *Reader, v jsontext.Value, dst any)

// As returns a reading of values of type T.
func As[T any](read func(*Reader, jsontext.Value, *T)) Reading {
	return func(r *Reader, v jsontext.Value, dst any) { read(r, v, dst.(*T)) }
}

// A Fault is one thing that is wrong.
type Fault struct {
	Pointer string // RFC 6901 pointer to the place
	Rule    string
	Message string
}

// Faults are the faults found so far, and the current place.
type Faults struct {
	format *Format
	path   []string
	found  []Fault
}

// Report adds a fault at the current place.
func (f *Faults) Report(rule, format string, args ...any) {
	f.ReportBelow("", rule, fmt.Sprintf(format, args...))
}

// ReportBelow adds a fault at a place below the current one.
func (f *Faults) ReportBelow(pointer, rule, message string) {
	if !f.format.FirstOnly || f.found == nil {
		f.found = append(f.found, Fault{jsontext.PointerTo(f.path...) + pointer, rule, message})
	}
}

// In visits a member or an element of the current value.
func (f *Faults) In(token string, visit func()) {
	f.path = append(f.path, token)
	visit()
	f.path = f.path[:len(f.path)-1]
}

// check runs the check for the type of a value, if there is one.
func (f *Faults) check(v reflect.Value) {
	if check := f.format.Checks[v.Type()]; check != nil {
		check(f, v.Addr().Interface())
	}
}

// A Member is a field of a struct, as described by its tags.
type Member struct {
	Name     string
	Field    reflect.StructField
	Required bool   // must be present
	Omitted  bool   // left out if it is zero
	Is       string // the format's reading for it; empty for its type's reading
}

// Members returns the members of a struct in the order of its fields. It also returns the index of the field for
// unknown members, or -1 if these are refused.
func Members(t reflect.Type) (all []Member, unknown int) {
	unknown = -1
	for i := range t.NumField() {
		field := t.Field(i)
		tag, tagged := field.Tag.Lookup("json")
		name, option, _ := strings.Cut(tag, ",")
		m := Member{Name: name, Field: field, Is: field.Tag.Get("is"), Omitted: option == "omitzero"}
		if m.Is == "unknown" {
			unknown = i
		}
		if !tagged || name == "-" {
			continue
		}
		switch kind := field.Type.Kind(); {
		case m.Is == "required":
			m.Required, m.Is = true, ""
		case kind != reflect.Pointer && kind != reflect.Slice && kind != reflect.Map:
			m.Required = !m.Omitted
		}
		all = append(all, m)
	}
	return all, unknown
}

// An object describes how a format reads and writes a struct.
type object struct {
	members  []Member  // sorted by name
	readings []Reading // of the members; nil for the type's reading
	unknown  int       // index of the field for unknown members, or -1
}

func (f *Format) object(t reflect.Type) *object {
	if known, ok := f.structs.Get(t); ok {
		return known
	}
	o := &object{}
	o.members, o.unknown = Members(t)
	inorder.By(o.members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range o.members {
		o.readings = append(o.readings, f.Named[m.Is])
		if m.Is != "" && f.Named[m.Is] == nil {
			panic("fields: there is no reading " + m.Is)
		}
	}
	f.structs.Add(t, o)
	return o
}

var rawType = reflect.TypeFor[json.RawMessage]()

// rawMembers returns v as a map of raw members if it has such a type, whatever the type's name; otherwise nil.
func rawMembers(v reflect.Value) *map[string]json.RawMessage {
	if t := v.Type(); t.Kind() != reflect.Map || t.Elem() != rawType || t.Key().Kind() != reflect.String {
		return nil
	}
	// reflect's Convert would take half of the time to write
	return (*map[string]json.RawMessage)(v.Addr().UnsafePointer())
}
