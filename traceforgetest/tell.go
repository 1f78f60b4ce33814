package traceforgetest

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/snapshot"
)

// tell prints a failure at the line of the call, or at that of the test where it is of none. Package
// testing would print the line of New, or of the cleanup.
func (r *Recorder) tell(f *recorder.Failure) {
	at := f.Source
	if at.File == "" {
		at = r.origin()
	}
	r.print(at, f.Text)
	if !f.Again && !(f.Drifted() && annotation.Left()) {
		r.annotate(at, f.Text)
	}
}

// tellLate prints a failure for which no test is left, as package testing panics where one that has ended prints.
func tellLate(f *recorder.Failure) { fmt.Fprintln(os.Stderr, "traceforge: "+f.Text) }

// note prints what is worth a line of the test's log.
func (r *Recorder) note(text string) { r.print(r.origin(), text) }

func (r *Recorder) print(at snapshot.Source, text string) {
	text = "traceforge: " + gotest.Spelled(text, r.place.root, r.named)
	if out := outputOf(r.t); out != nil && at.File != "" {
		// In one write, as other goroutines print too. Package testing indents its log in the same way.
		fmt.Fprintf(out, "%s: %s\n", r.place.shown(at), strings.ReplaceAll(text, "\n", "\n    "))
		return
	}
	r.t.Log(text)
}

// outputOf returns t's output; nil where t is a framework's own that has none: such a one embeds a
// [testing.TB] that is nil.
func outputOf(t testing.TB) (out io.Writer) {
	defer func() { _ = recover() }()
	return t.Output()
}

// annotate repeats a failure for GitHub Actions. Elsewhere nothing is written. It goes to standard
// output and not to the test's log, since a workflow command must begin a line.
func (r *Recorder) annotate(at snapshot.Source, text string) {
	if !annotation.Wanted() {
		return
	}
	file := annotation.Path(r.place.root, at.File)
	fmt.Fprintln(os.Stdout,
		annotation.Error(file, at.Line, "traceforge: "+r.t.Name(), gotest.Spelled(text, r.place.root, r.named)))
}
