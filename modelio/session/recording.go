package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A Recording provides the calls of a test. *traceforgetest.Recorder implements it.
type Recording interface {
	// Snapshots returns the records of the calls so far, each with its provider, in order, and whether they were
	// replayed.
	Snapshots() (records []snapshot.Snapshot, replayed bool)
}

// Of returns what a test has recorded or replayed so far for one model of a provider. See [OfRecords]. The session of a
// replay has the same core as that of the recording, except for its mode. An error is a [*LimitError], or names a
// record that cannot be part of a session.
func Of(r Recording, provider, model string) (*Session, error) {
	records, replayed := r.Snapshots()
	s, err := OfRecords(provider, model, slices.DeleteFunc(records, func(s snapshot.Snapshot) bool {
		return s.Provider != provider || s.Request.Model != model
	}))
	if err != nil {
		return nil, fmt.Errorf("session of %s/%s: %w", provider, model, err)
	}
	if replayed {
		s.Mode = ModeReplay
	}
	return s, nil
}

// OfRecords returns a session of mode record with an interaction for each record, in order. The prompt is the canonical
// request core, and the response is the canonical response core. Times, latencies and tokens are those of the records.
// An error names a record that cannot be part of a session, or is a [*LimitError] for the rule of MIO that the session
// violates (MI4, MI11).
func OfRecords(adapterID, modelID string, records []snapshot.Snapshot) (*Session, error) {
	s := New(adapterID, modelID)
	var all period
	for i := range records {
		r := &records[i]
		if err := add(s, r); err != nil {
			return nil, fmt.Errorf("snapshot %s: %w", r.ID, err)
		}
		all.add(period{r.Timestamp, r.Timestamp.Add(time.Duration(r.Response.LatencyMS) * time.Millisecond)})
	}
	if len(records) > 0 {
		s.Summarize(all.began, all.ended)
	}
	return s, s.CheckLimits()
}

// add appends the interaction for a record.
func add(s *Session, r *snapshot.Snapshot) error {
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
