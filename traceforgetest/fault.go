package traceforgetest

import "github.com/traceforge/traceforge-go/internal/recorder"

// A Fault is what goes wrong with a recorded answer: see [Recorder.Fault]. Package traceforgetest/fault makes them.
type Fault = recorder.Fault

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
// so, since the answers are the provider's own. So a test asserts the effect of a fault only where Fault returns
// true.
func (r *Recorder) Fault(call int, f Fault) bool { return r.calls.Inject(call, f) }
