package snapshot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/schematest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// beyondSchemas are the rules that no JSON Schema can express: they concern the text, or compare parts of it.
var beyondSchemas = []string{
	snapshot.RuleCanonical, snapshot.RuleConflict, snapshot.RuleContinues, snapshot.RuleDepth, snapshot.RuleDuplicate, snapshot.RuleHash,
	snapshot.RuleJSON, snapshot.RuleNumber, snapshot.RuleParts, snapshot.RulePieces, snapshot.RuleSeal, snapshot.RuleText, snapshot.RuleUnicode,
}

// beyondNames are vectors whose fault depends on another member's value, on the spelling of a number, or on a member
// that 1.0.0 does not have.
var beyondNames = []string{"kept-needlessly", "many", "more-alone", "order", "others-empty", "plain-said", "error-none", "total-sum", "too-large"}

// TestSchemaVectors checks that the schema in docs/schemas accepts every vector that Parse accepts, and refuses every
// other vector whose fault a schema can express.
func TestSchemaVectors(t *testing.T) {
	t.Parallel()
	refused := 0
	for name, file := range vectors(t) {
		for _, v := range file.Cases {
			if !json.Valid(v.text()) {
				continue // it is not JSON
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

// TestSchemaGoldens checks that the schema accepts the documents of our own stores, and their literal form.
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

// TestSchemaAltered alters each member of a document. The schema must accept the result if Parse finds only wrong
// hashes, and refuse it if Parse finds a fault that a schema can express.
func TestSchemaAltered(t *testing.T) {
	t.Parallel()
	taken, refused := 0, 0
	hold := func(document any, what string) {
		text, err := json.Marshal(document)
		require.NoError(t, err)
		_, err = snapshot.Parse(text)
		var wrong *snapshot.Error
		require.ErrorAs(t, err, &wrong, what)
		var rules []string // the violated rules, without those about hashes
		for _, v := range wrong.Violations {
			if strings.HasSuffix(v.Pointer, "/headers/content-type") || strings.Contains(v.Message, " where the") { // it depends on another member
				v.Rule = snapshot.RuleParts
			}
			if v.Rule != snapshot.RuleHash && v.Rule != snapshot.RuleSeal {
				rules = append(rules, v.Rule)
			}
		}
		err = schematest.Validate("document", text)
		switch isBeyond := func(rule string) bool { return slices.Contains(beyondSchemas, rule) }; {
		case rules == nil:
			require.NoError(t, err, what)
			taken++
		case !slices.ContainsFunc(rules, isBeyond):
			require.Error(t, err, "%s: %v", what, wrong)
			refused++
		}
	}
	for name, file := range vectors(t) {
		for _, v := range file.Cases {
			if len(v.Violations) > 0 || !json.Valid(v.text()) {
				continue
			}
			var document any
			require.NoError(t, json.Unmarshal(v.text(), &document))
			alter(document, "", func(where string) { hold(document, name+" "+v.Name+" "+where) })
		}
	}
	require.Greater(t, taken, 3000)
	require.Greater(t, refused, 20000)
	t.Log(taken, refused)
}

// alter calls hold after each alteration of each member of a value, one after the other.
func alter(value any, where string, hold func(where string)) {
	if list, ok := value.([]any); ok {
		for i, element := range list {
			alter(element, where+"/"+strconv.Itoa(i), hold)
		}
	}
	object, _ := value.(map[string]any)
	for name, member := range object {
		at := where + "/" + name
		delete(object, name)
		hold(at + " left out")
		for _, other := range []any{nil, "", "Other", 0, -1, 1.5, true, []any{}, []any{"a"}, map[string]any{}, map[string]any{"a": "b"}} {
			object[name] = other
			hold(fmt.Sprintf("%s as %T %v", at, other, other))
		}
		object[name] = member
		alter(member, at, hold)
	}
	if object != nil {
		object["no member"] = 1
		hold(where + " with a member more")
		delete(object, "no member")
	}
}
