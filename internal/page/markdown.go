package page

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// Code quotes a text for Markdown as a word, in a table too. Within the quotes nothing is Markdown, HTML, a
// mention or a command.
func Code(text string) string {
	text = strings.NewReplacer("`", "'", "|", `\|`, "\n", " ").Replace(text)
	return "`" + plaintext.Line(text) + "`"
}

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
