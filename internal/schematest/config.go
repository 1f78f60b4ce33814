package schematest

import (
	"reflect"
	"testing"

	"github.com/traceforge/traceforge-go/internal/store"
)

// Config returns the schema of config.json.
func Config(t *testing.T) Schema {
	t.Helper()
	g := tagged(t)
	g.own[reflect.TypeFor[string]()] = func() any { return Schema{"type": "string", "minLength": 1} }
	g.own[reflect.TypeFor[float64]()] = func() any { return Schema{"type": "number", "minimum": 0} }
	as := func(s Schema) func(any) any { return func(any) any { return s } }
	provider := Schema{"type": "string", "pattern": providerPattern}
	least := Schema{"type": "integer", "minimum": 1}
	g.readings = map[string]func(any) any{
		"hosts": as(
			Schema{"type": "object", "additionalProperties": provider, "propertyNames": Schema{"pattern": "^[^A-Z:/ ]+$"}}),
		"name": as(Schema{"type": "string", "pattern": "^[a-z][a-z0-9_-]*$"}),
		"true": as(Schema{"const": true}),
		"size": as(Schema{"type": "string", "pattern": `^(\d+\.?\d*|\.\d+)(GB|MB|[kK]B|B)$`}),
		"days": as(least), "tokens": as(least),
	}
	rule := func(names ...string) Schema { return Schema{"required": names, "maxProperties": len(names)} }
	g.more = map[reflect.Type]Schema{
		reflect.TypeFor[store.ScrubRule](): {"anyOf": []any{rule("name", "pattern"), rule("volatile")}},
		reflect.TypeFor[store.MaxAge]():    {"minProperties": 1},
	}
	s := g.root("The config.json of a store", g.object(reflect.TypeFor[store.Config]()))
	s["description"] = `What holds for all tests of a repository; docs/format.md has all of it under "Configuration".`
	return s
}
