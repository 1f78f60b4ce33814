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
	Checks map[reflect.Type]func(*Faults, any) // what holds of a value, given by pointer: of a struct that was read, of any that is written

	// What is said of values of another kind, with the kind that is wanted and the kind that is there; of required
	// members that are absent; of those that are null.
	Kind, Missing, Null Problem
	// Unknown reports a member that no field of a struct has.
	Unknown func(r *Reader, known []string)
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
	f.report(rule, "", fmt.Sprintf(format, args...))
}

func (f *Faults) report(rule, below, message string) {
	if !f.format.FirstOnly || f.found == nil {
		f.found = append(f.found, Fault{jsontext.PointerTo(f.path...) + below, rule, message})
	}
}

// Refuse notes that the value at hand is no JSON text.
func (f *Faults) Refuse(rule string, err error) {
	if at, ok := err.(*jsontext.Error); ok {
		f.report(rule, at.Pointer, at.Err.Error())
		return
	}
	f.report(rule, "", err.Error())
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

// An object is the members of a struct.
type object struct {
	members []Member
	byName  map[string]int
	unknown int // the field that keeps further members; -1: there is none
}

// A Member is a field of a struct, as its tags say.
type Member struct {
	Name     string
	Field    reflect.StructField
	Required bool // must be there
	Omitted  bool // is left out where it is zero
	Is       string
	read     Reading // nil: as its type says
}

// Members returns the members of a struct, sorted by name, and reports whether it keeps further ones.
func (f *Format) Members(t reflect.Type) (all []Member, open bool) {
	o := f.object(t)
	return o.members, o.unknown >= 0
}

func (f *Format) object(t reflect.Type) *object {
	if known, ok := f.structs.Load(t); ok {
		return known.(*object)
	}
	o := &object{unknown: -1, byName: map[string]int{}}
	for i := range t.NumField() {
		field := t.Field(i)
		tag, tagged := field.Tag.Lookup("json")
		switch is := field.Tag.Get("is"); {
		case is == "unknown":
			o.unknown = i
		case tagged:
			o.members = append(o.members, f.member(field, tag, is))
		}
	}
	inorder.By(o.members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	for i, m := range o.members {
		o.byName[m.Name] = i
	}
	f.structs.Store(t, o)
	return o
}

func (f *Format) member(field reflect.StructField, tag, is string) Member {
	name, option, _ := strings.Cut(tag, ",")
	m := Member{Name: name, Field: field, Is: is, Omitted: option == "omitzero", read: f.Named[is]}
	switch field.Type.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		m.Required = is == "required"
	default:
		m.Required = !m.Omitted
	}
	if is != "" && is != "required" && m.read == nil {
		panic("fields: there is no reading " + is)
	}
	return m
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
