package traceforgetest

import "github.com/traceforge/traceforge-go/internal/recorder"

// A Fault is something that goes wrong with a recorded answer: see [Recorder.Fault]. Package traceforgetest/fault makes
// them.
type Fault = recorder.Fault

// Fault injects a fault in replay, to test retries and recovery without a failing provider. call is the number of the
// recorded call in the test's document. Each fault is used once: several faults for one call apply to its attempts in
// order, and the next attempt gets the complete recording. No attempt is required after a fault. If the program gives
// up on the call, the recorded calls after it need not be made; calls that it makes instead have no recording, and
// fail the test. Events of a stream are counted from 1, and only events that carry data count.
//
// Faults are not stored, and the recorded answer is still proved against its record. A fault fails the test if its
// call is not made, or if it cannot be injected into the answer.
//
// Fault reports whether the run injects faults. While recording and in a check none are injected, because the answers
// come from the provider, and the test's log says so. Assert the effect of a fault only if Fault returned true.
func (r *Recorder) Fault(call int, f Fault) bool { return r.calls.Inject(call, f) }
