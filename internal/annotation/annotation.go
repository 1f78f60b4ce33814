// Package annotation reports failures to GitHub Actions, which shows them at their line in the pull request.
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

// Env is the variable that turns off the annotations of tests with the value "off". The reader of their receipts then
// makes one annotation per cause instead of one per process.
const Env = "TRACEFORGE_ANNOTATIONS"

// Left reports whether tests leave annotations to the reader of their receipts.
func Left() bool { return os.Getenv(Env) == "off" }

// Path returns a file's path relative to the checkout of a GitHub Actions or GitLab job. If the file is empty or the
// checkout unknown, it returns the file unchanged. The file is relative to root, which may be a directory within the
// checkout.
func Path(root, file string) string {
	workspace := cmp.Or(os.Getenv("GITHUB_WORKSPACE"), os.Getenv("CI_PROJECT_DIR"))
	if workspace == "" || root == "" || file == "" {
		return file
	}
	rel, err := filepath.Rel(workspace, filepath.Join(root, filepath.FromSlash(file)))
	if err != nil || !filepath.IsLocal(rel) {
		return file
	}
	return filepath.ToSlash(rel)
}

// Error returns the workflow command that annotates a line of a file, see Path. With line 0 it annotates the file, and
// without a file the job. The command must be printed at the start of a line.
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

// Replacers for characters that have a meaning in the text and the properties of a workflow command.
var (
	inText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
