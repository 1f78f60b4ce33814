package snapshot_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// TestMediumOf checks that texts get a name exactly if the name can restore their spelling of base64.
func TestMediumOf(t *testing.T) {
	text := strings.Repeat("+/8xQq3/", 65)
	forURLs := strings.NewReplacer("+", "-", "/", "_").Replace(text)
	for name, contentType := range map[string]string{
		text:                                   "",
		text + "AA==":                          "",
		text + "AA":                            ";unpadded",
		forURLs:                                ";base64url",
		forURLs + "AA":                         ";base64url;unpadded",
		"data:audio/L16;rate=1;base64," + text: "audio/L16;rate=1",
		"data:image/png;base64," + forURLs:     "image/png;base64url",
		strings.Repeat("AAAA", 150):            "",
	} {
		m, data, ok := snapshot.MediumOf(name)
		require.True(t, ok, name)
		require.Equal(t, contentType, m.ContentType)
		require.Equal(t, name, m.Text(data))
	}
	for _, other := range []string{
		"", text[:508], text + "\n", text[:300] + "\r\n" + text, text + "A", text + "=", text + "AB==", forURLs + text,
		strings.Repeat("-", 600), strings.Repeat("ACGT", 200), strings.Repeat("0123abcd", 100),
		"data:image/png," + text, "data:image/png;base64url;base64," + text, "data:image/png;base64," + text[:508],
		"data:;base64," + text, // the name would be that of the base64 alone
	} {
		_, _, ok := snapshot.MediumOf(other)
		require.False(t, ok, other)
	}
}

// FuzzMediumOf checks that two texts never have the same name.
func FuzzMediumOf(f *testing.F) {
	f.Add([]byte("abc"), "image/png")
	f.Fuzz(func(t *testing.T, data []byte, contentType string) {
		text := snapshot.Medium{ContentType: contentType}.Text(append(bytes.Repeat([]byte{1, 0x7f, 0xfe}, 150), data...))
		if m, again, ok := snapshot.MediumOf(text); ok {
			require.Equal(t, text, m.Text(again))
		}
	})
}
