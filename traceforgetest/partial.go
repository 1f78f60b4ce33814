package traceforgetest

import (
	"flag"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// isPartial reports whether the run leaves parts of the named test out, by its flags. The whole test may make calls
// that this run does not. With -failfast it may, which counts only when records would be dropped for it.
func (r *Recorder) isPartial() bool {
	selects := "test.run"
	if gotest.Kind(gotest.Function(r.opts.Test)) == "Benchmark" {
		selects = "test.bench"
	}
	return testing.Short() || flagText("test.skip") != "" || flagText("test.fuzz") != "" ||
		selectsBelow(flagText(selects), r.opts.Test) ||
		r.opts.Mode.Drops() && flagText("test.failfast") == "true"
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
	pattern = strings.Map(withoutSpace, pattern)
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

// withoutSpace replaces white space, as package testing does in patterns and in the names of tests.
func withoutSpace(c rune) rune {
	if unicode.IsSpace(c) {
		return '_'
	}
	return c
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
