package snapshot

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
)

// formatTables returns the rows of docs/format.md that begin with a word in code style, by heading.
func formatTables(t *testing.T) map[string][][]string {
	t.Helper()
	f, err := os.Open("../docs/format.md")
	require.NoError(t, err)
	defer f.Close()
	tables := map[string][][]string{}
	heading := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if name, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			heading = regexp.MustCompile(`^\d+\. `).ReplaceAllString(name, "")
		}
		if strings.HasPrefix(line, "| `") {
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			cells[0] = strings.Trim(cells[0], "`")
			tables[heading] = append(tables[heading], cells)
		}
	}
	return tables
}

// TestFormatListsTheMembers holds the tables of docs/format.md against the schema.
func TestFormatListsTheMembers(t *testing.T) {
	tables := formatTables(t)
	check := func(heading string, members []string, needs []need) {
		t.Run(heading, func(t *testing.T) {
			rows := tables[heading]
			require.Len(t, rows, len(members))
			for i, row := range rows {
				require.Equal(t, members[i], row[0], "in the order of files")
				require.Equal(t, map[need]string{required: "required", nullable: "nullable", ifAny: "optional"}[needs[i]], row[2], row[0])
			}
			if heading != "Document" && heading != "Record" {
				require.True(t, slices.IsSorted(members), "but for these, files are in canonical order")
			}
		})
	}
	check("Document", memberNames(documentObject), memberNeeds(documentObject))
	check("Record", memberNames(recordObject), memberNeeds(recordObject))
	check("Source", memberNames(sourceObject), memberNeeds(sourceObject))
	check("Request", memberNames(requestObject), memberNeeds(requestObject))
	check("Message", memberNames(messageObject), memberNeeds(messageObject))
	check("Response", memberNames(responseObject), memberNeeds(responseObject))
	check("Tool call", memberNames(toolCallObject), memberNeeds(toolCallObject))
	check("Candidate", memberNames(candidateObject), memberNeeds(candidateObject))
	check("Error", memberNames(errorObject), memberNeeds(errorObject))
	check("Usage", memberNames(usageObject), memberNeeds(usageObject))
	require.Equal(t, sealedNames[:], memberNames(recordObject)[:len(sealedNames)])
}

func memberNames[T any](o object[T]) (names []string) {
	for _, m := range o.members {
		names = append(names, m.name)
	}
	return names
}

func memberNeeds[T any](o object[T]) (needs []need) {
	for _, m := range o.members {
		needs = append(needs, m.need)
	}
	return needs
}

// TestFormatListsTheRules: every rule that is reported is explained, and no other.
func TestFormatListsTheRules(t *testing.T) {
	source, err := os.ReadFile("error.go")
	require.NoError(t, err)
	var rules []string
	for _, m := range regexp.MustCompile(`(?m)^\trule\w+ += "(\w+)"$`).FindAllSubmatch(source, -1) {
		rules = append(rules, string(m[1]))
	}
	var listed []string
	for _, row := range formatTables(t)["Rules"] {
		listed = append(listed, row[0])
	}
	require.Equal(t, rules, listed)
}

// TestFormatShowsTheTexts holds what docs/format.md shows against what is written.
func TestFormatShowsTheTexts(t *testing.T) {
	data, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	text := string(data)
	require.Contains(t, text, "```\n"+attributes+"```")
	require.Contains(t, text, "```\n"+rejection("0.9.0")+"\n```")
	outside := slices.DeleteFunc(memberNames(requestObject), func(name string) bool { _, in := requestCore[name]; return in })
	for _, names := range [][]string{slices.Sorted(maps.Keys(responseCore)), outside} {
		var quoted []string
		for _, name := range names {
			quoted = append(quoted, "`"+name+"`")
		}
		last := len(quoted) - 1
		require.Contains(t, strings.ReplaceAll(text, "\n", " "), strings.Join(quoted[:last], ", ")+" and "+quoted[last])
	}
	m := regexp.MustCompile(`printf '%s' '(.*)' \| sha256sum\n([0-9a-f]{64})\n`).FindStringSubmatch(text)
	require.NotNil(t, m)
	require.Equal(t, m[2], canon.Sum([]byte(m[1])).Hex())
	least, err := os.ReadFile("testdata/records/least.json")
	require.NoError(t, err)
	require.Contains(t, string(least), m[2])

	entry := Entry{"…", "openai", "openai/….json", "sha256:…"}
	manifest := Manifest{Snapshots: []Entry{entry, entry}, Hash: "sha256:…"}
	shown := string(manifest.encode())
	shown = strings.Replace(shown, "0001-01-01T00:00:00Z", "2026-01-09T10:00:00Z", 1)
	shown = strings.Replace(shown, "0001-01-01T00:00:00Z", "2026-01-09T14:30:00Z", 1)
	require.Contains(t, text, fmt.Sprintf("```\n%s```", shown))
}
