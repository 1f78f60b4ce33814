package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestTextconv: git shows each change of what a call asks or answers that is a document again.
func TestTextconv(t *testing.T) {
	documents := map[string]*snapshot.Document{"agent": pagetest.Document("turn1", "turn2")}
	for name := range pagetest.Recordings() {
		documents[name] = pagetest.Document(name)
	}
	step := stepped(1, "weather", "get_weather", `{"city":"Rome"}`, result("get_weather", `"24 degrees"`))
	documents["tool"] = &snapshot.Document{Snapshots: []snapshot.Snapshot{stepped(1, "tool", "get_weather", `"a"`, result("get_weather", `{"degrees":24}`))}}
	step.Request.Messages = nil
	step.Request.Options = modelio.Object{
		"method": json.RawMessage(`"tools/call"`), "inputResponses": json.RawMessage(`{"q":{"ok":true}}`), "_meta": json.RawMessage(`{"progressToken":1}`),
	}
	documents["mcp"] = &snapshot.Document{Snapshots: []snapshot.Snapshot{step}}
	documents["choices"].Snapshots[0].Response.Candidates[0].Citations = []modelio.Citation{{Title: "Shop", URL: "https://example.com/a"}}
	changes := 0
	for name, doc := range documents {
		file, err := doc.Write(nil)
		require.NoError(t, err, name)
		want := textconv(file, doc)
		var root map[string]any
		require.NoError(t, json.Unmarshal(file, &root))
		for i, record := range root["snapshots"].([]any) {
			for _, of := range []string{"request", "response"} {
				alter(record.(map[string]any)[of], fmt.Sprintf("/%d/%s", i, of), func(at string) {
					data, err := json.Marshal(root)
					require.NoError(t, err)
					changed := snapshot.ParseUnsealed(data)
					if changed == nil {
						return
					}
					data, err = changed.Write(nil)
					if err != nil || bytes.Equal(data, file) {
						return
					}
					changed, err = snapshot.Parse(data)
					require.NoError(t, err)
					changes++
					require.NotEqual(t, want, textconv(data, changed), "%s: %s", name, at)
				})
			}
		}
	}
	require.Greater(t, changes, 500)
}

func textconv(file []byte, doc *snapshot.Document) string {
	var out bytes.Buffer
	p := page.Page{Out: &out, Width: 100, Unwrapped: true}
	p.Textconv(file, doc)
	return out.String()
}

// alter changes one value after another of those in v, and removes one after another, and calls try with each.
func alter(v any, at string, try func(at string)) {
	each := func(name string, value any, set func(any)) {
		at := at + "/" + name
		for _, other := range others(value) {
			set(other)
			try(fmt.Sprintf("%s: %v", at, other))
		}
		set(value)
		alter(value, at, try)
	}
	switch v := v.(type) {
	case []any:
		for i, value := range v {
			each(fmt.Sprint(i), value, func(other any) { v[i] = other })
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name == "latency_ms" || name == "raw_output_ref" || name == "tokens_used" {
				continue // another in each recording
			}
			value := v[name]
			each(name, value, func(other any) { v[name] = other })
			delete(v, name)
			try(at + "/" + name + ": removed")
			v[name] = value
		}
	}
}

// others are values like another, which a page may not tell from it.
func others(value any) []any {
	switch v := value.(type) {
	case string:
		return []any{v + "x", v + " ", v + "\n", v + "\u200b", v + "\t", ""}
	case float64:
		return []any{v + 1, float64(0), nil}
	case bool:
		return []any{!v}
	case nil:
		return []any{float64(0), "x"}
	}
	return nil
}

// TestTextconvOfMark shows a member that says what stands in place of what a conversation shows.
func TestTextconvOfMark(t *testing.T) {
	doc := pagetest.Document("turn1")
	doc.Snapshots[0].Response.Candidates[0].FinishReasonRaw = "…"
	file, err := doc.Write(nil)
	require.NoError(t, err)
	require.Contains(t, textconv(file, doc), `finish_reason_raw "…"`)
}
