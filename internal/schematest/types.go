package schematest

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
)

// A types generates schemas of Go types from their tags. Comments of fields become descriptions of members.
type types struct {
	*testing.T
	comments
	members  func(reflect.Type) []fields.Member // of structs
	names    func(reflect.Type) string          // of definitions; "" for a type without one
	own      map[reflect.Type]func() any        // schemas of types with readings of their own
	readings map[string]func(any) any           // schemas of the readings that tags name, from those of the types
	more     map[reflect.Type]Schema            // additional requirements of readings for structs
	defs     Schema
}

// tagged returns the generator for types that package fields reads.
func tagged(t *testing.T) *types {
	return &types{
		T: t, comments: comments{}, defs: Schema{}, names: func(reflect.Type) string { return "" },
		members: func(t reflect.Type) []fields.Member { all, _ := fields.Members(t); return all },
		own:     map[reflect.Type]func() any{reflect.TypeFor[canon.Hash](): func() any { return hash() }},
	}
}

// Answer returns the schema of an answer that has one of the types of the values, as encoding/json writes them.
func Answer(t *testing.T, title string, values ...any) Schema {
	t.Helper()
	g := tagged(t)
	g.own[reflect.TypeFor[time.Time]()] = func() any { return Schema{"type": "string", "format": "date-time"} }
	g.own[reflect.TypeFor[json.RawMessage]()] = func() any { return Schema{} }
	g.own[reflect.TypeFor[[]byte]()] = func() any { return Schema{"type": "string", "contentEncoding": "base64"} }
	g.members = membersOf
	g.names = func(of reflect.Type) string {
		if g.own[of] != nil {
			return ""
		}
		require.False(t, of.Implements(reflect.TypeFor[json.Marshaler]()), "%v has a JSON of its own", of)
		if of.Kind() != reflect.Struct {
			return ""
		}
		return strings.TrimPrefix(of.String(), "main.") // types of other packages have their package's name in front
	}
	var all []any
	for _, v := range values {
		all = append(all, g.of(reflect.TypeOf(v)))
	}
	root := Schema{"anyOf": all}
	if len(all) == 1 {
		name := g.names(reflect.TypeOf(values[0]))
		root = g.defs[name].(Schema)
		delete(g.defs, name)
	}
	return g.root(title, root)
}

// membersOf returns the members that encoding/json derives from the fields of a struct, including embedded ones.
func membersOf(t reflect.Type) (all []fields.Member) {
	for _, f := range reflect.VisibleFields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "-" && !(f.Anonymous && name == "") {
			omitted := option == "omitempty"
			all = append(all, fields.Member{Name: cmp.Or(name, f.Name), Field: f, Required: !omitted, Omitted: omitted})
		}
	}
	return all
}

// root returns s with a title and the definitions that it needs.
func (g *types) root(title string, s any) Schema {
	root := s.(Schema)
	root["title"] = title
	if len(g.defs) > 0 {
		root["$defs"] = g.defs
	}
	return root
}

// of returns the schema of a type: a reference if the type has a name. Slashes in a pointer are written as ~1.
func (g *types) of(t reflect.Type) any {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := g.names(t)
	if name == "" {
		return g.value(t)
	}
	if g.defs[name] == nil {
		g.defs[name] = Schema{} // the type may contain itself
		g.defs[name] = g.value(t)
	}
	return ref(strings.ReplaceAll(name, "/", "~1"))
}

func (g *types) value(t reflect.Type) any {
	if own := g.own[t]; own != nil {
		return own()
	}
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
	require.Fail(g, "no schema of this type is known", "%v", t)
	return nil
}

// object returns the schema of a struct.
func (g *types) object(t reflect.Type) Schema {
	properties := Schema{}
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	var must []string
	for _, m := range g.members(t) {
		value := g.of(m.Field.Type)
		if reading := g.readings[m.Is]; reading != nil {
			value = reading(value)
		}
		isPointer := m.Field.Type.Kind() == reflect.Pointer
		if m.Required {
			must = append(must, m.Name)
		}
		if m.Required && isPointer || !m.Required && !m.Omitted {
			value = orNull(value)
		}
		owner := t
		if embedded := m.Field.Index[:len(m.Field.Index)-1]; len(embedded) > 0 {
			owner = t.FieldByIndex(embedded).Type
		}
		properties[m.Name] = described(value, g.comment(g.T, owner, m.Field.Name))
	}
	if must != nil {
		s["required"] = must
	}
	maps.Copy(s, g.more[t])
	return s
}
