package traceforgetest

import (
	"fmt"
	"os"

	"github.com/traceforge/traceforge-go/internal/annotation"
)

// annotate repeats a failure for GitHub Actions. Elsewhere nothing is written. It goes to standard
// output and not to the test's log, since a workflow command must begin a line.
func (r *Recorder) annotate(text string) {
	if !annotation.Wanted() {
		return
	}
	file := r.asked.File
	if file != "" {
		file = annotation.Path(r.place.root, file)
	}
	fmt.Fprintln(os.Stdout, annotation.Error(file, r.asked.Line, "traceforge: "+r.t.Name(), text))
}
