package provider

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// TestNumbersHoldTheVector checks that a vector's placeholder changes with each of its numbers, and with nothing else.
// So an altered raw answer does not fit its record (design R16).
func TestNumbersHoldTheVector(t *testing.T) {
	vector := strings.Repeat("0.5,", 1535) + "0.25"
	whole := briefOf(t, "["+vector+"]")
	require.Regexp(t, `^"numbers:sha256:[0-9a-f]{64};1536;0\.5,0\.5,0\.5"$`, whole)
	for _, c := range []struct {
		name, why, text string
		same            bool
	}{
		{"white_space", "says nothing", "[ " + strings.ReplaceAll(vector, ",", ",\n ") + " ]", true},
		{"last", "a number beyond those that are shown", "[" + strings.TrimSuffix(vector, "0.25") + "0.26]", false},
		{"swapped", "numbers have an order", "[0.25," + strings.TrimSuffix(vector, ",0.25") + "]", false},
		{"shorter", "a number is missing", "[" + strings.TrimPrefix(vector, "0.5,") + "]", false},
		{"joined", "numbers have ends", "[" + strings.Replace(vector, "0.5,0.5", "0.5,0.50", 1) + "]", false},
		{"base64", "nor is one of base64", `"base64:sha256:` + strings.Repeat("0", 64) + `;3"`, false},
		{"text", "the text itself is no vector", whole, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.same, whole == briefOf(t, c.text), c.why)
		})
	}
}

func briefOf(t *testing.T, text string) string {
	t.Helper()
	doc, err := jsontext.Parse([]byte(text))
	require.NoError(t, err)
	return string(brief(doc.Root()))
}

// TestBriefTexts checks which texts of an answer are replaced, and that no text looks like a replacement.
func TestBriefTexts(t *testing.T) {
	long := strings.Repeat("AAAA", fewBase64/4)
	for _, c := range []struct{ name, why, text, want string }{
		{"base64", "nobody reads it", long, `^"base64:sha256:[0-9a-f]{64};384"$`},
		{"short", "it is no vector", long[4:], `^"A+"$`},
		{"lines", "its spelling is not the usual one", long[:4] + `\n` + long[4:], `^"AAAA\\nA+"$`},
		{"no_base64", "it is a text", long + "!", `^"A+!"$`},
		{"like_one", "it looks like a replacement", "base64:sha256:00;3", `^"\\\\base64:sha256:00;3"$`},
	} {
		require.Regexp(t, c.want, briefOf(t, `"`+c.text+`"`), "%s: %s", c.name, c.why)
	}
}
