package schematest

import (
	"maps"
	"reflect"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
)

// A tagged makes schemas of types that package fields reads, as their tags say. The comments of fields say what members
// mean.
type tagged struct {
	*source
	defs     Schema
	names    map[reflect.Type]string     // of definitions
	types    map[reflect.Type]func() any // schemas of types that have readings of their own
	readings map[string]func(any) any    // the schemas of readings that tags name, given those of the types
	more     map[reflect.Type]Schema     // what readings ask of structs besides
}

// root returns s with the definitions that it needs.
func (g *tagged) root(s any) Schema {
	root := s.(Schema)
	if len(g.defs) > 0 {
		root["$defs"] = g.defs
	}
	return root
}

// of returns the schema of a type: a reference where the type has a name. A pointer has slashes as ~1.
func (g *tagged) of(t reflect.Type) any {
	name := g.names[t]
	if name == "" {
		return g.value(t)
	}
	if g.defs[name] == nil {
		g.defs[name] = Schema{}
		g.defs[name] = g.value(t)
	}
	return ref(strings.ReplaceAll(name, "/", "~1"))
}

func (g *tagged) value(t reflect.Type) any {
	if own := g.types[t]; own != nil {
		return own()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return Schema{"type": "integer"}
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
func (g *tagged) object(t reflect.Type) any {
	properties := Schema{}
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	var must []string
	members, _ := fields.Members(t)
	for _, m := range members {
		value := g.of(m.Field.Type)
		if reading := g.readings[m.Is]; reading != nil {
			value = reading(value)
		}
		switch {
		case m.Required:
			must = append(must, m.Name)
		case !m.Omitted:
			value = orNull(value)
		}
		properties[m.Name] = described(value, g.comments[t.Name()+"."+m.Field.Name])
	}
	if must != nil {
		s["required"] = must
	}
	maps.Copy(s, g.more[t])
	return s
}
