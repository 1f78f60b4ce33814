// Package schematest generates the JSON Schemas in docs/schemas from the types whose tags the parsers use, and
// validates texts against them. The schemas of documents, manifests and sessions are written by hand. Only tests import
// it.
package schematest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/docs/schemas"
)

// A Schema is a JSON Schema, or a part of one.
type Schema = map[string]any

// base is the URL where the schemas are published.
const base = "https://github.com/traceforge/traceforge-go/blob/main/docs/schemas/"

// Golden adds the identity to s and compares it with the file of that name in docs/schemas, or writes the file with
// -update.
func Golden(t *testing.T, name string, s Schema) {
	t.Helper()
	s["$schema"], s["$id"] = "https://json-schema.org/draft/2020-12/schema", base+name+".json"
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(s))
	file := Checkout("docs/schemas/" + name + ".json")
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o666))
		return
	}
	was, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(was), b.String(),
		"docs/schemas/%s.json is not what the code says: write it with -update", name)
}

// Checkout returns the path of a file of the repository.
func Checkout(name string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", filepath.FromSlash(name))
}

var compiled sync.Map // *jsonschema.Schema by name

// Validate validates a JSON text against the schema of that name, and returns the violations; nil if it is valid.
func Validate(name string, text []byte) error {
	schema, err := compile(name)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func compile(name string) (*jsonschema.Schema, error) {
	if s, ok := compiled.Load(name); ok {
		return s.(*jsonschema.Schema), nil
	}
	text, err := schemas.Files.ReadFile(name + ".json")
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(base+name+".json", value); err != nil {
		return nil, err
	}
	s, err := compiler.Compile(base + name + ".json")
	if err == nil {
		compiled.Store(name, s)
	}
	return s, err
}

// Names returns the names of all schemas.
func Names(t *testing.T) (names []string) {
	t.Helper()
	files, err := schemas.Files.ReadDir(".")
	require.NoError(t, err)
	for _, file := range files {
		names = append(names, strings.TrimSuffix(file.Name(), ".json"))
	}
	return names
}

const (
	hashPattern     = `^sha256:[0-9a-f]{64}$`
	providerPattern = `^[a-z0-9][a-z0-9-]{0,63}$`
)

func hash() Schema       { return Schema{"type": "string", "pattern": hashPattern} }
func arrayOf(s any) any  { return Schema{"type": "array", "items": s} }
func ref(def string) any { return Schema{"$ref": "#/$defs/" + def} }
func anyOf(s ...any) any { return Schema{"anyOf": s} }

// orNull returns s, extended to accept null.
func orNull(s any) any { return anyOf(s, Schema{"type": "null"}) }

// described returns s with a description, if there is one.
func described(s any, text string) any {
	schema, ok := s.(Schema)
	if text == "" || !ok {
		return s
	}
	with := Schema{"description": text}
	maps.Copy(with, schema)
	return with
}
