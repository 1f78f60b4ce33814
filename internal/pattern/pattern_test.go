package pattern

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDummies(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		group         int
		want          string
	}{
		{"literal", `sk-[a-z]{4}`, 0, "sk-aaab sk-aaac"},
		{"unbound", `ORD-\d+`, 0, "ORD-00000001 ORD-00000002"},
		{"least", `[A-F0-9]{12,}`, 0, "000000000001 000000000002"},
		{"group", `name: (\w{3})\b`, 1, "001 002"},
		{"alternatives", `^(?:cat|dog)s?$`, 0, "cat cat"},
		{"any", `x.y`, 0, "xby xcy"},
		{"other", `[äö]ß`, 0, "äß äß"},
	} {
		t.Run(c.name, func(t *testing.T) {
			re := regexp.MustCompile(c.pattern)
			p := &Pattern{re, c.group}
			require.Equal(t, c.want, p.Dummy(1)+" "+p.Dummy(2))
			if c.group == 0 {
				require.Equal(t, p.Dummy(1), re.FindString(p.Dummy(1)), "the rule finds it in the next request")
			}
		})
	}
	require.Less(t, len((&Pattern{re: regexp.MustCompile(`(?:a{100}){10}(?:b{1000}){1,}`)}).Dummy(1)), 20000)
}

// TestNew refuses what would change its own output: a rule sees the text between placeholders.
func TestNew(t *testing.T) {
	for _, c := range []struct{ name, reason, pattern, want string }{
		{"number", "what most rules are", `\bORD-[0-9]{8}\b`, ""},
		{"rest", "it leaves nothing", `say.*`, ""},
		{"group", "what is around stays", `Dear (\w+),`, ""},
		{"line", "it is once in a line", `(?m)^Request-Id: (.*)$`, ""},
		{"quoted", "what closes a value is no beginning of one", `"(\w+)"`, ""},
		{"empty", "it finds nothing", `x*?`, ""},
		{"letter", "each letter becomes the first of a word", `\b[a-z]`, `of "bc" it takes more, "c"`},
		{"first", "each becomes the first of a text", `^.`, `it takes more`},
		{"between", "what stands between two values is one", `"([^"]+)"`, `it takes more, " "`},
		{"large", "each byte of a text would cost as much", `[a-z]{1000}[0-9]{1000}`, "instructions, must have at most 2000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(regexp.MustCompile(c.pattern))
			if c.want == "" {
				require.NoError(t, err, c.reason)
				return
			}
			require.ErrorContains(t, err, c.want, c.reason)
		})
	}
}
