package canon

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSum(t *testing.T) {
	h := Sum([]byte("abc"))
	require.Equal(t, Hash("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), h,
		"the example of FIPS 180-4")
	require.True(t, h.Valid())
	require.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", h.Hex())
	require.True(t, Sum(nil).Valid())
}

func TestHashValid(t *testing.T) {
	digits := strings.Repeat("0123456789abcdef", 4)
	tests := []struct {
		name string
		why  string
		hash Hash
		want bool
	}{
		{"as-specified", "MI6", Hash("sha256:" + digits), true},
		{"zero-value", "it is no hash", "", false},
		{"no-prefix", "the algorithm must be named", Hash(digits), false},
		{"other-algorithm", "only SHA-256 is specified", Hash("sha512:" + digits), false},
		{"upper-case-prefix", "one spelling only", Hash("SHA256:" + digits), false},
		{"upper-case-digits", "MI6 wants lower case", Hash("sha256:" + strings.ToUpper(digits)), false},
		{"short", "63 digits", Hash("sha256:" + digits[1:]), false},
		{"long", "65 digits", Hash("sha256:" + digits + "0"), false},
		{"not-hexadecimal", "g is no digit", Hash("sha256:" + digits[1:] + "g"), false},
		{"before-digits", "/ precedes 0", Hash("sha256:" + digits[1:] + "/"), false},
		{"after-nine", ": follows 9", Hash("sha256:" + digits[1:] + ":"), false},
		{"before-letters", "` precedes a", Hash("sha256:" + digits[1:] + "`"), false},
		{"line-end", "a hash read from a file is trimmed first", Hash("sha256:" + digits + "\n"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.hash.Valid(), tt.why)
		})
	}
	require.Empty(t, Hash("").Hex(), "the zero value has no digits, and asking for them does no harm")
}
