package traceforgetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// receipts is the receipt of this process, which all its tests write.
var receipts usage.ReceiptWriter

// leaveReceipt adds what the test used to the receipt, where the run asks for one. A replay that
// is not asked writes nothing.
func (r *Recorder) leaveReceipt() error {
	dir := os.Getenv(usage.ReceiptEnv)
	if dir == "" {
		return nil
	}
	if name, ok := strings.CutPrefix(dir, "$"); ok { // as in Bazel, where a directory has its name only in the test
		if dir = os.Getenv(name); dir == "" {
			return fmt.Errorf("leaving a receipt: %s is $%s, which is not set", usage.ReceiptEnv, name)
		}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.place.root, dir)
	}
	if err := receipts.Add(dir, r.receipt()); err != nil {
		return fmt.Errorf("leaving a receipt in %s: %w", dir, err)
	}
	return nil
}

func (r *Recorder) receipt() usage.Receipt {
	left := r.calls.Receipt()
	left.Tags, left.Gone = r.place.tags, r.calls.Gone()
	for _, name := range []string{"run", "skip", "short"} { // which keep tests from running
		f := flag.Lookup("test." + name)
		if f != nil && f.Value.String() != f.DefValue {
			left.Filters = append(left.Filters, r.calls.Plain("-"+name+"="+f.Value.String()))
		}
	}
	switch {
	case r.t.Failed():
		left.Outcome = "fail"
	case r.t.Skipped():
		left.Outcome = "skip"
	}
	return left
}

// uncached keeps go from caching the result of this run, whose point is what it writes. TRACEFORGE_UPDATE=1 go test
// would record once and then say "(cached)". go caches no result that it has no log for of what the tests read. Where
// the log cannot be removed while it is open, as on Windows, -count=1 does the same.
func uncached() {
	if log := flagText("test.testlogfile"); log != "" {
		os.Remove(log)
	}
}
