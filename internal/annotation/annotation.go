// Package annotation is how failures are told to GitHub Actions, which shows them at their line
// in the pull request.
package annotation

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// Wanted reports whether this process runs under GitHub Actions.
func Wanted() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }

// Env is the variable that turns annotations of tests off, where it is "off". A reader of their receipts then makes
// one for each cause, and not one for each process.
const Env = "TRACEFORGE_ANNOTATIONS"

// Left reports whether tests leave the annotations of drifts to others.
func Left() bool { return os.Getenv(Env) == "off" }

// Path returns a file's path below the checkout, where that is known, else the file as it is. The file is relative to
// root, which may be further down in the checkout. The checkout is that of a job of GitHub Actions or of GitLab.
func Path(root, file string) string {
	workspace := cmp.Or(os.Getenv("GITHUB_WORKSPACE"), os.Getenv("CI_PROJECT_DIR"))
	if workspace == "" || root == "" {
		return file
	}
	rel, err := filepath.Rel(workspace, filepath.Join(root, filepath.FromSlash(file)))
	if err != nil || !filepath.IsLocal(rel) {
		return file
	}
	return filepath.ToSlash(rel)
}

// Error returns the workflow command that annotates a line of a file, see Path. Without a line it
// is the whole file; without a file, the job. The command must begin a line of what is printed.
func Error(file string, line int, title, text string) string {
	properties := "title=" + inProperty.Replace(plaintext.Text(title))
	if line > 0 {
		properties = fmt.Sprintf("line=%d,%s", line, properties)
	}
	if file != "" {
		properties = "file=" + inProperty.Replace(plaintext.Text(file)) + "," + properties
	}
	return "::error " + properties + "::" + inText.Replace(plaintext.Text(text))
}

// The characters that mean something to the runner in a workflow command's text, and in its
// properties besides.
var (
	inText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
