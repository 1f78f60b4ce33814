package traceforgetest

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/traceforge/traceforge-go/internal/usage"
)

// receipts is the receipt of this process, which all its tests write. A replay that is not asked for one writes
// nothing.
var receipts usage.ReceiptWriter

// receipt says what the test did.
func (r *Recorder) receipt() usage.Receipt {
	left := r.calls.Receipt()
	left.Tags, left.Gone = r.place.tags, r.calls.Gone()
	for _, name := range []string{"run", "skip", "short"} { // which keep tests from running
		f := flag.Lookup("test." + name)
		if f != nil && f.Value.String() != f.DefValue {
			left.Filters = append(left.Filters, r.calls.PlainText("-"+name+"="+f.Value.String()))
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

// mark sets attributes of the test for readers of go test -json: the outcome of its calls, their number, and the
// tokens of their answers. A run that prints no attributes is not asked for them.
func (r *Recorder) mark() {
	defer func() { _ = recover() }() // a framework's testing.TB may have none
	if !testing.Verbose() {
		return
	}
	calls, err := r.calls.Snapshots()
	if err != nil {
		return // a failure tells of it
	}
	tokens := int64(0)
	for i := range calls {
		if used := calls[i].Response.TokensUsed; used != nil {
			tokens += *used
		}
	}
	r.t.Attr("traceforge", r.calls.Became())
	r.t.Attr("traceforge.calls", strconv.Itoa(len(calls)))
	r.t.Attr("traceforge.tokens", strconv.FormatInt(tokens, 10))
}
