//go:build !plan9

package recorder

import "syscall"

// The system's errors of a connection.
const (
	errRefused = syscall.ECONNREFUSED
	errReset   = syscall.ECONNRESET
	errPipe    = syscall.EPIPE
)
