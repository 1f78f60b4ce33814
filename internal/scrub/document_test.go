package scrub

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOffsets holds that each byte of the characters has a position in the spelling.
func TestOffsets(t *testing.T) {
	for spelling, want := range map[string]string{
		``: "", `é`: "é", `a\nb`: "a\nb", `\u00e9\"`: `é"`, `\ud83d\ude00!`: "😀!", `\ud83d`: "\ufffd", `\ud83d\ud83dx`: "\ufffd\ufffdx", `\ude00\/`: "\ufffd/",
	} {
		d := parse([]byte(`["` + spelling + `"]`))
		require.Equal(t, want, d.texts[0].value, spelling)
		offsets := offsetsOf([]byte(spelling))
		require.Len(t, offsets, len(want)+1, spelling)
		require.Equal(t, len(spelling), offsets[len(want)])
	}
}
