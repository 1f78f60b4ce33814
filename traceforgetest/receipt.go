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
	used := r.calls.Used()
	left := usage.Receipt{
		Package:  r.opts.Package,
		Test:     r.calls.Plain(r.opts.Test), // a subtest may be named after a secret
		Outcome:  "pass",
		Mode:     r.opts.Mode.String(),
		Store:    r.opts.Shown,
		Filters:  filters(),
		Tags:     r.place.tags,
		Document: used.Document,
		Played:   used.Played,
		Recorded: used.Recorded,
		Unplayed: used.Unplayed,
		Faults:   r.calls.Faults(),
		Missing:  used.Missing,
		Drifts:   r.calls.Drifts(),
		Update:   r.calls.Updated(),
		Checks:   r.calls.Checks(),
		Live:     r.calls.Live(),
		Gone:     r.calls.Gone(),
		Sent:     used.Sent,
	}
	for i := range left.Filters {
		left.Filters[i] = r.calls.Plain(left.Filters[i])
	}
	switch {
	case r.t.Failed():
		left.Outcome = "fail"
	case r.t.Skipped():
		left.Outcome = "skip"
	}
	return left
}

// filters returns the flags of the run that keep tests from running.
func filters() []string {
	var given []string
	for _, name := range []string{"run", "skip", "short"} {
		f := flag.Lookup("test." + name)
		if f != nil && f.Value.String() != f.DefValue {
			given = append(given, "-"+name+"="+f.Value.String())
		}
	}
	return given
}

// uncached keeps go from caching the result of this run, whose point is what it writes. TRACEFORGE_UPDATE=1 go test
// would record once and then say "(cached)". go caches no result that it has no log for of what the tests read. Where
// the log cannot be removed while it is open, as on Windows, -count=1 does the same.
func uncached() {
	if log := flagText("test.testlogfile"); log != "" {
		os.Remove(log)
	}
}
