package traceforgetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// annotate repeats a failure for GitHub Actions, which shows it at its line in the pull request.
// Elsewhere nothing is written. It goes to standard output and not to the test's log, since a
// workflow command must begin a line.
func (r *Recorder) annotate(text string) {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	properties := "title=" + escapeProperty("traceforge: "+r.t.Name())
	if r.made.File != "" {
		properties = fmt.Sprintf("file=%s,line=%d,%s", escapeProperty(r.checkoutPath(r.made.File)), r.made.Line, properties)
	}
	fmt.Fprintf(os.Stdout, "::error %s::%s\n", properties, escapeData(text))
}

// checkoutPath returns the path of a source file of the module below the checkout, which may
// hold several modules.
func (r *Recorder) checkoutPath(file string) string {
	workspace := os.Getenv("GITHUB_WORKSPACE")
	if workspace == "" || r.place.root == "" {
		return file
	}
	rel, err := filepath.Rel(workspace, filepath.Join(r.place.root, filepath.FromSlash(file)))
	if err != nil || !filepath.IsLocal(rel) {
		return file
	}
	return filepath.ToSlash(rel)
}

// The characters that mean something to the runner of GitHub Actions in a workflow command's
// text, and in its properties besides.
var (
	dataEscapes     = []string{"%", "%25", "\r", "%0D", "\n", "%0A"}
	propertyEscapes = append([]string{":", "%3A", ",", "%2C"}, dataEscapes...)
)

func escapeData(s string) string     { return strings.NewReplacer(dataEscapes...).Replace(s) }
func escapeProperty(s string) string { return strings.NewReplacer(propertyEscapes...).Replace(s) }
