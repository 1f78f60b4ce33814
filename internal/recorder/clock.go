package recorder

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Now returns the present time as the test's document has it. A test without one gets the real time, which is then
// stored in its document.
func (r *Recorder) Now() (time.Time, error) {
	r.run.mu.Lock()
	defer r.run.mu.Unlock()
	if !r.run.now.IsZero() {
		return r.run.now, nil
	}
	doc, err := r.run.store.Load(r.run.name, toolProvider) // the document may be of another provider
	if err != nil && !errors.Is(err, fs.ErrNotExist) && (!errors.Is(err, snapshot.ErrVersion) || r.run.Mode == Replay) {
		return time.Time{}, r.run.asFailure(err)
	}
	var stored time.Time
	if doc != nil && len(doc.Document.Snapshots) > 0 && r.run.Mode != UpdateAll {
		stored = doc.Document.Snapshots[0].Source.Now
	}
	if doc != nil && stored.IsZero() && !modes[r.run.Mode].writes {
		return time.Time{}, failuref(r.run.Shown+"/"+doc.File()+" has no time, which "+r.run.tested()+" asks for by Now",
			"store one: "+r.run.Accept+" (no call is made for it)")
	}
	if r.run.now = stored; stored.IsZero() {
		r.run.now = clock().UTC().Truncate(time.Millisecond)
	}
	return r.run.now, nil
}

// date gives the test's first record the time that the test was told. A test that did not ask for the time keeps the
// one of its former first record.
func (r *revision) date(records []snapshot.Snapshot, before *tape) {
	now := r.run.now
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

// clock is the only source of the present time.
var clock = time.Now

// processStart is the start of the process by the real clock. The clock of a testing/synctest bubble starts in 2000.
var processStart = time.Now()

// dated returns the real time for a time of clock: inside a bubble it is the start of the process.
func dated(t time.Time) time.Time {
	if t.Before(processStart) {
		return processStart
	}
	return t
}

// An arrival says how many bytes of an answer had come, and how long after its request.
type arrival struct {
	bytes int
	after time.Duration
}

// timing returns when each event of a stream was complete, in milliseconds, or nil if the answer is no stream. Events
// that were compressed are timed by their share of the bytes.
func timing(answer *provider.Answer, arrivals []arrival) []int64 {
	events := answer.Events()
	if events == nil || len(arrivals) == 0 {
		return nil
	}
	received := arrivals[len(arrivals)-1].bytes
	var times []int64
	end := 0
	for {
		event, err := events.Next()
		if err != nil {
			return times
		}
		end += len(event.Raw)
		wanted := int(float64(end) / float64(len(answer.Body)) * float64(received))
		for len(arrivals) > 1 && arrivals[0].bytes < wanted {
			arrivals = arrivals[1:]
		}
		times = append(times, arrivals[0].after.Milliseconds())
	}
}

// pace returns a function that waits for the time of each event of a stream that begins now.
func pace(times []int64) func(context.Context) error {
	start := clock()
	return func(ctx context.Context) error {
		if len(times) == 0 {
			return nil
		}
		due := start.Add(time.Duration(times[0]) * time.Millisecond)
		times = times[1:]
		if !pause(ctx, due.Sub(clock())) {
			return ctx.Err()
		}
		return nil
	}
}
