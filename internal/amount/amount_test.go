package amount_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/amount"
)

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		name, reason, text string
		want               int64
	}{
		{"bytes", "a unit is always there", "17B", 17},
		{"kilo", "1,000, as disks and networks count", "500kB", 500_000},
		{"kilo-capital", "both spellings are common", "2KB", 2000},
		{"fraction", "people write it", "1.5MB", 1_500_000},
		{"giga", "stores grow", "2GB", 2_000_000_000},
		{"bare", "a number alone may be anything", "1000", 0},
		{"zero", "it would limit nothing, or all", "0MB", 0},
		{"negative", "there is no such size", "-1MB", 0},
		{"exponent", "nobody means it", "1e3MB", 0},
		{"huge", "it must fit", "99999999999GB", 0},
		{"unit", "a number is needed", "MB", 0},
		{"binary", "it is another unit", "1MiB", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := amount.ParseSize(c.text)
			if c.want == 0 {
				require.EqualError(t, err, `"`+c.text+`" is no size: write a number and its unit, such as 500kB or 1.5MB`, c.reason)
				return
			}
			require.NoError(t, err, c.reason)
			require.Equal(t, c.want, got, c.reason)
		})
	}
}

func TestParseAge(t *testing.T) {
	for _, c := range []struct {
		name, reason, text string
		want               time.Duration
	}{
		{"hours", "a nightly run counts so", "12h", 12 * time.Hour},
		{"days", "the usual one", "30d", 30 * 24 * time.Hour},
		{"weeks", "for those who plan so", "8w", 8 * 7 * 24 * time.Hour},
		{"years", "of 365 days", "1y", 365 * 24 * time.Hour},
		{"months", "months have no length", "1m", 0},
		{"bare", "a number alone may be anything", "30", 0},
		{"huge", "it must fit", "1000y", 0},
		{"words", "one spelling is enough", "30 days", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := amount.ParseAge(c.text)
			if c.want == 0 {
				require.EqualError(t, err, `"`+c.text+`" is no age: write a number and its unit, such as 12h, 30d, 8w or 1y`, c.reason)
				return
			}
			require.NoError(t, err, c.reason)
			require.Equal(t, c.want, got, c.reason)
		})
	}
}
