package traceforgetest

import "runtime"

// unwinding reports whether the function that a cleanup runs for is being left by a panic or by
// runtime.Goexit. Package testing runs the cleanups before it marks a test that panicked as
// failed, so only the stack tells.
func unwinding() bool {
	var pcs [64]uintptr // testing's own frames are a few
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		frame, more := frames.Next()
		if frame.Function == "runtime.gopanic" || frame.Function == "runtime.Goexit" {
			return true
		}
		if !more {
			return false
		}
	}
}
