package page

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// wrap breaks text at spaces into lines of at most width characters. Lines keep their indentation. Words are never
// broken, so that a URL can be copied.
func wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " ")
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		room := max(width-len(indent), width/2)
		for at := breakAt(words, room); at >= 0; at = breakAt(words, room) {
			lines = append(lines, indent+strings.TrimRight(words[:at], " "))
			words = strings.TrimLeft(words[at:], " ")
		}
		lines = append(lines, indent+words)
	}
	return lines
}

// breakAt returns the index of the space at which to break text. At most room characters come before it, or as few as
// possible. It returns -1 if there is no such space, or if text fits into room.
func breakAt(text string, room int) int {
	last, n := -1, 0
	for i, r := range text {
		if r == ' ' {
			last = i
		}
		if n++; n > room && last >= 0 {
			return last
		}
	}
	return -1
}

// Clip shortens text to at most width characters.
func Clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width-1, 0)]) + "…"
}

// Count formats a number of things.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Counts formats the numbers that are not 0, in the given order: "3 kept", "1 new".
func Counts(order []string, n map[string]int) (all []string) {
	for _, what := range order {
		if n[what] > 0 {
			all = append(all, fmt.Sprintf("%d %s", n[what], what))
		}
	}
	return all
}

// Size formats a number of bytes.
func Size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_500:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	case n < 999_950_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// Age formats an age in whole hours, or in days if it is at least two days.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return fmt.Sprintf("%dh", max(d/time.Hour, 0))
	}
	return fmt.Sprintf("%dd", d/day)
}

// andMore says how many more there are than are shown; empty if none.
func andMore(n int, one, many string) string {
	if n <= 0 {
		return ""
	}
	return "and " + Count(n, "more "+one, "more "+many)
}

// Most returns the first n lines, and how many more there are.
func Most(n int, lines []string, more string) []string {
	if len(lines) <= n {
		return lines
	}
	return append(lines[:n:n], fmt.Sprintf("and %d %s", len(lines)-n, more))
}

// Distinct returns a list sorted and without duplicates. It changes the list.
func Distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
