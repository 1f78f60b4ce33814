package traceforgetest

// unwinding reports whether the function that a cleanup runs for is being left by a panic or by
// runtime.Goexit. Package testing runs the cleanups before it marks a test that panicked as
// failed, so only the stack tells.
func unwinding() bool {
	for frame := range callers().frames() {
		if frame.Function == "runtime.gopanic" || frame.Function == "runtime.Goexit" {
			return true
		}
	}
	return false
}
