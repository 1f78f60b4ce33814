package page

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/drift"
)

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

func TestClip(t *testing.T) {
	require.Equal(t, "äöü", Clip("äöü", 3), "what fits stays")
	require.Equal(t, "äö…", Clip("äöüß", 3))
}

func TestPieces(t *testing.T) {
	line := &drift.Line{Op: "+", Text: "Be very kind.", Marks: []drift.Mark{{From: 3, To: 8}, {From: 8, To: 8}}}
	require.Equal(t, []drift.Piece{{Text: "Be "}, {Text: "very ", Marked: true}, {Text: "kind."}}, shownPieces(line))
	long := strings.Repeat("ä", htmlWidth/2-2)
	line = &drift.Line{Op: "+", Text: long + "veräy kind.", Marks: []drift.Mark{{From: len(long), To: len(long) + 7}}}
	require.Equal(t, []drift.Piece{
		{Text: "… (3596 equal bytes) …"}, {Text: long[:htmlAround]}, {Text: "veräy ", Marked: true}, {Text: "kind."},
	}, shownPieces(line), "a change at the end of a long line is shown")
	line.Marks[0].From = 0
	require.Equal(t, []drift.Piece{{Text: long + "ver", Marked: true}, {Text: "… (8 bytes more)"}}, shownPieces(line))
	require.Equal(t, []drift.Piece{{}}, shownPieces(&drift.Line{Op: " "}))
}

func TestAmounts(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1 kB", 1499: "1 kB", 12_345: "12 kB", 999_499: "999 kB", 999_500: "1.0 MB", 1_234_567: "1.2 MB",
		999_949_999: "999.9 MB", 999_950_000: "1.0 GB", 2_340_000_000: "2.3 GB",
	} {
		require.Equal(t, want, Size(n))
	}
	for d, want := range map[time.Duration]string{
		-time.Hour: "0h", 59 * time.Minute: "0h", 47 * time.Hour: "47h", 48 * time.Hour: "2d", 400 * 24 * time.Hour: "400d",
	} {
		require.Equal(t, want, Age(d), "clocks differ")
	}
}
