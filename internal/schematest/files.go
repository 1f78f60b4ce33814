package schematest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/docs/schemas"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// Run returns the schema of the run.json of a pack (MIO §7).
func Run(t *testing.T) Schema {
	t.Helper()
	s := Answer(t, "The run.json of a run pack, version "+pack.RunVersion, pack.Run{})
	properties := s["properties"].(Schema)
	properties["run_schema_version"] = Schema{"const": pack.RunVersion}
	properties["outcome"] = Schema{"enum": []string{"pass", "fail"}}
	return s
}

// Receipt returns the schema of a line of a receipt: the result of one run of a test.
func Receipt(t *testing.T) Schema {
	t.Helper()
	s := Answer(t, "A line of a receipt, which tests leave in TRACEFORGE_RECEIPT", usage.Receipt{})
	properties := s["properties"].(Schema)
	properties["receipt"] = Schema{"const": usage.ReceiptVersion}
	properties["outcome"] = Schema{"enum": []string{"pass", "fail", "skip"}}
	return s
}

// Shown returns the schema of records in the literal form, each with the hashes of its cores.
func Shown(t *testing.T, title string) Schema {
	t.Helper()
	text, err := schemas.Files.ReadFile("document.json")
	require.NoError(t, err)
	var s Schema
	require.NoError(t, json.Unmarshal(text, &s))
	record := s["$defs"].(Schema)["record"].(Schema)
	for name, of := range map[string]string{"prompt_hash": "request", "response_hash": "response"} {
		record["properties"].(Schema)[name] = described(hash(), "of the core of the "+of)
	}
	record["required"] = append(record["required"].([]any), "prompt_hash", "response_hash")
	all := listOf("snapshots", "record")
	all["title"], all["$defs"] = title, s["$defs"]
	return all
}

// listOf returns the schema of an object with one member, a list whose items match a definition.
func listOf(name, def string) Schema {
	return Schema{"type": "object", "additionalProperties": false, "required": []string{name},
		"properties": Schema{name: arrayOf(ref(def))}}
}
