package schematest

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Manifest returns the schema of a store's manifest.
func Manifest(t *testing.T) Schema {
	t.Helper()
	s := sourceOf(t, "internal/store")
	at := Schema{"type": "string", "format": "date-time"}
	name := Schema{"type": "string", "pattern": providerPattern}
	membersOf := func(of reflect.Type) (names []string) {
		tagged, _ := fields.Members(of)
		for _, m := range tagged {
			names = append(names, m.Name)
		}
		return names
	}
	object := func(names []string, members Schema) Schema {
		all := Schema{}
		for _, name := range names {
			require.Contains(t, members, name)
			all[name] = members[name]
		}
		return Schema{"type": "object", "additionalProperties": false, "properties": all, "required": names}
	}
	root := object(slices.Concat([]string{"version"}, membersOf(reflect.TypeFor[store.Manifest]()), []string{"hash"}), Schema{
		"version": Schema{"const": snapshot.Version}, "hash": described(hash(), "the combined hash of the entries"),
		"created_at": described(at, s.comments["Manifest.CreatedAt"]), "updated_at": described(at, s.comments["Manifest.UpdatedAt"]),
		"snapshots": arrayOf(object(membersOf(reflect.TypeFor[store.Entry]()), Schema{
			"id": Schema{"type": "string", "pattern": idPattern}, "provider": name, "hash": described(hash(), "the seal of the record"),
			"file": described(Schema{"type": "string", "pattern": `^[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*\.json$`}, s.comments["Entry.File"]),
		})),
	})
	root["title"] = "The manifest of a store, version " + snapshot.Version
	return root
}

// ModelIO returns the schema of a model_io.json file (MIO §3).
func ModelIO(t *testing.T) Schema {
	t.Helper()
	s := sourceOf(t, "modelio/session")
	rules := Schema{ // MI1 to MI7, as far as a schema can express them
		"model_io_schema_version": Schema{"type": "string", "pattern": `^\d+\.\d+\.\d+$`},
		"adapter_id":              Schema{"type": "string", "minLength": 1}, "model_id": Schema{"type": "string", "minLength": 1},
		"mode":           Schema{"enum": []session.Mode{session.ModeRecord, session.ModeReplay}},
		"created_at_utc": Schema{"type": "string"}, "ended_at_utc": Schema{"type": "string"},
		"prompt_hash": hash(), "response_hash": hash(),
		"response_content": Schema{"type": "string", "maxLength": session.MaxResponseBytes},
	}
	object := func(of string) (properties Schema, must []string) {
		properties = Schema{}
		ast.Inspect(s.funcs[of+".texts"], func(n ast.Node) bool {
			row, ok := n.(*ast.CompositeLit)
			if !ok || row.Type != nil {
				return true
			}
			name := s.text(row.Elts[0])
			require.Contains(t, rules, name)
			properties[name] = described(rules[name], strings.TrimPrefix(s.comments[of+"."+fieldIn(row.Elts[1])], name))
			if word(row.Elts[2]) == "false" {
				must = append(must, name)
			}
			return false
		})
		return properties, must
	}
	call, must := object("Interaction")
	call["i"] = described(Schema{"type": "integer", "minimum": 0}, s.comments["Interaction.I"])
	ast.Inspect(s.funcs["Interaction.counts"], func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			call[s.text(pair.Key)] = described(Schema{"type": "integer"}, s.comments["Interaction."+fieldIn(pair.Value)])
		}
		return true
	})
	root, rootMust := object("Session")
	root["interactions"] = Schema{"type": "array", "maxItems": session.MaxInteractions,
		"items": Schema{"type": "object", "properties": call, "required": append(must, "i")}}
	root["stats"] = Answer(t, "", session.Stats{})
	return Schema{
		"title": "A Model IO session, version " + session.Version, "type": "object", "properties": root,
		"required": append(rootMust, "interactions"),
	}
}

// fieldIn returns the name of the field in an expression.
func fieldIn(e ast.Expr) (name string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			name = s.Sel.Name
		}
		return true
	})
	return name
}

// Run returns the schema of the run.json of a pack (MIO §7).
func Run(t *testing.T) Schema {
	t.Helper()
	s := Answer(t, "The run.json of a run pack, version "+pack.RunVersion, pack.Run{})
	properties := s["properties"].(Schema)
	properties["run_schema_version"] = Schema{"const": pack.RunVersion}
	properties["outcome"] = Schema{"enum": []string{"pass", "fail"}}
	return s
}

// Receipt returns the schema of a line of a receipt: what one test did in one run of it.
func Receipt(t *testing.T) Schema {
	t.Helper()
	s := Answer(t, "A line of a receipt, which tests leave in TRACEFORGE_RECEIPT", usage.Receipt{})
	properties := s["properties"].(Schema)
	properties["receipt"] = Schema{"const": usage.ReceiptVersion}
	properties["outcome"] = Schema{"enum": []string{"pass", "fail", "skip"}}
	return s
}
