package recorder

import (
	"context"
	"time"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// clock is where time enters.
var clock = time.Now

// began is when the process did, of which a bubble of testing/synctest knows nothing: its clock starts in 2000.
var began = time.Now()

// dated returns the time of the world for one of clock: where that is a bubble's, the start of the process.
func dated(t time.Time) time.Time {
	if t.Before(began) {
		return began
	}
	return t
}

// An arrival says that so many bytes of an answer had come so long after its request.
type arrival struct {
	bytes int
	after time.Duration
}

// timing returns when each event of a stream was complete, in milliseconds; nil for an answer
// that is none. Events that were compressed are timed by their share of the bytes.
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

// pace returns what waits for the time of each event of a stream that begins now.
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
