package schematest

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// airNames are LC's names of the types that package contract reads, by the functions that read them.
var airNames = map[string]string{
	"readParams": "sys/LlmGenerateParams@1", "readRuntime": "sys/LlmRuntimeArgs@1", "readToolChoice": "sys/LlmToolChoice@1",
	"readTextOrSecretRef": "sys/TextOrSecretRef@1", "readReceipt": "sys/LlmGenerateReceipt@1", "readToolCall": "sys/LlmToolCall@1",
}

const envelopeReader = "OutputEnvelope.UnmarshalJSON"

// A contractSchema is made of the functions with which package contract reads.
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
	record := func(name string) func(c *contractSchema) any {
		return func(c *contractSchema) any { return c.function(name) }
	}
	return map[string]Schema{
		"llm-params":   make(airNames["readParams"], src.comments["GenerateParams"], record("readParams")),
		"llm-receipt":  make(airNames["readReceipt"], src.comments["GenerateReceipt"], record("readReceipt")),
		"llm-envelope": make("sys/LlmOutputEnvelope@1", src.comments["OutputEnvelope"], record(envelopeReader)),
		"llm-tool-calls": make("sys/LlmToolCallList@1", src.comments["ToolCallList"], func(c *contractSchema) any {
			return arrayOf(c.reading(&ast.Ident{Name: "readToolCall"}))
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
		"params_ref": hash(), "params": c.reading(&ast.Ident{Name: "readParams"}),
		"receipt_ref": hash(), "receipt": c.reading(&ast.Ident{Name: "readReceipt"}),
		"envelope": c.define("sys/LlmOutputEnvelope@1", envelopeReader),
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

// define makes the definition of what a function reads. A pointer has slashes as ~1.
func (c *contractSchema) define(name, function string) any {
	if c.defs[name] == nil {
		c.defs[name] = Schema{}
		c.defs[name] = c.function(function)
	}
	return ref(strings.ReplaceAll(name, "/", "~1"))
}

// reading returns the schema of what a reading reads: readText, listOf(readHash).
func (c *contractSchema) reading(e ast.Expr) any {
	if call, ok := e.(*ast.CallExpr); ok {
		of := c.reading(call.Args[0])
		if named(call) == "mapOf" {
			return Schema{"type": "object", "additionalProperties": of}
		}
		require.Equal(c, "listOf", named(call))
		return arrayOf(of)
	}
	name := word(e)
	switch name {
	case "readText":
		return Schema{"type": "string"}
	case "readWord", "readName":
		return Schema{"type": "string", "pattern": `\S`}
	case "readHash":
		return hash()
	case "readNat":
		return Schema{"type": "integer", "minimum": 0, "maximum": int64(1 << 53)}
	case "readDecimal":
		return Schema{"type": "string", "pattern": c.text(c.values["decimalText"].(*ast.CallExpr).Args[0])}
	case "readKeyRef": // which refuses a literal
		key := c.reading(&ast.Ident{Name: "readTextOrSecretRef"})
		return Schema{"allOf": []any{key, Schema{"properties": Schema{"$tag": Schema{"const": "secret"}}}}}
	}
	if air := airNames[name]; air != "" {
		return c.define(air, name)
	}
	return c.function(name)
}

// function returns the schema of what a function reads: an object, or a variant of a sum type.
func (c *contractSchema) function(name string) any {
	require.Contains(c, c.funcs, name)
	f := c.funcs[name]
	if variant := first(f, "variant"); variant != nil {
		return c.variant(variant)
	}
	return c.record(first(f, "record"), typeOf(f))
}

// typeOf returns the name of the type that a function reads, or that it is a method of.
func typeOf(f *ast.FuncDecl) string {
	list := f.Type.Params.List
	if f.Recv != nil {
		list = f.Recv.List
	}
	if star, ok := list[len(list)-1].Type.(*ast.StarExpr); ok {
		return word(star.X)
	}
	return ""
}

// record returns the schema of the object that a call of record reads, with the comments of a type.
func (c *contractSchema) record(call *ast.CallExpr, of string) any {
	properties := Schema{}
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	var must []string
	for _, arg := range call.Args[1:] {
		field := arg.(*ast.CallExpr)
		name, value := c.text(field.Args[0]), c.reading(field.Args[2])
		if named(field) == "required" {
			must = append(must, name)
		} else {
			value = orNull(value)
		}
		properties[name] = described(value, c.tags[of+"."+name])
	}
	if must != nil {
		s["required"] = must
	}
	return s
}

// variant returns the schema of {"$tag":…,"$value":…}.
func (c *contractSchema) variant(call *ast.CallExpr) any {
	var all []any
	for _, e := range call.Args[1].(*ast.CompositeLit).Elts {
		pair := e.(*ast.KeyValueExpr)
		properties := Schema{"$tag": Schema{"const": c.text(c.values[word(pair.Key)])}}
		required := []string{"$tag"}
		if word(pair.Value) != "nil" {
			required = append(required, "$value")
			properties["$value"] = c.variantValue(c.body(pair.Value))
		} else {
			properties["$value"] = Schema{"type": "null"}
		}
		all = append(all, Schema{"type": "object", "additionalProperties": false, "properties": properties, "required": required})
	}
	return anyOf(all...)
}

func (c *contractSchema) variantValue(list []ast.Stmt) any {
	for _, call := range calls(list) {
		if name := named(call); name == "record" {
			return c.record(call, "")
		} else if strings.HasPrefix(name, "read") {
			return c.reading(call.Fun)
		}
	}
	require.Fail(c, "no value of a variant is known")
	return nil
}
