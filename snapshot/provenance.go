package snapshot

import (
	"context"

	"github.com/traceforge/traceforge-go/canon"
)

// A Provenance says which run of a program made a call. It does not identify the call, so another run is not drift, and
// an unchanged record keeps its provenance (design "Provenance").
type Provenance struct {
	RunID         string
	StepID        string
	CorrelationID string     // the program's own identifier for the call
	ConfigHash    canon.Hash // hash of the run's config
	ProviderID    string     // the program's name for the provider; empty in records if it is the provider's own name
}

type provenanceKey struct{}

// WithProvenance returns a context whose calls are recorded with p. Without it no provenance is recorded. Ids that are
// generated in each run are those of the recording run.
func WithProvenance(ctx context.Context, p Provenance) context.Context {
	return context.WithValue(ctx, provenanceKey{}, p)
}

// ProvenanceOf returns the provenance of a context; the zero value if it has none.
func ProvenanceOf(ctx context.Context) Provenance {
	p, _ := ctx.Value(provenanceKey{}).(Provenance)
	return p
}
