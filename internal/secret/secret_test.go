package secret

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFind looks for the values of an environment in JSON texts.
func TestFind(t *testing.T) {
	values := Of([]string{`OPENAI_API_KEY=sk-0123456789/"quoted"`, "SOME_TOKEN=short1", "OTHER_TOKEN=withoutanydigits", "USER=sk-0123456789abcdef", "broken"})
	require.Len(t, values, 1, "a value is long, has a digit, and its variable is named so")
	for _, c := range []struct{ name, why, text, pointer string }{
		{"text", "strings are decoded", `{"a":["b","is sk-0123456789/\"quoted\"."]}`, "/a/1"},
		{"escaped", "however they are spelled", `{"a":"sk-0123456789\/\u0022quoted\""}`, "/a"},
		{"query", "as in a URL", `{"a":{"b/c":"?key=sk-0123456789%2F%22quoted%22"}}`, "/a/b~1c"},
		{"member", "the name of a member", `{"sk-0123456789/\"quoted\"":1}`, `/sk-0123456789~1"quoted"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, pointer, found := values.Find([]byte(c.text))
			require.True(t, found, c.why)
			require.Equal(t, "OPENAI_API_KEY", v.Variable)
			require.Equal(t, c.pointer, pointer)
		})
	}
	_, _, found := values.Find([]byte(`{"a":"sk-0123456789"}`))
	require.False(t, found)
	v, _, found := values.Find([]byte(`no JSON: sk-0123456789/"quoted"`))
	require.True(t, found)
	require.Equal(t, "OPENAI_API_KEY", v.Variable)
}
