package contract_test

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/docs/schemas"
)

// TestSchemasAreLC compares the published schemas with LC's types in testdata/air.json: the same names, the same
// members, the same options.
func TestSchemasAreLC(t *testing.T) {
	data, err := os.ReadFile("testdata/air.json")
	require.NoError(t, err)
	var air map[string]any
	require.NoError(t, json.Unmarshal(data, &air))

	published := map[string]any{}
	for _, file := range []string{"llm-params", "llm-receipt", "llm-envelope", "llm-tool-calls"} {
		text, err := schemas.Files.ReadFile(file + ".json")
		require.NoError(t, err)
		var schema map[string]any
		require.NoError(t, json.Unmarshal(text, &schema))
		published[schema["title"].(string)] = schema
		defs, _ := schema["$defs"].(map[string]any)
		maps.Copy(published, defs)
	}
	for name, of := range air {
		require.Contains(t, published, name)
		requireAIR(t, name, of.(map[string]any), published[name].(map[string]any))
	}
}

// requireAIR compares a schema with an AIR type.
func requireAIR(t *testing.T, at string, air, schema map[string]any) {
	t.Helper()
	for kind, of := range air { // air has one member
		switch kind {
		case "record":
			required, _ := schema["required"].([]any)
			properties := schema["properties"].(map[string]any)
			require.Equal(t, false, schema["additionalProperties"], at)
			require.Len(t, properties, len(of.(map[string]any)), at)
			for name, member := range of.(map[string]any) {
				require.Contains(t, properties, name, at)
				optional, isOptional := member.(map[string]any)["option"].(map[string]any)
				property := properties[name].(map[string]any)
				if isOptional {
					require.NotContains(t, required, name, at)
					either := property["anyOf"].([]any)
					require.Equal(t, map[string]any{"type": "null"}, either[1], at)
					requireAIR(t, at+"."+name, optional, either[0].(map[string]any))
				} else {
					require.Contains(t, required, name, at)
					requireAIR(t, at+"."+name, member.(map[string]any), property)
				}
			}
		case "list":
			require.Equal(t, "array", schema["type"], at)
			requireAIR(t, at, of.(map[string]any), schema["items"].(map[string]any))
		case "map":
			require.Equal(t, "object", schema["type"], at)
			requireAIR(t, at, of.(map[string]any)["value"].(map[string]any), schema["additionalProperties"].(map[string]any))
		case "ref":
			if all, narrowed := schema["allOf"].([]any); narrowed {
				schema = all[0].(map[string]any)
			}
			require.Equal(t, "#/$defs/"+strings.ReplaceAll(of.(string), "/", "~1"), schema["$ref"], at)
		case "hash":
			require.Equal(t, `^sha256:[0-9a-f]{64}$`, schema["pattern"], at)
		case "nat":
			require.Equal(t, "integer", schema["type"], at)
			require.Zero(t, schema["minimum"], at)
		case "text", "dec128":
			require.Equal(t, "string", schema["type"], at)
		default:
			require.Fail(t, "AIR has another kind", "%s: %s", at, kind)
		}
	}
}
