// Package amount parses sizes and ages in the form that people write: 1MB, 30d.
package amount

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Of returns the amount that n points to, or 0 if n is nil.
func Of(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// A unit follows a number.
type unit struct {
	name string
	of   float64
}

// Units of sizes, in bytes: powers of 1,000.
var sizes = []unit{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1}}

// Units of ages. Months have no length, so there are none.
var ages = []unit{{"y", 365 * float64(day)}, {"w", 7 * float64(day)}, {"d", float64(day)}, {"h", float64(time.Hour)}}

// ParseSize parses a size, a number with B, kB, MB or GB, and returns it in bytes.
func ParseSize(text string) (int64, error) {
	n, ok := parse(text, sizes)
	if !ok {
		return 0, fmt.Errorf("%q is no size: write a number and its unit, such as 500kB or 1.5MB", text)
	}
	return int64(n), nil
}

// ParseAge parses an age, a number with h, d, w or y. A year has 365 days.
func ParseAge(text string) (time.Duration, error) {
	n, ok := parse(text, ages)
	if !ok {
		return 0, fmt.Errorf("%q is no age: write a number and its unit, such as 12h, 30d, 8w or 1y", text)
	}
	return time.Duration(n), nil
}

// parse parses a positive number with one of the units, and returns their product, which fits an int64.
func parse(text string, units []unit) (float64, bool) {
	for _, u := range units {
		number, is := strings.CutSuffix(text, u.name)
		if !is || strings.Trim(number, "0123456789.") != "" {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		n *= u.of
		return n, err == nil && n >= 1 && n < math.MaxInt64
	}
	return 0, false
}
