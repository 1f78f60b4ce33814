package snapshot_test

import (
	"context"
	"fmt"

	"github.com/traceforge/traceforge-go/snapshot"
)

func ExampleWithProvenance() {
	ctx := snapshot.WithProvenance(context.Background(), snapshot.Provenance{RunID: "nightly", StepID: "plan"})
	fmt.Println(snapshot.ProvenanceOf(ctx).StepID)
	// Output: plan
}
