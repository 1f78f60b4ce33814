// Package fault has what can go wrong with a recorded answer, for [traceforgetest.Recorder.Fault]: tests of retries and recovery need no
// provider that fails.
package fault

import (
	"time"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A Fault is what goes wrong with a recorded answer. The zero value does nothing.
type Fault = traceforgetest.Fault

// Status answers with a status from 400 to 599, such as 429, in the shape of the provider's errors, with a
// Retry-After in whole seconds.
func Status(status int, retryAfter time.Duration) Fault { return recorder.Status(status, retryAfter) }

// Disconnect ends the call without an answer, with an error of the transport that wraps err. Such errors are
// [syscall.ECONNRESET], [io.ErrUnexpectedEOF], and [os.ErrDeadlineExceeded], which is a timeout.
func Disconnect(err error) Fault { return recorder.Disconnect(err) }

// Delay lets the answer wait for so long.
func Delay(d time.Duration) Fault { return recorder.Delay(d) }

// Stall lets a stream wait behind an event, or behind the head with 0.
func Stall(event int, d time.Duration) Fault { return recorder.Stall(event, d) }

// CutAfter breaks the connection behind an event of a stream, or behind the head with 0: the program reads
// [io.ErrUnexpectedEOF].
func CutAfter(event int) Fault { return recorder.CutAfter(event) }

// EndAfter ends a stream behind an event, or behind the head with 0, as if it were whole.
func EndAfter(event int) Fault { return recorder.EndAfter(event) }

// Drop leaves an event of a stream out.
func Drop(event int) Fault { return recorder.Drop(event) }

// Repeat sends an event of a stream twice.
func Repeat(event int) Fault { return recorder.Repeat(event) }

// Split ends a read inside each character of more than one byte, as networks do.
func Split() Fault { return recorder.Split() }
