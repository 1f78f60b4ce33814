package traceforgetest

import (
	"time"

	"github.com/traceforge/traceforge-go/internal/recorder"
)

// A Fault is what goes wrong with a recorded answer: see [Recorder.Fault]. The zero value does nothing.
type Fault struct{ of recorder.Fault }

// Fault has a fault injected where the run replays, so that retries and recovery are tested without a provider that
// fails. call is the number of the recorded call in the test's document. A fault is used once: the faults of one call
// are those of its tries, in their order, and the try behind them gets the recording whole; nothing has to try
// again. Where a program gives up on the call, the recorded calls behind it need not be made; what it does instead is
// not recorded, and fails the test. Events of a stream are counted from 1, those that carry data.
//
// Nothing of a fault is stored, and the recorded answer is held against its record as ever. A fault that meets no
// call, or an answer that it cannot be injected into, fails the test.
//
// It reports whether the run injects faults. While recording and in a check it injects none, and the test's log says
// so, since the answers are the provider's own: what a test asserts of a fault it asserts where this is true.
func (r *Recorder) Fault(call int, f Fault) bool { return r.calls.Inject(call, f.of) }

// Status answers with a status from 400 to 599, such as 429 or 529, in the shape of the provider's errors, and with
// a Retry-After in whole seconds.
func Status(status int, retryAfter time.Duration) Fault {
	return Fault{recorder.Status(status, retryAfter)}
}

// Disconnect ends the call before an answer came, with an error of the transport that wraps err, such as
// [syscall.ECONNRESET], [io.ErrUnexpectedEOF], or [os.ErrDeadlineExceeded], which is a timeout.
func Disconnect(err error) Fault { return Fault{recorder.Disconnect(err)} }

// Delay lets the answer wait for so long.
func Delay(d time.Duration) Fault { return Fault{recorder.Delay(d)} }

// Stall lets a stream wait behind an event, or behind the head with 0.
func Stall(event int, d time.Duration) Fault { return Fault{recorder.Stall(event, d)} }

// CutAfter breaks the connection behind an event of a stream, or behind the head with 0: the program reads
// [io.ErrUnexpectedEOF].
func CutAfter(event int) Fault { return Fault{recorder.CutAfter(event)} }

// EndAfter ends a stream behind an event, or behind the head with 0, as if it were whole.
func EndAfter(event int) Fault { return Fault{recorder.EndAfter(event)} }

// Drop leaves an event of a stream out.
func Drop(event int) Fault { return Fault{recorder.Drop(event)} }

// Repeat sends an event of a stream twice.
func Repeat(event int) Fault { return Fault{recorder.Repeat(event)} }

// Split ends a read inside each character of more than one byte, as networks do.
func Split() Fault { return Fault{recorder.Split()} }
