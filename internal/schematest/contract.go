package schematest

import (
	"go/ast"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
)

// airNames are LC's names of the types of package contract.
var airNames = map[reflect.Type]string{
	reflect.TypeFor[contract.GenerateParams]():  "sys/LlmGenerateParams@1",
	reflect.TypeFor[contract.RuntimeArgs]():     "sys/LlmRuntimeArgs@1",
	reflect.TypeFor[contract.ToolChoice]():      "sys/LlmToolChoice@1",
	reflect.TypeFor[contract.TextOrSecretRef](): "sys/TextOrSecretRef@1",
	reflect.TypeFor[contract.GenerateReceipt](): "sys/LlmGenerateReceipt@1",
	reflect.TypeFor[contract.OutputEnvelope]():  "sys/LlmOutputEnvelope@1",
	reflect.TypeFor[contract.ToolCall]():        "sys/LlmToolCall@1",
}

// A contractSchema is made of the types that package contract reads, as their tags say.
type contractSchema struct {
	*source
	defs Schema
}

// Contract returns the schemas of the call contract, by the names of their files. Those that LC names have its names.
func Contract(t *testing.T) map[string]Schema {
	t.Helper()
	src := sourceOf(t, "contract")
	make := func(title, about string, root func(c *contractSchema) any) Schema {
		c := &contractSchema{src, Schema{}}
		s := c.root(root(c))
		s["title"], s["description"] = title, about
		return s
	}
	record := func(t reflect.Type) Schema {
		return make(airNames[t], src.comments[t.Name()], func(c *contractSchema) any { return c.object(t) })
	}
	return map[string]Schema{
		"llm-params":   record(reflect.TypeFor[contract.GenerateParams]()),
		"llm-receipt":  record(reflect.TypeFor[contract.GenerateReceipt]()),
		"llm-envelope": record(reflect.TypeFor[contract.OutputEnvelope]()),
		"llm-tool-calls": make("sys/LlmToolCallList@1", src.comments["ToolCallList"], func(c *contractSchema) any {
			return c.of(reflect.TypeFor[contract.ToolCallList]())
		}),
		"llm-call": make("A recorded call in the terms of the call contract, as traceforge show --receipt prints it", "", recordedCall),
	}
}

// Journal returns the schema of a journal of recorded calls.
func Journal(t *testing.T, title string) Schema {
	t.Helper()
	c := &contractSchema{sourceOf(t, "contract"), Schema{}}
	c.defs["call"] = recordedCall(c)
	return c.root(Schema{
		"title": title, "type": "object", "additionalProperties": false, "required": []string{"calls"},
		"properties": Schema{"calls": arrayOf(ref("call"))},
	})
}

// recordedCall returns the schema of a recorded call, with the comments of its type.
func recordedCall(c *contractSchema) any {
	text := Schema{"type": "string", "minLength": 1}
	properties := Schema{
		"call": text, "run_id": orNull(text), "step_id": orNull(text), "config_hash": orNull(hash()),
		"params_ref": hash(), "params": c.of(reflect.TypeFor[contract.GenerateParams]()),
		"receipt_ref": hash(), "receipt": c.of(reflect.TypeFor[contract.GenerateReceipt]()),
		"envelope": c.of(reflect.TypeFor[contract.OutputEnvelope]()),
	}
	for name, value := range properties {
		properties[name] = described(value, c.tags["Recorded."+name])
	}
	return Schema{"type": "object", "additionalProperties": false, "required": slices.Sorted(maps.Keys(properties)), "properties": properties}
}

// root returns s with the definitions that it needs.
func (c *contractSchema) root(s any) Schema {
	root := s.(Schema)
	if len(c.defs) > 0 {
		root["$defs"] = c.defs
	}
	return root
}

// of returns the schema of a type, by a reference where LC names it. A pointer has slashes as ~1.
func (c *contractSchema) of(t reflect.Type) any {
	name := airNames[t]
	if name == "" {
		return c.value(t)
	}
	if c.defs[name] == nil {
		c.defs[name] = Schema{}
		c.defs[name] = c.value(t)
	}
	return ref(strings.ReplaceAll(name, "/", "~1"))
}

func (c *contractSchema) value(t reflect.Type) any {
	switch t {
	case reflect.TypeFor[canon.Hash]():
		return hash()
	case reflect.TypeFor[contract.Decimal]():
		return Schema{"type": "string", "pattern": c.text(c.values["decimalText"].(*ast.CallExpr).Args[0])}
	case reflect.TypeFor[contract.ToolChoice]():
		name := Schema{"type": "object", "additionalProperties": false, "required": []string{"name"}, "properties": Schema{"name": saying}}
		return anyOf(variant(contract.ChoiceAuto, nil), variant(contract.ChoiceNone, nil), variant(contract.ChoiceRequired, nil),
			variant(contract.ChoiceTool, name))
	case reflect.TypeFor[contract.TextOrSecretRef]():
		return anyOf(variant("literal", Schema{"type": "string"}), variant("secret", c.of(reflect.TypeFor[contract.SecretRef]())))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.of(t.Elem())
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Uint64:
		return Schema{"type": "integer", "minimum": 0, "maximum": int64(1 << 53)}
	case reflect.Slice:
		return arrayOf(c.of(t.Elem()))
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": c.of(t.Elem())}
	case reflect.Struct:
		return c.object(t)
	}
	require.Fail(c, "no schema of this type is known", "%v", t)
	return nil
}

// saying is a text that is not blank.
var saying = Schema{"type": "string", "pattern": `\S`}

// object returns the schema of a struct.
func (c *contractSchema) object(t reflect.Type) any {
	properties := Schema{}
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	var must []string
	members, _ := fields.Members(t)
	for _, m := range members {
		value := c.of(m.Field.Type)
		switch m.Is {
		case "name", "word":
			value = saying
		case "key": // which is no literal
			value = Schema{"allOf": []any{value, Schema{"properties": Schema{"$tag": Schema{"const": "secret"}}}}}
		}
		if m.Required {
			must = append(must, m.Name)
		} else {
			value = orNull(value)
		}
		properties[m.Name] = described(value, c.tags[t.Name()+"."+m.Name])
	}
	if must != nil {
		s["required"] = must
	}
	return s
}

// variant returns the schema of {"$tag":…,"$value":…}; value is nil for a tag without one.
func variant(tag string, value any) any {
	properties, required := Schema{"$tag": Schema{"const": tag}, "$value": value}, []string{"$tag", "$value"}
	if value == nil {
		properties["$value"], required = Schema{"type": "null"}, required[:1]
	}
	return Schema{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
}
