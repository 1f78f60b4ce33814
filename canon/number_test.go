package canon

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// appendixB is the table of RFC 8785, appendix B, without its two rows that are no JSON:
// 7fffffffffffffff is NaN and 7ff0000000000000 is Infinity, which no JSON text can spell.
var appendixB = []struct {
	bits uint64
	want string
}{
	{0x0000000000000000, "0"},
	{0x8000000000000000, "0"},
	{0x0000000000000001, "5e-324"},
	{0x8000000000000001, "-5e-324"},
	{0x7fefffffffffffff, "1.7976931348623157e+308"},
	{0xffefffffffffffff, "-1.7976931348623157e+308"},
	{0x4340000000000000, "9007199254740992"},
	{0xc340000000000000, "-9007199254740992"},
	{0x4430000000000000, "295147905179352830000"},
	{0x44b52d02c7e14af5, "9.999999999999997e+22"},
	{0x44b52d02c7e14af6, "1e+23"},
	{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
	{0x444b1ae4d6e2ef4e, "999999999999999700000"},
	{0x444b1ae4d6e2ef4f, "999999999999999900000"},
	{0x444b1ae4d6e2ef50, "1e+21"},
	{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
	{0x3eb0c6f7a0b5ed8d, "0.000001"},
	{0x41b3de4355555553, "333333333.3333332"},
	{0x41b3de4355555554, "333333333.33333325"},
	{0x41b3de4355555555, "333333333.3333333"},
	{0x41b3de4355555556, "333333333.3333334"},
	{0x41b3de4355555557, "333333333.33333343"},
	{0xbecbf647612f3696, "-0.0000033333333333333333"},
	{0x43143ff3c1cb0959, "1424953923781206.2"},
}

func TestAppendixB(t *testing.T) {
	for _, tt := range appendixB {
		t.Run(strconv.FormatUint(tt.bits, 16), func(t *testing.T) {
			f := math.Float64frombits(tt.bits)
			require.Equal(t, tt.want, string(jsontext.AppendFloat(nil, f)))

			spelled := strconv.FormatFloat(f, 'e', 20, 64)
			got, err := JSON([]byte(spelled))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got), "however it is spelled")

			require.True(t, Canonical([]byte(tt.want)))
			got, err = Marshal(f)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Marshal(f)
		require.Error(t, err, "section 3.2.2.3: NaN and Infinity are an error")
	}
}

// TestNumbersAgree compares with encoding/json on numbers of every size and length, in particular on both
// sides of the limits up to which a number is canonical without being parsed.
func TestNumbersAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(8785, 7493))
	digits := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte('0' + byte(random.IntN(10)))
		}
		return b.String()
	}
	for range 50_000 {
		text := ""
		if random.IntN(2) == 0 {
			text = "-"
		}
		if random.IntN(3) == 0 {
			text += "0"
		} else {
			text += strconv.Itoa(1+random.IntN(9)) + digits(random.IntN(20))
		}
		if random.IntN(3) > 0 {
			text += "." + strings.Repeat("0", random.IntN(9)) + digits(1+random.IntN(18))
		}
		if random.IntN(8) == 0 {
			text += "e" + strconv.Itoa(random.IntN(640)-320)
		}

		got, err := JSON([]byte(text))
		want, fits := fit(text)
		if !fits {
			require.ErrorIs(t, err, ErrNumber, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, string(got), text)
		require.Equal(t, want == text, Canonical([]byte(text)), text)
	}
	for range 50_000 {
		f := math.Float64frombits(random.Uint64())
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			want := spelled(f)
			require.Equal(t, want, string(jsontext.AppendFloat(nil, f)))
			require.True(t, Canonical([]byte(want)), want)
		}
	}
}
