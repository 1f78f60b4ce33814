package recorder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestSourcesOfToolResults holds that a source which has the number of a call is held by what stands behind its id, as no
// record has the id, and any other source whole.
func TestSourcesOfToolResults(t *testing.T) {
	response := func(source string) *snapshot.Response {
		return &snapshot.Response{Response: modelio.Response{Candidates: []modelio.Candidate{{Citations: []modelio.Citation{{Source: source}}}}}}
	}
	for _, c := range []struct{ name, why, said, got, want string }{
		{"result", "the id is another in each recording", "call_1:0", "search_x9:0", "call_1:0"},
		{"other_result", "the second is not the first", "call_1:0", "search_x9:1", "search_x9:1"},
		{"document", "a document has a name", "doc:0", "other:0", "other:0"},
		{"call_alone", "no result of one", "call_1", "search_x9", "search_x9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := response(c.got)
			sourcesOf(response(c.said), got)
			require.Equal(t, c.want, got.Candidates[0].Citations[0].Source, c.why)
		})
	}
}
