package schematest

import (
	"cmp"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
)

const module = "github.com/traceforge/traceforge-go/"

// Types makes schemas of what encoding/json makes of Go values. The comments of fields say what members mean.
type Types struct {
	t       *testing.T
	defs    Schema
	sources map[string]*source
}

// Answer returns the schema of an answer that has one of the types of the values.
func Answer(t *testing.T, title string, values ...any) Schema {
	t.Helper()
	g := &Types{t, Schema{}, map[string]*source{}}
	var all []any
	for _, v := range values {
		all = append(all, g.of(reflect.TypeOf(v)))
	}
	root := Schema{"anyOf": all}
	if len(all) == 1 {
		name := strings.TrimPrefix(all[0].(Schema)["$ref"].(string), "#/$defs/")
		root = g.defs[name].(Schema)
		delete(g.defs, name)
	}
	if title != "" {
		root["title"] = title
	}
	if len(g.defs) > 0 {
		root["$defs"] = g.defs
	}
	return root
}

// of returns the schema of a type.
func (g *Types) of(t reflect.Type) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case reflect.TypeFor[canon.Hash]():
		return hash()
	case reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return Schema{}
	case reflect.TypeFor[[]byte]():
		return Schema{"type": "string", "contentEncoding": "base64"}
	}
	require.False(g.t, t.Implements(reflect.TypeFor[json.Marshaler]()), "%v has a JSON of its own", t)
	switch t.Kind() {
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Slice:
		return arrayOf(g.of(t.Elem()))
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": g.of(t.Elem())}
	case reflect.Struct:
		return g.object(t)
	}
	require.Fail(g.t, "no schema of this type is known", "%v", t)
	return nil
}

// object returns a reference to the definition of a struct.
func (g *Types) object(t reflect.Type) any {
	name := strings.TrimPrefix(t.String(), "main.") // those of other packages have these in front
	if g.defs[name] != nil {
		return ref(name)
	}
	properties, required := Schema{}, []string{}
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	g.defs[name] = s
	g.fields(t, properties, &required)
	if len(required) > 0 {
		s["required"] = required
	}
	return ref(name)
}

// fields adds the members that fields are, and those of embedded structs.
func (g *Types) fields(t reflect.Type, properties Schema, required *[]string) {
	for f := range fieldsOf(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			g.fields(of, properties, required)
			continue
		case name == "-" || !f.IsExported():
			continue
		}
		name = cmp.Or(name, f.Name)
		s := g.of(f.Type)
		if options != "omitempty" {
			*required = append(*required, name)
			if f.Type.Kind() == reflect.Pointer {
				s = orNull(s)
			}
		}
		properties[name] = described(s, g.comment(t, f.Name))
	}
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func (g *Types) comment(t reflect.Type, field string) string {
	dir := strings.TrimPrefix(t.PkgPath(), module)
	if g.sources[dir] == nil {
		g.sources[dir] = sourceOf(g.t, dir)
	}
	return g.sources[dir].comments[t.Name()+"."+field]
}
