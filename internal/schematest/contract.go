package schematest

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/traceforge/traceforge-go/contract"
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

// contractTypes makes schemas of the types of package contract.
func contractTypes(t *testing.T) *types {
	saying := Schema{"type": "string", "pattern": `\S`}
	c := tagged(t)
	c.names = func(of reflect.Type) string { return airNames[of] }
	name := Schema{"type": "object", "additionalProperties": false, "required": []string{"name"},
		"properties": Schema{"name": saying}}
	maps.Copy(c.own, map[reflect.Type]func() any{
		reflect.TypeFor[uint64](): func() any {
			return Schema{"type": "integer", "minimum": 0, "maximum": int64(1 << 53)}
		},
		reflect.TypeFor[contract.Decimal](): func() any {
			return Schema{"type": "string", "pattern": `^[+-]?(\d+)(\.\d+)?([eE][+-]?\d+)?$`}
		},
		reflect.TypeFor[contract.ToolChoice](): func() any {
			return anyOf(variant(contract.ChoiceAuto, nil), variant(contract.ChoiceNone, nil),
				variant(contract.ChoiceRequired, nil), variant(contract.ChoiceTool, name))
		},
		reflect.TypeFor[contract.TextOrSecretRef](): func() any {
			return anyOf(variant("literal", Schema{"type": "string"}),
				variant("secret", c.of(reflect.TypeFor[contract.SecretRef]())))
		},
	})
	c.readings = map[string]func(any) any{
		"name": func(any) any { return saying }, "word": func(any) any { return saying },
		"key": func(key any) any { // it is not a literal
			return Schema{"allOf": []any{key, Schema{"properties": Schema{"$tag": Schema{"const": "secret"}}}}}
		},
	}
	return c
}

// variant returns the schema of {"$tag":…,"$value":…}; value is nil for a tag without one.
func variant(tag string, value any) any {
	properties, required := Schema{"$tag": Schema{"const": tag}, "$value": value}, []string{"$tag", "$value"}
	if value == nil {
		properties["$value"], required = Schema{"type": "null"}, required[:1]
	}
	return Schema{"type": "object", "additionalProperties": false, "properties": properties, "required": required}
}

// Contract returns the schemas of the call contract by file name. A schema that LC names has that name.
func Contract(t *testing.T) map[string]Schema {
	t.Helper()
	c := contractTypes(t)
	call := c.root("A recorded call in the terms of the call contract, as traceforge show --receipt prints it",
		recordedCall(c))
	call["description"] = ""
	all := map[string]Schema{"llm-call": call}
	for name, of := range map[string]reflect.Type{
		"llm-params":     reflect.TypeFor[contract.GenerateParams](),
		"llm-receipt":    reflect.TypeFor[contract.GenerateReceipt](),
		"llm-envelope":   reflect.TypeFor[contract.OutputEnvelope](),
		"llm-tool-calls": reflect.TypeFor[contract.ToolCallList](),
	} {
		c := contractTypes(t)
		all[name] = c.root(cmp.Or(airNames[of], "sys/LlmToolCallList@1"), c.value(of))
		all[name]["description"] = c.comment(t, of, "")
	}
	return all
}

// Journal returns the schema of a journal of recorded calls.
func Journal(t *testing.T, title string) Schema {
	t.Helper()
	c := contractTypes(t)
	c.defs["call"] = recordedCall(c)
	return c.root(title, listOf("calls", "call"))
}

// recordedCall returns the schema of a recorded call, in which no text is empty.
func recordedCall(c *types) any {
	c.of(reflect.TypeFor[contract.GenerateParams]())
	c.of(reflect.TypeFor[contract.GenerateReceipt]())
	c.of(reflect.TypeFor[contract.OutputEnvelope]())
	c.own[reflect.TypeFor[string]()] = func() any { return Schema{"type": "string", "minLength": 1} }
	s := c.object(reflect.TypeFor[contract.Recorded]())
	s["required"] = slices.Sorted(maps.Keys(s["properties"].(Schema)))
	return s
}
