package page

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrintable(t *testing.T) {
	tests := []struct {
		name, why, text, line, lines string
	}{
		{"plain", "text is shown as it is", "Grüße, 世界 👩\u200d💻", "Grüße, 世界 👩\u200d💻", "Grüße, 世界 👩\u200d💻"},
		{"layout", "a line holds no line breaks", "a\n\tb", `a\n\tb`, "a\n\tb"},
		{"crlf", "line ends of any kind are line ends in text", "a\r\nb\rc", `a\r\nb\rc`, "a\nb\\rc"},
		{"escape", "an escape sequence would drive the terminal", "\x1b[31m\x07", `\u001b[31m\u0007`, `\u001b[31m\u0007`},
		{"c1", "so would its one-character form", "\u009b31m", `\u009b31m`, `\u009b31m`},
		{"delete", "it would hide the character before it", "ab\x7f", `ab\u007f`, `ab\u007f`},
		{"bidi", "text that is reordered reads as another one", "\u202eevil", `\u202eevil`, `\u202eevil`},
		{"invisible", "tag characters are read by models alone", "\U000e0041\u200b", `\udb40\udc41\u200b`, `\udb40\udc41\u200b`},
		{"separator", "some terminals break lines here", "a\u2028b", `a\u2028b`, `a\u2028b`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.line, Printable(tt.text), tt.why)
			require.Equal(t, tt.lines, PrintableText(tt.text), tt.why)
		})
	}
}

// Printable makes of a JSON text another spelling of it, which is how --json stays safe.
func FuzzPrintable(f *testing.F) {
	f.Add("\x1b[2J\u009b31m\u202e\U000e0041\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range Printable(s) {
			require.True(t, shown(c), "%q is not printable", c)
		}
		want := strings.ToValidUTF8(s, "\ufffd")
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got string
		require.NoError(t, json.Unmarshal([]byte(Printable(string(text))), &got))
		require.Equal(t, want, got)
	})
}

func TestWrap(t *testing.T) {
	tests := []struct {
		name, why, text string
		want            []string
	}{
		{"short", "nothing is to be done", "a b", []string{"a b"}},
		{"exact", "a line of just the width fits", "1234567890", []string{"1234567890"}},
		{"spaces", "lines break at the last space that fits", "one two three four", []string{"one two", "three four"}},
		{"word", "a word is never broken", "see https://example.com/path now", []string{"see", "https://example.com/path", "now"}},
		{"indent", "what follows keeps the indentation", "  - one two", []string{"  - one", "  two"}},
		{"deep", "an indentation that leaves no room does not break every word", "          aa bb cc", []string{"          aa bb", "          cc"}},
		{"tab", "tabs have a known width", "\tx", []string{"    x"}},
		{"lines", "empty lines stay, the last line end goes", "a\n\nb\n", []string{"a", "", "b"}},
		{"empty", "no text is an empty line", "", []string{""}},
		{"runes", "characters count, not bytes", "ää öö üü ß", []string{"ää öö üü ß"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, wrap(tt.text, 10), tt.why)
		})
	}
}

// A line of megabytes is wrapped in one pass.
func BenchmarkWrap(b *testing.B) {
	text := strings.Repeat("word ", 200_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		wrap(text, 100)
	}
}

func TestByteSize(t *testing.T) {
	for n, want := range map[int]string{0: "0 B", 999: "999 B", 1000: "1 kB", 12_345: "12 kB", 999_499: "999 kB", 999_500: "1.0 MB", 2_345_678: "2.3 MB"} {
		require.Equal(t, want, byteSize(n))
	}
}

func TestClip(t *testing.T) {
	require.Equal(t, "äöü", Clip("äöü", 3), "what fits stays")
	require.Equal(t, "äö…", Clip("äöüß", 3))
}
