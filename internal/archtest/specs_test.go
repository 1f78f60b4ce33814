package archtest

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// specs are the pages of the specifications, by the names that comments call them by.
var specs = map[string]string{
	"SF": "docs/specs/snapshot-format.md", "MIO": "docs/specs/modelio.md", "GK": "docs/specs/genkit-model.md",
	"LC": "docs/specs/llm-contract.md", "design": "docs/decisions.md",
}

var (
	anchor   = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	quoting  = regexp.MustCompile(`\b(SF|GK|LC)((?:,| and)? "[^"\n]{1,80}")+`) // SF "Manifest File"; GK "Message", "Part"
	quoted   = regexp.MustCompile(`"([^"]+)"`)
	section  = regexp.MustCompile(`\bMIO §([0-9]+(?:\.[0-9]+)?)`)
	rule     = regexp.MustCompile(`\b(MI[0-9]+)\b`)
	ruling   = regexp.MustCompile(`\bdesign (R[0-9]+(?:(?:,| and) R[0-9]+)*)`)
	wrapped  = regexp.MustCompile(`\n\s*//[ \t]?`)
	evidence = regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz|Example)\\w*)`|`(cmd/\\S+\\.txt)`")
)

// anchors returns the places in a page that links lead to.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", page))
	require.NoError(t, err)
	all := map[string]bool{}
	for _, m := range anchor.FindAllStringSubmatch(string(text), -1) {
		assert.False(t, all[m[1]], "%s has #%s twice", page, m[1])
		all[m[1]] = true
	}
	return all
}

// anchorOf returns the place of a clause.
func anchorOf(clause string) string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(clause), "-"), "-")
}

// TestCitations: each clause that code or a document cites is on the page of its specification.
func TestCitations(t *testing.T) {
	there := map[string]map[string]bool{}
	for name, page := range specs {
		there[name] = anchors(t, page)
	}
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.go", "*.md").Output()
	require.NoError(t, err)
	cited := map[string]int{}
	for file := range strings.FieldsSeq(string(out)) {
		data, err := os.ReadFile(filepath.Join("../..", file))
		if os.IsNotExist(err) {
			continue // it was removed, and git does not know yet
		}
		require.NoError(t, err)
		cite := func(spec, clause string) {
			cited[spec]++
			assert.True(t, there[spec][anchorOf(clause)], "%s cites %s %q, which %s does not have", file, spec, clause, specs[spec])
		}
		text := wrapped.ReplaceAllString(string(data), " ")
		for _, m := range quoting.FindAllStringSubmatch(text, -1) {
			for _, clause := range quoted.FindAllStringSubmatch(m[0], -1) {
				cite(m[1], clause[1])
			}
		}
		for _, m := range section.FindAllStringSubmatch(text, -1) {
			cite("MIO", m[1])
		}
		for _, m := range rule.FindAllStringSubmatch(text, -1) {
			cite("MIO", m[1])
		}
		for _, m := range ruling.FindAllStringSubmatch(text, -1) {
			for _, name := range regexp.MustCompile(`R[0-9]+`).FindAllString(m[1], -1) {
				cite("design", name)
			}
		}
	}
	for name := range specs {
		assert.Greater(t, cited[name], 5, "citations of %s are not found any more", name)
	}
}

// TestSpecsNameTests: what a page names as tests is there, and each clause names one.
func TestSpecsNameTests(t *testing.T) {
	for name, page := range specs {
		if name == "design" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", page))
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if !anchor.MatchString(line) {
				continue
			}
			found := evidence.FindAllStringSubmatch(line, -1)
			assert.NotEmpty(t, found, "%s: a clause that no test is named for: %s", page, line)
			for _, m := range found {
				if m[3] != "" {
					assert.FileExists(t, filepath.Join("../..", m[3]), page)
					continue
				}
				assert.True(t, hasTest(t, m[1], m[2]), "%s names %s in %s, which is not there", page, m[2], m[1])
			}
		}
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../..", filepath.FromSlash(path.Join(dir, "*_test.go"))))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
