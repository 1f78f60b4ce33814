package recorder

import "syscall"

// The system's errors of a connection, which are texts in Plan 9. A reset is refused there too, so it has
// one of its own only here.
const (
	errRefused = syscall.ErrorString("connection refused")
	errReset   = syscall.ErrorString("connection reset")
	errPipe    = syscall.ErrorString("i/o on hungup channel")
)
