// Package sessions makes Model IO sessions (MIO) of the records of tests.
package sessions

import (
	"fmt"
	"time"

	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Of returns the session of mode record that records make, each an interaction, in their order: its prompt is the
// canonical request core, and its response is the canonical response core. An error names the record that cannot be in
// a session, or the rule of MIO that the session breaks, as a [*session.LimitError].
func Of(adapterID, modelID string, records []snapshot.Snapshot) (*session.Session, error) {
	s := session.New(adapterID, modelID)
	var first, last time.Time
	for i := range records {
		r := &records[i]
		if err := add(s, r); err != nil {
			return nil, fmt.Errorf("snapshot %s: %w", r.ID, err)
		}
		end := r.Timestamp.Add(time.Duration(r.Response.LatencyMS) * time.Millisecond)
		if i == 0 || r.Timestamp.Before(first) {
			first = r.Timestamp
		}
		if end.After(last) {
			last = end
		}
	}
	if len(records) > 0 {
		s.Summarize(first, last)
	}
	return s, s.CheckLimits()
}

func add(s *session.Session, r *snapshot.Snapshot) error {
	prompt, err := snapshot.RequestCore(&r.Request, r.Source.Ignored)
	if err != nil {
		return err
	}
	response, err := snapshot.ResponseCore(&r.Response)
	if err != nil {
		return err
	}
	s.Append(string(prompt), string(response))
	in := &s.Interactions[len(s.Interactions)-1]
	latency := r.Response.LatencyMS
	in.LatencyMS = &latency
	if u := r.Response.Usage; u != nil {
		in.TokensInput, in.TokensOutput = u.InputTokens, u.OutputTokens
	}
	return nil
}
