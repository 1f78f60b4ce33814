package coverage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// A violation is a cause in the format of GitLab's Code Quality report
// (docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format).
type violation struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"` // the same in all runs with this cause
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// CodeQuality returns the causes as a GitLab Code Quality report, each at the line of its first call.
func (c *Report) CodeQuality() string {
	all := []violation{}
	for _, b := range page.Blocks(c.Causes) {
		first := b[0].Calls[0]
		sum := sha256.New()
		for _, cause := range b {
			sum.Write([]byte(cause.Key + "\n"))
		}
		v := violation{
			Description: plaintext.Line(b.Headline()), CheckName: "traceforge-drift", Severity: "major",
			Fingerprint: hex.EncodeToString(sum.Sum(nil)[:16]),
		}
		v.Location.Path = plaintext.Line(cmp.Or(c.Path(first), "go.mod")) // required
		v.Location.Lines.Begin = max(first.Line, 1)
		all = append(all, v)
	}
	text, _ := json.MarshalIndent(all, "", "  ") // texts and numbers of lines
	return string(text) + "\n"
}

// Path returns the file of a call relative to the checkout, if both are known.
func (c *Report) Path(at page.Place) string {
	return annotation.Path(c.Root(at.Package), at.File)
}
