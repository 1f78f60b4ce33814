package traceforgetest

import (
	"fmt"
	"os"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/snapshot"
)

// annotate repeats a failure for GitHub Actions. Elsewhere nothing is written. It goes to standard
// output and not to the test's log, since a workflow command must begin a line.
func (r *Recorder) annotate(at snapshot.Source, text string) {
	if !annotation.Wanted() {
		return
	}
	file := at.File
	if file != "" {
		file = annotation.Path(r.place.root, file)
	}
	fmt.Fprintln(os.Stdout, annotation.Error(file, at.Line, "traceforge: "+r.t.Name(), text))
}
