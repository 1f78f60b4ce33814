package lint

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestDeterministic holds the rule of determinism by what stands in a record (C6).
func TestDeterministic(t *testing.T) {
	number := func(n string) *modelio.Request {
		r := &modelio.Request{API: "openai.chat"}
		for _, p := range modelio.Parameters {
			v := json.Number(n)
			if p.Name == "temperature" && n != "" || p.Name == "seed" {
				*p.Field(r) = &v
			}
		}
		return r
	}
	unseeded := func(r *modelio.Request, api string) *modelio.Request {
		r.Seed, r.API = nil, api
		return r
	}
	answered := func(raw string) snapshot.Response {
		return snapshot.Response{Response: modelio.Response{Candidates: []modelio.Candidate{{FinishReasonRaw: raw}}}}
	}
	for _, c := range []struct {
		name, why string
		request   *modelio.Request
		response  snapshot.Response
		source    snapshot.Source
		want      string
	}{
		{"zero", "deterministic", number("0"), answered("stop"), snapshot.Source{}, ""},
		{"tiny", "go-openai sends it for 0", number("1e-45"), answered("stop"), snapshot.Source{}, ""},
		{"other", "as in the findings", number("0.7"), answered("stop"), snapshot.Source{}, "is 0.7, must be 0"},
		{"none", "the provider's default applies", number(""), answered("stop"), snapshot.Source{}, "is not set, must be 0"},
		{"cut", "a model had begun", number("0.7"), snapshot.Response{Incomplete: "error"}, snapshot.Source{}, "is 0.7"},
		{"reason", "it was lifted", number("0.7"), answered("stop"), snapshot.Source{Nondeterministic: "it plays"}, ""},
		{"no seed", "the API has one", unseeded(number("0"), "openai.chat"), answered("stop"), snapshot.Source{}, "is not set, must be any fixed number"},
		{"reason for no seed", "it was lifted", unseeded(number("0"), "openai.chat"), answered("stop"), snapshot.Source{Nondeterministic: "it plays"}, ""},
		{"no seed to set", "the API has none", unseeded(number("0"), "anthropic.messages"), answered("stop"), snapshot.Source{}, ""},
		{"refused", "no model answered", number("5"), snapshot.Response{Status: 400}, snapshot.Source{}, ""},
		{"embedding", "no model ends an embedding", number(""), answered(""), snapshot.Source{}, ""},
		{"stored", "it is asked for again, and generated once", &modelio.Request{API: "openai.responses.stored"}, answered("completed"), snapshot.Source{}, ""},
		{"generic", "what has no codec may look so", &modelio.Request{API: provider.GenericAPI}, answered("stop"), snapshot.Source{}, ""},
	} {
		doc := &store.Doc{Document: &snapshot.Document{Snapshots: []snapshot.Snapshot{{Request: *c.request, Response: c.response, Source: c.source}}}}
		found := Deterministic(doc)
		if c.want == "" {
			require.Empty(t, found, "%s: %s", c.name, c.why)
			continue
		}
		require.Len(t, found, 1, "%s: %s", c.name, c.why)
		require.Equal(t, "/snapshots/0/request/"+map[bool]string{true: "temperature", false: "seed"}[c.request.Seed != nil], found[0].Pointer)
		require.Equal(t, snapshot.RuleDeterministic, found[0].Rule)
		require.Contains(t, found[0].Message, c.want)
	}
}

// TestNotesOfAConversation: a message is noted in the call that said it first, not in each that continues that call, so that
// what verify does grows with the number of calls.
func TestNotesOfAConversation(t *testing.T) {
	text := func(s string) []modelio.Part { return []modelio.Part{{Text: &s}} }
	var allocated [2]uint64
	for i := range allocated {
		doc := &store.Doc{Document: &snapshot.Document{}}
		var said []modelio.Message
		for call := range 1000 << i {
			said = append(said, modelio.Message{Role: modelio.RoleUser, Content: text("{{order:1}}")})
			s := snapshot.Snapshot{Request: modelio.Request{Messages: said[:len(said):len(said)]}}
			if call > 0 {
				s.Continues = &snapshot.Continues{Call: call, Messages: 2 * call}
			}
			doc.Document.Snapshots = append(doc.Document.Snapshots, s)
			said = append(said, modelio.Message{Role: modelio.RoleModel, Content: text("Which one?")})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Len(t, Notes(doc), 1000<<i)
		runtime.ReadMemStats(&after)
		allocated[i] = after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, float64(allocated[1])/float64(allocated[0]), 3.0, "%v bytes", allocated)
}
