package page

import (
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// Code quotes a text for Markdown as a word. Within the quotes nothing is Markdown, HTML, a mention or a command. Its
// backticks stay, as in a command that is copied: the quotes are of another number of them.
func Code(text string) string {
	text = plaintext.Line(strings.ReplaceAll(text, "\n", " "))
	quotes := "`"
	for slices.Contains(backticks.FindAllString(text, -1), quotes) {
		quotes += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " " // which Markdown takes off
	}
	return quotes + text + quotes
}

var backticks = regexp.MustCompile("`+")

// CellCode is Code in a table, where a bar ends a cell.
func CellCode(text string) string { return strings.ReplaceAll(Code(text), "|", `\|`) }

// CodeBlock quotes lines for Markdown; language says how they are coloured, as diff does. The fence is longer
// than any in the text, which cannot end it.
func CodeBlock(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(plaintext.Text(text), "\n") + "\n" + fence + "\n"
}

// MarkdownLimit is how many characters GitHub takes as the text of an issue, a comment or a pull request.
const MarkdownLimit = 65_536
