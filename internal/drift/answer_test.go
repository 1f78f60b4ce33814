package drift_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestAnswersBesideTheirText holds that what programs act on beside the text is shown: a reviewer would be told
// otherwise that two answers are the same.
func TestAnswersBesideTheirText(t *testing.T) {
	answer := func() *snapshot.Response {
		r := &snapshot.Response{Headers: map[string][]string{"x-request-id": {"1"}}}
		r.Candidates = []modelio.Candidate{{
			Message:      modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("Hi")}},
			FinishReason: modelio.FinishStop,
			Citations:    []modelio.Citation{{URL: "https://good.example"}},
		}}
		r.Candidates = append(r.Candidates, r.Candidates[0])
		r.Candidates[1].Citations = []modelio.Citation{{URL: "https://second.example"}}
		return r
	}
	for _, x := range []struct {
		name, component string
		change          func(*snapshot.Response)
	}{
		{"citations", drift.Citations, func(r *snapshot.Response) { r.Candidates[0].Citations[0].URL = "https://evil.example" }},
		{"location", drift.AnswerLeads, func(r *snapshot.Response) { r.Headers["location"] = []string{"https://evil.example"} }},
		{"readings", drift.Readings, func(r *snapshot.Response) { r.Readings = []snapshot.Reading{{Kind: "added-call", Says: "rm()"}} }},
		{"note", drift.AnswerNote, func(r *snapshot.Response) { r.Note = "is no JSON" }},
		{"request_id", "", func(r *snapshot.Response) { r.Headers["x-request-id"] = []string{"2"} }},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := answer()
			x.change(got)
			changes, err := drift.Answers(answer(), got)
			require.NoError(t, err)
			if x.component == "" {
				require.Empty(t, changes)
				return
			}
			require.Len(t, changes, 1)
			require.Equal(t, x.component, changes[0].Component)
		})
	}
}
