package traceforgetest

import (
	"flag"
	"regexp"
	"strings"
	"testing"
)

// isPartial reports whether the run leaves parts of the named test out, by its flags. The whole test may make calls
// that this run does not.
func isPartial(name string) bool {
	return testing.Short() || flagText("test.skip") != "" || selectsBelow(flagText("test.run"), name)
}

// flagText returns the value of a flag of the test binary; "" where it has none of that name.
func flagText(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// selectsBelow reports whether a -run pattern selects only subtests of the named test. It does where each alternative
// that selects the test has more levels than its name.
func selectsBelow(pattern, name string) (below bool) {
	if !strings.Contains(pattern, "/") {
		return false // most are told by that
	}
	names := strings.Split(name, "/")
	for _, one := range splitPattern(pattern, '|') {
		levels := splitPattern(one, '/')
		if !selects(levels[:min(len(levels), len(names))], names) {
			continue
		}
		if len(levels) <= len(names) {
			return false
		}
		below = true
	}
	return below
}

// selects reports whether the names of a test and its subtests match the patterns of their levels.
func selects(levels, names []string) bool {
	for i, level := range levels {
		if ok, err := regexp.MatchString(level, names[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// splitPattern splits a -run pattern as package testing does: at separators outside of brackets and
// parentheses.
func splitPattern(pattern string, separator byte) (parts []string) {
	brackets, parentheses, from := 0, 0, 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[':
			brackets++
		case c == ']':
			brackets = max(0, brackets-1)
		case c == '(' && brackets == 0:
			parentheses++
		case c == ')' && brackets == 0:
			parentheses--
		case c == separator && brackets == 0 && parentheses == 0:
			parts, from = append(parts, pattern[from:i]), i+1
		}
	}
	return append(parts, pattern[from:])
}
