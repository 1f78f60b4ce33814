package traceforgetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/traceforge/traceforge-go/internal/receipt"
)

// receipts is the receipt of this process, which all its tests write.
var receipts receipt.Writer

// leaveReceipt adds what the test used to the receipt, where the run asks for one. A replay that
// is not asked writes nothing.
func (r *Recorder) leaveReceipt() error {
	dir := os.Getenv(receipt.Env)
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.place.root, dir)
	}
	left, err := r.receipt()
	if err == nil {
		err = receipts.Add(dir, left)
	}
	if err != nil {
		return fmt.Errorf("leaving a receipt in %s: %w", dir, err)
	}
	return nil
}

func (r *Recorder) receipt() (receipt.Test, error) {
	left := receipt.Test{
		Package: r.place.pkg,
		Test:    r.t.Name(),
		Outcome: "pass",
		Mode:    [...]string{replay: "replay", update: "update", updateNew: "new"}[r.mode],
		Store:   r.shown,
		Filters: filters(),
		Tags:    r.place.tags,
	}
	switch {
	case r.t.Failed():
		left.Outcome = "fail"
	case r.t.Skipped():
		left.Outcome = "skip"
	}
	for _, a := range r.answered {
		if a.take == nil {
			left.Played = append(left.Played, r.tape.entries[a.record].ID)
		}
	}
	now, kept := r.tape.entries, map[string]bool{}
	if r.mode != update || left.Outcome != "pass" {
		for _, e := range now {
			kept[e.ID] = true
		}
	}
	if r.mode != replay {
		var err error
		if now, err = r.store.Test(r.place.pkg, r.t.Name()); err != nil {
			return left, err
		}
	}
	for _, e := range now {
		switch {
		case slices.Contains(left.Played, e.ID):
		case kept[e.ID]:
			left.Unplayed = append(left.Unplayed, e.ID)
		default:
			left.Recorded = append(left.Recorded, e.ID)
		}
	}
	for _, f := range r.failures {
		if f.missing {
			left.Missing++
		}
	}
	return left, nil
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

// uncached keeps go from caching the result of this run, as what the run writes is the point of
// it: TRACEFORGE_UPDATE=1 go test would record once and then say "(cached)". go caches no result
// that it has no log for of what the tests read. Where the log cannot be removed while it is
// open, as on Windows, -count=1 does the same.
func uncached() {
	if log := flag.Lookup("test.testlogfile"); log != nil && log.Value.String() != "" {
		os.Remove(log.Value.String())
	}
}
