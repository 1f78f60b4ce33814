package pagetest

import (
	"regexp"
	"strings"
)

// OutsideCode returns what of a line is not in spans of code, as CommonMark 0.31 has them (6.1), and whether all end.
func OutsideCode(line string) (outside string, ends bool) {
	for {
		before, after, found := strings.Cut(line, "`")
		outside += before
		if !found {
			return outside, true
		}
		rest := strings.TrimLeft(after, "`")
		quotes := len(after) - len(rest) + 1
		end := -1
		for _, run := range regexp.MustCompile("`+").FindAllStringIndex(rest, -1) {
			if run[1]-run[0] == quotes {
				end = run[1]
				break
			}
		}
		if end < 0 {
			return outside, false
		}
		line = rest[end:]
	}
}
