// Package fault makes the faults that [traceforgetest.Recorder.Fault] injects into recorded answers, so that tests of
// retries and recovery need no failing provider.
package fault

import (
	"time"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A Fault is something that goes wrong with a recorded answer. The zero value does nothing.
type Fault = traceforgetest.Fault

// Status answers with a status from 400 to 599, such as 429, in the provider's error format, with a Retry-After in
// whole seconds.
func Status(status int, retryAfter time.Duration) Fault { return recorder.Status(status, retryAfter) }

// Disconnect ends the call without an answer, with a transport error that wraps err. Useful errors are
// [syscall.ECONNRESET], [io.ErrUnexpectedEOF], and [os.ErrDeadlineExceeded] for a timeout.
func Disconnect(err error) Fault { return recorder.Disconnect(err) }

// Delay delays the answer by d.
func Delay(d time.Duration) Fault { return recorder.Delay(d) }

// Stall pauses a stream for d after an event; 0 means after the headers.
func Stall(event int, d time.Duration) Fault { return recorder.Stall(event, d) }

// CutAfter breaks the connection after an event of a stream; 0 means after the headers. The program reads
// [io.ErrUnexpectedEOF].
func CutAfter(event int) Fault { return recorder.CutAfter(event) }

// EndAfter ends a stream after an event as if it were complete; 0 means after the headers.
func EndAfter(event int) Fault { return recorder.EndAfter(event) }

// Drop leaves out an event of a stream.
func Drop(event int) Fault { return recorder.Drop(event) }

// Repeat sends an event of a stream twice.
func Repeat(event int) Fault { return recorder.Repeat(event) }

// Split ends a read inside each multi-byte character, as networks may do.
func Split() Fault { return recorder.Split() }
