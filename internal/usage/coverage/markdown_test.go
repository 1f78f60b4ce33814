package coverage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
)

// TestMarkdownIsNothingElse proves that names are neither Markdown, HTML nor commands.
func TestMarkdownIsNothingElse(t *testing.T) {
	const name = "T/`<img src=x>`|\n::error::x ##[y]\u202e"
	const quoted = "``T/`<img src=x>`| \\u003a:error::x \\u0023#[y]\\u202e``"
	r := &Report{Failed: []page.Test{{Package: name, Name: name}}}
	require.Contains(t, r.Markdown(page.MarkdownLimit), "\nFailed for another reason:\n\n- "+quoted+" in "+quoted+"\n")
}
