package traceforgetest

import (
	"flag"
	"regexp"
	"slices"
	"strings"
	"testing"

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

// selectsBelow reports whether a -run pattern may select only subtests of the named test: one of its alternatives has
// more levels than the test's name. Where it is in doubt, such as of a slash in brackets, it reports that it does.
func selectsBelow(pattern, name string) bool {
	isDeeper := func(one string) bool { return strings.Count(one, "/") > strings.Count(name, "/") }
	if strings.ContainsAny(pattern, "([") || strings.Contains(pattern, `\|`) { // not every | is between alternatives
		return isDeeper(pattern)
	}
	test := gotest.Function(name)
	return slices.ContainsFunc(strings.Split(pattern, "|"), func(one string) bool {
		if !isDeeper(one) {
			return false // most are told by that
		}
		top, _, _ := strings.Cut(one, "/")
		matches, err := regexp.MatchString(top, test)
		return matches || err != nil
	})
}
