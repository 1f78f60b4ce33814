package traceforgetest

import (
	"os"
	"time"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// readCheck reads how the run checks, where it does.
func (r *Recorder) readCheck() (err error) {
	if r.opts.Mode != recorder.Check {
		return nil
	}
	if t, ok := r.t.(interface{ Deadline() (time.Time, bool) }); ok {
		r.opts.Deadline, _ = t.Deadline()
	}
	if r.opts.Upstream == nil { // another one may need no key
		r.opts.Placeholder = placeholder
	}
	r.opts.Checking, err = usage.ParseCheckOptions(os.Getenv(usage.CheckEnv))
	return err
}
