package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
)

const hostile = "T/`<img src=x>`|@octocat\n::error::x ##[y]\u202e\n````\n"

func TestCode(t *testing.T) {
	require.Equal(t, "``T/`<img src=x>`|@octocat \\u003a:error::x \\u0023#[y]\\u202e ```` ``", page.Code(hostile))
	require.Equal(t, "``T/`<img src=x>`\\|@octocat \\u003a:error::x \\u0023#[y]\\u202e ```` ``", page.CellCode(hostile))
	for text, want := range map[string]string{
		"node -e 'console.log(`a`)'": "``node -e 'console.log(`a`)'``", "echo '`id`'": "``echo '`id`'``",
		"`": "`` ` ``", "``": "` `` `", "a`": "`` a` ``", "`a``b": "``` `a``b ```", "a```": "` a``` `",
	} {
		require.Equal(t, want, page.Code(text), "a command keeps its characters")
	}
	require.Equal(t, "`go test ./... -run '^(TestA|TestB)$'`", page.Code("go test ./... -run '^(TestA|TestB)$'"), "a command is copied")
}

func TestCodeBlock(t *testing.T) {
	block := page.CodeBlock("diff", hostile)
	fence, rest, ok := strings.Cut(block, "diff\n")
	require.True(t, ok)
	require.Equal(t, "`````", fence, "longer than what is in the text")
	require.Equal(t, "T/`<img src=x>`|@octocat\n\\u003a:error::x \\u0023#[y]\\u202e\n````\n"+fence+"\n", rest)
	require.Equal(t, "```\na\n```\n", page.CodeBlock("", "a"))
}
