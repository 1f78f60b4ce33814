package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAgentsFile holds that AGENTS.md says nothing that CONTRIBUTING.md does not say, on one screen, and in commands that work.
func TestAgentsFile(t *testing.T) {
	text, page := document(t, "AGENTS.md"), flat(document(t, "CONTRIBUTING.md"))
	require.LessOrEqual(t, strings.Count(text, "\n"), 24)
	_, rules, found := strings.Cut(text, "\n- ")
	require.True(t, found)
	said := 0
	for rule := range strings.SplitSeq(rules, "\n- ") {
		for sentence := range strings.SplitSeq(strings.TrimSuffix(flat(rule), "."), ". ") {
			require.Contains(t, page, sentence, "CONTRIBUTING.md does not say it")
			said++
		}
	}
	require.Greater(t, said, 10)
	for _, span := range codeSpan.FindAllStringSubmatch(rules, -1) {
		if strings.HasPrefix(span[1], "go ") || strings.HasPrefix(span[1], "make ") {
			require.True(t, isCommand(t, span[1]), span[1])
		}
	}
	require.Contains(t, document(t, "internal/drift/component_test.go"), "func TestCompare(")
	require.Contains(t, document(t, "traceforgetest/own_test.go"), "func TestOwnStore(")
}

// TestLLMs holds that llms.txt (llmstxt.org) has the form that its readers know, links each page of the documentation once,
// and nothing that is not there.
func TestLLMs(t *testing.T) {
	text := document(t, "llms.txt")
	require.Regexp(t, `^# \S+\n\n> [^\n]+\n\n[^#]+\n\n## `, text)
	linked := map[string]int{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "- ") {
			continue
		}
		link := regexp.MustCompile(`^- \[[^\]]+\]\(([^)]+)\): \S`).FindStringSubmatch(line)
		require.NotNil(t, link, line)
		linked[link[1]]++
		if !strings.HasPrefix(link[1], "https://pkg.go.dev/"+module+"/") {
			_, err := os.Stat(filepath.Join("../..", filepath.FromSlash(link[1])))
			require.NoError(t, err)
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	for _, file := range pages {
		if name := filepath.Base(file); name != "README.md" {
			require.Equal(t, 1, linked["docs/"+name], name)
		}
	}
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

// flat returns a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
