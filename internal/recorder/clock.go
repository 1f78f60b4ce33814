package recorder

import (
	"errors"
	"io/fs"
	"time"

	"github.com/traceforge/traceforge-go/snapshot"
)

// Now returns the time that the test's document has as the present one, else this one, which is stored with it.
func (r *Recorder) Now() (time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.now.IsZero() {
		return r.now, nil
	}
	doc, err := r.store.Load(r.name, toolProvider) // or another's
	if err != nil && !errors.Is(err, fs.ErrNotExist) && (!errors.Is(err, snapshot.ErrVersion) || r.Mode == Replay) {
		return time.Time{}, r.asFailure(err)
	}
	var stored time.Time
	if doc != nil && len(doc.Document.Snapshots) > 0 && r.Mode != UpdateAll {
		stored = doc.Document.Snapshots[0].Source.Now
	}
	if doc != nil && stored.IsZero() && !modes[r.Mode].writes {
		return time.Time{}, failuref(r.Shown+"/"+doc.File()+" has no time, which "+r.tested()+" asks for by Now",
			"store one: "+r.Accept+" (no call is made for it)")
	}
	if r.now = stored; stored.IsZero() {
		r.now = clock().UTC().Truncate(time.Millisecond)
	}
	return r.now, nil
}

// date gives the first of a test's records the time that the test was told. A test that was not told any keeps the
// time of the former first record.
func (r *revision) date(records []snapshot.Snapshot, before *tape) {
	now := r.now
	if now.IsZero() && len(before.records) > 0 {
		now = before.records[0].Source.Now
	}
	for i := range records {
		records[i].Source.Now = time.Time{}
	}
	if len(records) > 0 {
		records[0].Source.Now = now
	}
}
