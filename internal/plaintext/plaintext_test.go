package plaintext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

func TestLineAndText(t *testing.T) {
	for _, c := range []struct{ name, why, in, line, text string }{
		{"plain", "most text", "Grüße, 世界 👩‍🚀", "Grüße, 世界 👩‍🚀", "Grüße, 世界 👩‍🚀"},
		{"escape", "a terminal would obey", "a\x1b[2Jb\a", `a\u001b[2Jb\u0007`, `a\u001b[2Jb\u0007`},
		{"c1", "so it would eight-bit controls", "a\u009bb", `a\u009bb`, `a\u009bb`},
		{"delete", "it would hide the character before it", "ab\x7f", `ab\u007f`, `ab\u007f`},
		{"bidi", "what is read is not what stands there", "a\u202eb\u2066c", `a\u202eb\u2066c`, `a\u202eb\u2066c`},
		{"lines", "a line is one", "a\n\tb\r\nc\rd", `a\n\tb\r\nc\rd`, "a\n\tb\nc\\rd"},
		{"separators", "some readers break lines there", "a\u2028b\u0085c", `a\u2028b\u0085c`, `a\u2028b\u0085c`},
		{"invisible", "tag characters are read by models alone", "\U000e0041\u200b", `\udb40\udc41\u200b`, `\udb40\udc41\u200b`},
		{"variation", "bytes can be smuggled in them", "a\ufe01\U000e0101b\ufe0f", `a\ufe01\udb40\udd01b\ufe0f`, `a\ufe01\udb40\udd01b\ufe0f`},
		{"emoji", "they are made so", "❤\ufe0f 1\ufe0f\u20e3 👩\u200d❤\ufe0f\u200d👩", "❤\ufe0f 1\ufe0f\u20e3 👩\u200d❤\ufe0f\u200d👩", "❤\ufe0f 1\ufe0f\u20e3 👩\u200d❤\ufe0f\u200d👩"},
		{"joiners", "nobody sees them in a word", "a\u200db\u200cc 👩\u200d", `a\u200db\u200cc 👩\u200d`, `a\u200db\u200cc 👩\u200d`},
		{"fillers", "they are blank", "\u3164\u115f\uffa0\u2800", `\u3164\u115f\uffa0\u2800`, `\u3164\u115f\uffa0\u2800`},
		{"spaces", "they are no space", "a\u00a0b\u202fc\u2003d e\u3000f", "a\\u00a0b\\u202fc\\u2003d e\u3000f", "a\\u00a0b\\u202fc\\u2003d e\u3000f"},
		{"marks", "a mark without a base is on what stands before it", "e\u0301 \u0301 \x1b\u0301", "e\u0301 \\u0301 \\u001b\\u0301", "e\u0301 \\u0301 \\u001b\\u0301"},
		{"broken", "names of files need not be UTF-8", "a\xffb", "a\uFFFDb", "a\uFFFDb"},
		{"command", "the runner obeys a line that begins so", "::stop-commands::x", `\u003a:stop-commands::x`, `\u003a:stop-commands::x`},
		{"indented", "behind white space too", "a\n \t::add-mask::x", `a\n \t\u003a:add-mask::x`, "a\n \t\\u003a:add-mask::x"},
		{"wrapped", "a line that is broken before a word may begin so", "see ::error::x", `see \u003a:error::x`, `see \u003a:error::x`},
		{"scope", "but not within a word", "std::string", "std::string", "std::string"},
		{"old-command", "it obeys these anywhere", "a ##[set-env name=x;]b", `a \u0023#[set-env name=x;]b`, `a \u0023#[set-env name=x;]b`},
		{"azure", "as others do", "##vso[task.x]##teamcity[x]", `\u0023#vso[task.x]\u0023#teamcity[x]`, `\u0023#vso[task.x]\u0023#teamcity[x]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.line, Line(c.in), c.why)
			require.Equal(t, c.text, Text(c.in), c.why)
			require.Equal(t, c.line, Line(c.line), "it is safe already")
		})
	}
}

// FuzzText proves that no line of what is printed begins a command, and that JSON keeps its meaning.
func FuzzText(t *testing.F) {
	f := mutation.New(t)
	f.Add("a\n ::x::\x1b##[y]\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		for line := range strings.Lines(Text(s)) {
			require.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"))
			require.NotContains(t, line, "##[")
			require.Equal(t, -1, strings.IndexFunc(strings.Trim(line, "\n\t"), func(r rune) bool { return !Shown(r) && r != '\t' }))
		}
		quoted, err := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
		require.NoError(t, err)
		var same string
		require.NoError(t, json.Unmarshal([]byte(Line(string(quoted))), &same))
		require.Equal(t, strings.ToValidUTF8(s, "\uFFFD"), same)
	})
}
