package snapshot_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/schematest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// beyondSchemas are the rules that no JSON Schema can express: they are about the text, or hold parts of it against others.
var beyondSchemas = []string{
	snapshot.RuleCanonical, snapshot.RuleConflict, snapshot.RuleContinues, snapshot.RuleDepth, snapshot.RuleDuplicate, snapshot.RuleHash,
	snapshot.RuleJSON, snapshot.RuleNumber, snapshot.RuleParts, snapshot.RulePieces, snapshot.RuleSeal, snapshot.RuleText, snapshot.RuleUnicode,
}

// beyondNames are vectors whose fault hangs on the value of another member, or on how a number is spelled; so do those of what 1.0.0 does not have.
var beyondNames = []string{"kept-needlessly", "many", "more-alone", "order", "others-empty", "plain-said", "error-none", "total-sum", "too-large"}

// TestSchemaVectors: the schema in docs/schemas takes every vector that Parse takes, and refuses every other one whose fault
// a schema can express.
func TestSchemaVectors(t *testing.T) {
	t.Parallel()
	refused := 0
	for name, file := range vectors(t) {
		for _, v := range file.Cases {
			if !json.Valid(v.text()) {
				continue // what is no JSON has no schema
			}
			err := schematest.Validate("document", v.text())
			if len(v.Violations) == 0 || v.Examine {
				require.NoError(t, err, "%s: %s", name, v.Name)
				continue
			}
			expressible := !slices.Contains(beyondNames, v.Name) && !strings.HasPrefix(v.Name, "old") && slices.ContainsFunc(v.Violations, func(p place) bool { return !slices.Contains(beyondSchemas, p.Rule) })
			if expressible {
				require.Error(t, err, "%s: %s: %s", name, v.Name, v.Why)
				refused++
			}
		}
	}
	require.Greater(t, refused, 150)
}

// TestSchemaGoldens: it takes the documents of our own stores, and the same in SF's literal form.
func TestSchemaGoldens(t *testing.T) {
	t.Parallel()
	files := []string{"testdata/example-com-shop-testagent-3cfacb63af18.json"}
	for _, pattern := range []string{"../.ai-snapshots/*/*.json", "../examples/.ai-snapshots/*/*.json", "../adapters/*/.ai-snapshots/*/*.json"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		files = append(files, found...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, schematest.Validate("document", data), file)
		doc, err := snapshot.Parse(data)
		require.NoError(t, err, file)
		text, err := doc.SF()
		require.NoError(t, err, file)
		require.NoError(t, schematest.Validate("document", text), file)
	}
}
