package fields

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Format is what the structs of a package have in common. Its fields must not change once it is used.
type Format struct {
	Types  map[reflect.Type]Reading            // how values of a type are read; else as their kind says
	Named  map[string]Reading                  // the readings that tags name
	Checks map[reflect.Type]func(*Faults, any) // of structs that were read, of all that is written; given by pointer

	// The problems of a value of another kind, with the wanted and the actual kind, and of a required member that is
	// absent or null.
	Kind, Missing, Null Problem
	// Unknown reports a member of this name, which no field of a struct has; known are those that they have.
	Unknown func(r *Reader, name string, known []string)
	// FirstOnly says that one fault is enough.
	FirstOnly bool

	structs sync.Map // *object by reflect.Type
}

// A Problem is what can be wrong, as a format says it.
type Problem struct{ Rule, Text string }

// A Reading reads a value into what dst points to.
type Reading func(r *Reader, v jsontext.Value, dst any)

// As returns a reading of values of type T.
func As[T any](read func(*Reader, jsontext.Value, *T)) Reading {
	return func(r *Reader, v jsontext.Value, dst any) { read(r, v, dst.(*T)) }
}

// A Fault is one thing that is wrong.
type Fault struct {
	Pointer string // RFC 6901 pointer of the place
	Rule    string
	Message string
}

// Faults are what was found to be wrong so far, and the place that is looked at.
type Faults struct {
	format *Format
	path   []string
	found  []Fault
}

// Report notes a fault at the place that is looked at.
func (f *Faults) Report(rule, format string, args ...any) {
	f.ReportBelow("", rule, fmt.Sprintf(format, args...))
}

// ReportBelow notes a fault at a place that is below the one that is looked at.
func (f *Faults) ReportBelow(pointer, rule, message string) {
	if !f.format.FirstOnly || f.found == nil {
		f.found = append(f.found, Fault{jsontext.PointerTo(f.path...) + pointer, rule, message})
	}
}

// In visits a member or an element of what is looked at.
func (f *Faults) In(token string, visit func()) {
	f.path = append(f.path, token)
	visit()
	f.path = f.path[:len(f.path)-1]
}

// check runs the check of a value, if its type has one.
func (f *Faults) check(v reflect.Value) {
	if check := f.format.Checks[v.Type()]; check != nil {
		check(f, v.Addr().Interface())
	}
}

// A Member is a field of a struct, as its tags say.
type Member struct {
	Name     string
	Field    reflect.StructField
	Required bool   // must be there
	Omitted  bool   // is left out where it is zero
	Is       string // the reading of a format that reads it; empty means that of its type
}

// Members returns the members of a struct, in the order of its fields, and the field that keeps further ones; -1 where
// these are refused.
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

// An object is how a format reads and writes a struct.
type object struct {
	members  []Member  // sorted by name
	readings []Reading // of the members; nil means as the type says
	unknown  int       // the field that keeps further members; -1 means there is none
}

func (f *Format) object(t reflect.Type) *object {
	if known, ok := f.structs.Load(t); ok {
		return known.(*object)
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
	f.structs.Store(t, o)
	return o
}

var rawType = reflect.TypeFor[json.RawMessage]()

// rawMembers returns the map that v is, if it is one of members as they are spelled, whatever its type is called; else
// nil.
func rawMembers(v reflect.Value) *map[string]json.RawMessage {
	if t := v.Type(); t.Kind() != reflect.Map || t.Elem() != rawType || t.Key().Kind() != reflect.String {
		return nil
	}
	return (*map[string]json.RawMessage)(v.Addr().UnsafePointer()) // reflect's Convert takes half of the time to write
}
