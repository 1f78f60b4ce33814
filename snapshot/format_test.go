package snapshot

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/docs/schemas"
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

// schema returns the members in a schema function and their needs, in order. It reads them from the source, since the
// schema exists only as a list of calls.
func schema(t *testing.T, file, function string) (names, needs []string) {
	t.Helper()
	source, err := os.ReadFile(file)
	require.NoError(t, err)
	_, body, ok := strings.Cut(string(source), "func (c *coder) "+function+"(")
	require.True(t, ok, function)
	body, _, _ = strings.Cut(body, "\n}\n")
	call := regexp.MustCompile(`(?:c\.\w+|field|pointer|integer|list)\((?:c, )?"(\w+)"(?:, (required|nullable|optional|valued))?`)
	for _, m := range call.FindAllStringSubmatch(body, -1) {
		name, need := m[1], m[2]
		if slices.Contains(names, name) {
			continue
		}
		if need == "" || need == "valued" {
			need = "optional"
		}
		names, needs = append(names, name), append(needs, need)
	}
	return names, needs
}

// A definition is the definition of an object in docs/schemas/document.json.
type definition struct {
	Properties map[string]struct {
		Description string
		AnyOf       []struct{ Description string } // for members that may be null, as they are inherited
	}
	Required []string
}

// definitionOf returns the named definition, or the document's for "".
func definitionOf(t *testing.T, name string) (d definition) {
	t.Helper()
	text, err := schemas.Files.ReadFile("document.json")
	require.NoError(t, err)
	var document struct {
		definition
		Defs map[string]definition `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &document))
	if name == "" {
		return document.definition
	}
	return document.Defs[name]
}

// TestFormatListsTheExtensions compares the table of docs/format.md with the code.
func TestFormatListsTheExtensions(t *testing.T) {
	listed := map[string]string{}
	for _, row := range formatTables(t)["Files"] {
		if strings.Contains(row[0], "/") {
			listed[row[0]] = strings.Trim(row[1], "`")
		}
	}
	require.Equal(t, extensions, listed)
}

// TestFormatListsTheMembers compares the tables of docs/format.md, and docs/schemas/document.json, with the schema.
func TestFormatListsTheMembers(t *testing.T) {
	tables := formatTables(t)
	for _, c := range []struct {
		heading, def, file, function string
		other                        []string // members in separate functions, which are optional, except content and role
	}{
		{"Document", "", "schema.go", "document", nil},
		{"Record", "record", "schema.go", "record", nil},
		{"Source", "source", "schema.go", "source", nil},
		{"Request", "request", "schema.go", "requestMembers", []string{"continues"}},
		{"Message", "message", "schema.go", "message", nil},
		{"Part", "part", "schema.go", "part", nil},
		{"Tool", "tool", "schema.go", "tool", nil},
		{"Continues", "continues", "continues.go", "continuation", []string{"sent"}},
		{"Response", "response", "answer.go", "response", []string{"citations", "error", "finish_reason", "finish_reason_raw", "content", "headers", "parts", "readings", "readings_more", "tool_calls", "usage"}},
		{"Tool call", "tool_calls", "answer.go", "toolCalls", nil},
		{"Candidate", "candidates", "answer.go", "candidate", []string{"citations", "finish_reason", "finish_reason_raw", "tool_calls"}},
		{"Reading", "readings", "answer.go", "readings", nil},
		{"Citation", "citations", "answer.go", "citations", nil},
		{"Error", "providerError", "answer.go", "providerError", nil},
		{"Usage", "usage", "answer.go", "usage", nil},
	} {
		t.Run(c.heading, func(t *testing.T) {
			names, needs := schema(t, c.file, c.function)
			all := map[string]string{}
			for i, name := range names {
				all[name] = needs[i]
			}
			for _, name := range c.other {
				all[name] = "optional"
				if name == "finish_reason" || name == "content" {
					all[name] = "required"
				}
			}
			listed := map[string]string{}
			var rows []string
			for _, row := range tables[c.heading] {
				if !strings.HasPrefix(row[1], "optional:") { // it is not in the table of sent
					listed[row[0]] = row[2]
					rows = append(rows, row[0])
				}
			}
			delete(all, strings.ToLower(strings.ReplaceAll(c.heading, " ", "_")+"s")) // the member that contains the object
			delete(all, strings.ToLower(c.heading))
			if c.heading == "Request" {
				all["messages"] = "optional"
			}
			require.Equal(t, all, listed)
			said, inSchema := map[string]string{}, map[string]string{}
			var must []string
			for _, row := range tables[c.heading] {
				if need := listed[row[0]]; need == "required" || need == "nullable" {
					must = append(must, row[0])
				}
				if len(row) != 2 { // it is not in the table of sent
					said[row[0]] = strings.Join(row[3:], "")
				}
			}
			d := definitionOf(t, c.def)
			for name, property := range d.Properties {
				inSchema[name] = property.Description
				for _, one := range property.AnyOf {
					inSchema[name] += one.Description
				}
			}
			require.Equal(t, said, inSchema)
			require.ElementsMatch(t, must, d.Required)
			if c.heading != "Document" && c.heading != "Record" {
				require.True(t, slices.IsSorted(rows), "files are in canonical order")
			}
		})
	}
}

// TestFormatListsTheRules checks that docs/format.md explains exactly the rules that are reported.
func TestFormatListsTheRules(t *testing.T) {
	source, err := os.ReadFile("error.go")
	require.NoError(t, err)
	var rules []string
	for _, m := range regexp.MustCompile(`(?m)^\tRule\w+ += "(\w+)"$`).FindAllSubmatch(source, -1) {
		rules = append(rules, string(m[1]))
	}
	var listed []string
	for _, row := range formatTables(t)["Rules"] {
		listed = append(listed, row[0])
	}
	require.Equal(t, rules, listed)
}

// TestFormatShowsTheTexts compares the texts in docs/format.md with those that the package writes.
func TestFormatShowsTheTexts(t *testing.T) {
	data, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	text := string(data)
	require.Contains(t, text, "```\n"+OtherVersion("0.9.0").Message+"\n```")
	require.Contains(t, text, fmt.Sprintf("at most %d characters", lineMost))
	require.Contains(t, text, fmt.Sprintf("each part of more than %d characters is divided", pieceMost))
	var quoted []string
	for _, name := range inherited {
		quoted = append(quoted, "`"+name+"`")
	}
	require.Contains(t, strings.ReplaceAll(text, "\n", " "), strings.Join(quoted, ", "))
	for contentType, extension := range extensions {
		require.Contains(t, text, "| `"+contentType+"` | `"+extension+"` |")
	}
	m := regexp.MustCompile(`printf '%s' '(.*)' \| sha256sum\n([0-9a-f]{64})\n`).FindStringSubmatch(text)
	require.NotNil(t, m)
	require.Equal(t, m[2], canon.Sum([]byte(m[1])).Hex())
}
