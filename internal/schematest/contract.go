package schematest

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/traceforge/traceforge-go/canon"
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
func contractTypes(t *testing.T) *tagged {
	saying := Schema{"type": "string", "pattern": `\S`}
	c := &tagged{source: sourceOf(t, "contract"), defs: Schema{}, names: airNames}
	name := Schema{"type": "object", "additionalProperties": false, "required": []string{"name"}, "properties": Schema{"name": saying}}
	c.types = map[reflect.Type]func() any{
		reflect.TypeFor[canon.Hash](): func() any { return hash() },
		reflect.TypeFor[uint64](): func() any {
			return Schema{"type": "integer", "minimum": 0, "maximum": int64(1 << 53)}
		},
		reflect.TypeFor[contract.Decimal](): func() any {
			return Schema{"type": "string", "pattern": c.pattern("decimalText")}
		},
		reflect.TypeFor[contract.ToolChoice](): func() any {
			return anyOf(variant(contract.ChoiceAuto, nil), variant(contract.ChoiceNone, nil),
				variant(contract.ChoiceRequired, nil), variant(contract.ChoiceTool, name))
		},
		reflect.TypeFor[contract.TextOrSecretRef](): func() any {
			return anyOf(variant("literal", Schema{"type": "string"}), variant("secret", c.of(reflect.TypeFor[contract.SecretRef]())))
		},
	}
	c.readings = map[string]func(any) any{
		"name": func(any) any { return saying }, "word": func(any) any { return saying },
		"key": func(key any) any { // which is no literal
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

// Contract returns the schemas of the call contract, by the names of their files. A schema that LC names has its
// name.
func Contract(t *testing.T) map[string]Schema {
	t.Helper()
	make := func(title, about string, root func(c *tagged) any) Schema {
		c := contractTypes(t)
		s := c.root(root(c))
		s["title"], s["description"] = title, c.comments[about]
		return s
	}
	record := func(t reflect.Type) Schema {
		return make(airNames[t], t.Name(), func(c *tagged) any { return c.object(t) })
	}
	return map[string]Schema{
		"llm-params":   record(reflect.TypeFor[contract.GenerateParams]()),
		"llm-receipt":  record(reflect.TypeFor[contract.GenerateReceipt]()),
		"llm-envelope": record(reflect.TypeFor[contract.OutputEnvelope]()),
		"llm-tool-calls": make("sys/LlmToolCallList@1", "ToolCallList", func(c *tagged) any {
			return c.of(reflect.TypeFor[contract.ToolCallList]())
		}),
		"llm-call": make("A recorded call in the terms of the call contract, as traceforge show --receipt prints it", "", recordedCall),
	}
}

// Journal returns the schema of a journal of recorded calls.
func Journal(t *testing.T, title string) Schema {
	t.Helper()
	c := contractTypes(t)
	c.defs["call"] = recordedCall(c)
	return c.root(Schema{
		"title": title, "type": "object", "additionalProperties": false, "required": []string{"calls"},
		"properties": Schema{"calls": arrayOf(ref("call"))},
	})
}

// recordedCall returns the schema of a recorded call, with the comments of its type.
func recordedCall(c *tagged) any {
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
