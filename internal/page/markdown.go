package page

import (
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// Code quotes a text as inline code. Within the quotes nothing is Markdown, HTML, a mention or a command. Backticks are
// kept, as in a command to be copied: the quotes consist of a different number of them.
func Code(text string) string {
	text = plaintext.Line(strings.ReplaceAll(text, "\n", " "))
	quotes := "`"
	for slices.Contains(backticks.FindAllString(text, -1), quotes) {
		quotes += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " " // Markdown removes these spaces
	}
	return quotes + text + quotes
}

var backticks = regexp.MustCompile("`+")

// CellCode is Code for a table, in which a bar ends a cell.
func CellCode(text string) string { return strings.ReplaceAll(Code(text), "|", `\|`) }

// CodeBlock quotes lines as a code block; language determines the highlighting, such as diff. The fence is longer than
// any in the text, which therefore cannot end it.
func CodeBlock(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(plaintext.Text(text), "\n") + "\n" + fence + "\n"
}

// MarkdownLimit is the maximum length of an issue, a comment or a pull request on GitHub, in characters.
const MarkdownLimit = 65_536
