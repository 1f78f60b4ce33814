package snapshot

import (
	"context"

	"github.com/traceforge/traceforge-go/canon"
)

// A Provenance says which run of a program made a call. It is no part of what identifies the call, so another run
// is no drift; and a record that stays as it was keeps the one that it has (design "Provenance").
type Provenance struct {
	RunID         string
	StepID        string
	CorrelationID string     // the program's own mark of the call
	ConfigHash    canon.Hash // of the config of the run
	ProviderID    string     // the name that the program has for the provider; in records empty where it is the provider's own
}

type provenanceKey struct{}

// WithProvenance returns a context whose calls are recorded with p. Without one nothing of it is recorded. Ids that are
// made up in each run stand in the record of the run that recorded it.
func WithProvenance(ctx context.Context, p Provenance) context.Context {
	return context.WithValue(ctx, provenanceKey{}, p)
}

// ProvenanceOf returns the provenance of a context; a zero one where nobody said it.
func ProvenanceOf(ctx context.Context) Provenance {
	p, _ := ctx.Value(provenanceKey{}).(Provenance)
	return p
}
