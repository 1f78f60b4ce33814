package recorder

import "syscall"

// The system's errors for a connection. In Plan 9 they are texts. A reset is reported as refused there, so it has an
// error of its own only here.
const (
	errRefused = syscall.ErrorString("connection refused")
	errReset   = syscall.ErrorString("connection reset")
	errPipe    = syscall.ErrorString("i/o on hungup channel")
)
