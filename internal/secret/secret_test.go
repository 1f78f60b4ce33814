package secret

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFind looks for the values of an environment in JSON texts.
func TestFind(t *testing.T) {
	s := New()
	s.Environment([]string{`OPENAI_API_KEY=sk-0123456789/"quoted"`, "SOME_TOKEN=short1", "OTHER_TOKEN=withoutanydigits", "USER=sk-0123456789abcdef", "broken"})
	require.Len(t, s.known, 1, "a value is long, no words, and its variable is named so")
	for _, c := range []struct{ name, why, text, pointer string }{
		{"text", "strings are decoded", `{"a":["b","is sk-0123456789/\"quoted\"."]}`, "/a/1"},
		{"escaped", "however they are spelled", `{"a":"sk-0123456789\/\u0022quoted\""}`, "/a"},
		{"query", "as in a URL", `{"a":{"b/c":"?key=sk-0123456789%2F%22quoted%22"}}`, "/a/b~1c"},
		{"small-query", "in small letters too", `{"a":{"b/c":"?key=sk-0123456789%2f%22quoted%22"}}`, "/a/b~1c"},
		{"surrogate", "in a string that no Go string can hold", `{"a":"\ud800 sk-0123456789/\"quoted\""}`, "/a"},
		{"member", "the name of a member, which is not told", `{"b":{"sk-0123456789/\"quoted\"":1}}`, `/b/[the value of OPENAI_API_KEY]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			hit, found := s.Find([]byte(c.text))
			require.True(t, found, c.why)
			require.Equal(t, Hit{"the value of OPENAI_API_KEY", c.pointer}, hit)
		})
	}
	_, found := s.Find([]byte(`{"a":"sk-0123456789"}`))
	require.False(t, found)
	hit, found := s.Find([]byte(`no JSON: sk-0123456789/"quoted"`))
	require.True(t, found)
	require.Equal(t, Hit{"the value of OPENAI_API_KEY", ""}, hit)
}

// TestFormatsHaveSources proves that each format says who says so.
func TestFormatsHaveSources(t *testing.T) {
	for _, f := range Formats() {
		require.Regexp(t, `^(gitleaks|trufflehog|noseyparker) \S`, f.Source, f.Prefix)
		require.GreaterOrEqual(t, len(f.Prefix), 3, "the index is one of three bytes")
	}
}
