package coverage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
)

// A verdict says whether a record that no test used may be needed all the same.
type verdict struct {
	orphaned bool
	reason   string
}

func orphaned(format string, args ...any) verdict { return verdict{true, fmt.Sprintf(format, args...)} }
func unplayed(format string, args ...any) verdict {
	return verdict{false, fmt.Sprintf(format, args...)}
}

// judge says why no record of a test was used. They are orphans only where the test is not in the code, or where it
// is proven that it passed without them: not where anything kept the test from running as it always does. Nothing is
// proven of a test that a framework runs under a name of its own.
func (r *Run) judge(test page.Test) verdict {
	pkg := test.Package
	top, _, _ := strings.Cut(test.Test, "/")
	gone := r.sources.Gone(pkg, test.Test)
	filters, told := r.filters[pkg]
	slices.Sort(filters)
	switch how := r.Ended[page.Test{Package: pkg}]; {
	case test.Test == "":
		return unplayed("the record names no test")
	case test.OfProgram():
		return unplayed("%s is run by traceforge exec", test.Test)
	case !r.sources.of(pkg).known:
		return unplayed("%s is not in this module", pkg)
	case gone != "":
		return orphaned("%s", gone)
	case gotest.Kind(top) == "":
		return unplayed("%s is no test function, so whether it is still a test is not known", top)
	case how == "" && !r.all:
		return unplayed("%s did not run, or its go test -json is not with the receipts", pkg)
	case how == "":
		return unplayed("%s did not run", pkg)
	case how != "pass" || slices.Contains(r.cut, pkg):
		return unplayed("%s failed", pkg)
	case len(filters) > 0:
		return unplayed("only some tests of %s ran: %s", pkg, strings.Join(slices.Compact(filters), " "))
	case !told && !r.all:
		return unplayed("no test of %s left a receipt, so whether all ran is not known", pkg)
	}
	return r.judgeTest(test)
}

// judgeTest judges a record of a test of a package whose tests all ran and passed.
func (r *Run) judgeTest(test page.Test) verdict {
	at := test
	for r.Ended[at] == "" {
		slash := strings.LastIndexByte(at.Test, '/')
		if slash < 0 {
			return unplayed("%s did not run", at.Test) // a constraint, or a benchmark
		}
		at.Test = at.Test[:slash]
	}
	switch {
	case r.Ended[at] == "skip":
		return unplayed("%s was skipped", at.Test)
	case at != test:
		return orphaned("%s passed without %s", at.Test, test.Test)
	case r.passed[at]: // unreachable: a passing test uses all its records
		return unplayed("%s did not use it", at.Test)
	}
	return orphaned("%s passed without this store", at.Test)
}
