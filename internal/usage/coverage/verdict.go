package coverage

import (
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
)

// judge says why no record of a test was used. They are orphans only where the test is not in the code, or where it
// is proven that it passed without them: not where anything kept the test from running as it always does. Nothing is
// proven of a test that a framework runs under a name of its own.
func (r *Run) judge(test page.Test) (reason string, isOrphan bool) {
	pkg := test.Package
	top, _, _ := strings.Cut(test.Test, "/")
	gone := r.sources.Gone(pkg, test.Test)
	filters, told := r.filters[pkg]
	slices.Sort(filters)
	switch how := r.Ended[page.Test{Package: pkg}]; {
	case test.Test == "":
		return "the record names no test", false
	case test.OfProgram():
		return test.Test + " is run by traceforge exec", false
	case !r.sources.of(pkg).known:
		return pkg + " is not in this module", false
	case gone != "":
		return gone, true
	case gotest.Kind(top) == "":
		return top + " is no test function, so whether it is still a test is not known", false
	case how == "" && !r.all:
		return pkg + " did not run, or its go test -json is not with the receipts", false
	case how == "":
		return pkg + " did not run", false
	case how != "pass" || slices.Contains(r.cut, pkg):
		return pkg + " failed", false
	case len(filters) > 0:
		return "only some tests of " + pkg + " ran: " + strings.Join(slices.Compact(filters), " "), false
	case !told && !r.all:
		return "no test of " + pkg + " left a receipt, so whether all ran is not known", false
	}
	return r.judgeTest(test)
}

// judgeTest judges a record of a test of a package whose tests all ran and passed.
func (r *Run) judgeTest(test page.Test) (reason string, isOrphan bool) {
	at := test
	for r.Ended[at] == "" {
		slash := strings.LastIndexByte(at.Test, '/')
		if slash < 0 {
			return at.Test + " did not run", false // a constraint, or a benchmark
		}
		at.Test = at.Test[:slash]
	}
	switch {
	case r.Ended[at] == "skip":
		return at.Test + " was skipped", false
	case at != test:
		return at.Test + " passed without " + test.Test, true
	case r.passed[at]: // unreachable: a passing test uses all its records
		return at.Test + " did not use it", false
	}
	return at.Test + " passed without this store", true
}
